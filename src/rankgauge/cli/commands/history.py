"""``rankgauge history``: list, show, trend and check."""

from __future__ import annotations

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import (
    declared_options,
    flag_of,
    option,
    option_group,
    option_names,
    option_names_given,
)
from rankgauge.cli.options.evaluation_settings import measure_option
from rankgauge.cli.options.outputs import HISTORY, View, format_option, write_html
from rankgauge.cli.printing import layout, print_message, print_warnings, write, write_document
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.core.verdicts import exit_code
from rankgauge.errors import Note, UsageError, printable
from rankgauge.history.entries import EntryFilter
from rankgauge.history.entry_files import read_entry
from rankgauge.history.folder import History
from rankgauge.history.quality_checks import CheckOptions
from rankgauge.history.trends import TrendOptions
from rankgauge.io.atomic_files import check_writable
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.documents.history import (
    Listing,
    changes_document,
    entry_document,
    listing_document,
    trend_document,
)
from rankgauge.render.formats.openmetrics import openmetrics

SHOWN_ENTRIES = 20


@documented(
    "list",
    """
    # List the last 5 results
    rankgauge history list -n 5
    # List those of one system, by one measure
    rankgauge history list --system my -m nDCG@10
    """,
)
@option(
    "-n",
    "--last",
    section=Section.ENTRIES,
    type=click.IntRange(min=0),
    default=SHOWN_ENTRIES,
    show_default=True,
    metavar="N",
    help="List the newest N entries; 0 lists all.",
)
@measure_option("Show a measure; repeatable.  [default: those of the newest entry, as many as fit]")
@option_group("filter", EntryFilter, *declared_options(EntryFilter))
@format_option("table", "json", "openmetrics")
@HISTORY
def history_list_command(
    last: int, measures: tuple[str, ...], filter: EntryFilter, format: str, folder: str | None
) -> None:
    """List the entries of the history, the newest first.

    --format openmetrics has the newest values of each collection, system and branch for Prometheus.
    """
    history = History.open(folder, create=False)
    if format == "openmetrics":
        write(openmetrics(history.latest(filter)))
        return
    every = history.entries(filter)
    entries, count = [*reversed(every[-last:] if last else every)], len(every)
    fit = layout()
    room = None if fit.width is None else fit.chart_width
    write_document(listing_document(Listing(entries, count, measures, room)), format)


@documented(
    "show",
    """
    # Show the newest result
    rankgauge history show
    # Show every query of it, as JSON
    rankgauge history show -q --format json
    """,
)
@click.argument("name", metavar="[ENTRY]", default="latest")
@declared_options(View, "per_query")[0]
@format_option("table", "json")
@HISTORY
def history_show_command(name: str, per_query: bool, format: str, folder: str | None) -> None:
    """Show one entry: its values and what they were made from.

    ENTRY is a name or a part of one, or "latest" (the default).
    """
    history = History.open(folder, create=False)
    summary = history.summary(name)
    scores = read_entry(summary).scores if per_query else None
    write_document(entry_document(summary, scores), format)


@documented(
    "trend",
    """
    # Show nDCG@10 over time
    rankgauge history trend -m nDCG@10
    # Show the last 20 results of one system
    rankgauge history trend --system my -n 20
    # Write a page with the trends of all systems
    rankgauge history trend --html history.html
    """,
)
@option(
    "-m",
    "--measure",
    section=Section.MEASURES,
    default=DEFAULT_MEASURES[0],
    show_default=True,
    metavar="NAME",
    help="Show this measure.",
)
@option_group("options", TrendOptions, *declared_options(TrendOptions))
@option_group("filter", EntryFilter, *declared_options(EntryFilter))
@format_option("table", "json")
@option(
    "--html",
    "page",
    section=Section.OUTPUT,
    type=click.Path(),
    metavar="FILE",
    help="Write a page of all these entries to FILE instead, with every system, collection and measure.",
)
@HISTORY
def history_trend_command(
    measure: str, options: TrendOptions, filter: EntryFilter, format: str, page: str | None, folder: str | None
) -> None:
    """Show a measure over time, with intervals and change points.

    The entries must be of one system and one collection: choose them with --system, --collection and --branch. Change
    points are tested on the queries that entries share, with the same labels. Beside the values is what else changed:
    queries added and removed, how much of the top 10 is judged, and latency.

    The page of --html has the latest results of each collection, trends, and a list of all entries.
    """
    if page is not None:
        _write_page(folder, filter, page)
        return
    write_document(trend_document(History.open(folder, create=False).trend(measure, filter, options)), format)


def _write_page(folder: str | None, filter: EntryFilter, page: str) -> None:
    """Write the page of the entries that are chosen, with all their measures."""
    unused = next((name for name in option_names_given() if name not in PAGE_OPTIONS), None)
    if unused is not None:
        raise UsageError(f"{flag_of(unused)} does not change the page of --html", hint=f"leave out {flag_of(unused)}")
    from rankgauge.render.html.history_page import history_page

    history = History.open(folder, create=False)
    check_writable(page)
    write_html(history_page(history, filter), page)
    print_message(f"wrote {printable(page, None)}")


PAGE_OPTIONS = ("page", "folder", *option_names(*declared_options(EntryFilter)))


@documented(
    "check",
    """
    # Report changes of the last week
    rankgauge history check --since 7d
    # Report only what got worse on one branch
    rankgauge history check --branch main --worse-only
    """,
)
@option_group(
    "filter",
    EntryFilter,
    option(
        "--since",
        section=Section.ENTRIES,
        default="7d",
        show_default=True,
        metavar="TIME",
        help="Report changes from TIME on: 2026-11-02, or 7d for the last week.",
    ),
    *declared_options(EntryFilter, "branch", "system", "collection"),
)
@option_group("options", CheckOptions, *declared_options(CheckOptions))
@format_option("table", "json")
@HISTORY
def history_check_command(filter: EntryFilter, options: CheckOptions, format: str, folder: str | None) -> None:
    """Report recent changes of quality: for cron and CI.

    A series is a system on a collection on a branch. Every series with entries since TIME is checked for change points,
    among all of its entries. The exit code is 1 if there is a change, else 0.
    """
    check = History.open(folder, create=False).check(filter, options)
    write_document(changes_document(check), format)
    notes = []
    if not check.series:
        notes.append(Note("no-recent-entries", f"no entries since {filter.since}: are results still being saved?"))
    elif check.untested == check.series:
        text = (
            f"nothing was tested: {plural(check.series, 'series', 'series')} with one entry, or one commit of one day"
        )
        notes.append(Note("single-entries", f"{text}; a series is a system on a collection on a branch: --system NAME"))
    print_warnings(notes)
    click.get_current_context().exit(exit_code("fail" if check.changes else "pass"))
