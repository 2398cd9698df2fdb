"""``rankgauge history trend``, ``check`` and ``compare``: what changed over time."""

from __future__ import annotations

import os
from dataclasses import dataclass

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import (
    RARE_SET,
    declared_options,
    flag_of,
    option,
    option_group,
    option_names,
    option_names_given,
)
from rankgauge.cli.options.evaluation_settings import measure_option, settings_options, statistics_options
from rankgauge.cli.options.outputs import HISTORY, format_option, write_html
from rankgauge.cli.printing import print_message, print_warnings, write_document
from rankgauge.config.settings import Settings
from rankgauge.core.settings import Section
from rankgauge.core.verdicts import exit_code
from rankgauge.errors import Note, UsageError, printable
from rankgauge.history.alert_delivery import WEBHOOK_VARIABLE, checked_webhook, command_words, post_message, run_program
from rankgauge.history.entries import EntryFilter
from rankgauge.history.quality_checks import CheckOptions, QualityChange, alert_message
from rankgauge.history.store import History
from rankgauge.history.trends import TrendOptions
from rankgauge.io.atomic_files import check_writable
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render.documents.history import changes_document, entries_comparison_document, trend_document


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
    measure: str, options: TrendOptions, filter: EntryFilter, format: str, page: str | None, history_file: str | None
) -> None:
    """Show a measure over time, with intervals and change points.

    The entries must be of one system and one collection: choose them with --system, --collection and --branch. Change
    points are tested on the queries that entries share, with the same judgments. Beside the values is what else
    changed: queries added and removed, how much of the top 10 is judged, and latency.

    The page of --html has the latest results of each collection, trends, and a list of all entries.
    """
    if page is not None:
        _write_page(history_file, filter, page)
        return
    with History.open(history_file, create=False) as history:
        trend = history.trend(measure, filter, options)
    write_document(trend_document(trend), format)


def _write_page(history_file: str | None, filter: EntryFilter, page: str) -> None:
    """Write the page of the entries that are chosen, with all their measures."""
    unused = next((name for name in option_names_given() if name not in PAGE_OPTIONS), None)
    if unused is not None:
        raise UsageError(f"{flag_of(unused)} does not change the page of --html", hint=f"leave out {flag_of(unused)}")
    from rankgauge.render.html.history_page import history_page

    with History.open(history_file, create=False) as history:
        check_writable(page, inputs=[history.path])
        write_html(history_page(history, filter), page, inputs=[history.path])
    print_message(f"wrote {printable(page, None)}")


PAGE_OPTIONS = ("page", "history_file", *option_names(*declared_options(EntryFilter)))


@dataclass(frozen=True)
class Delivery:
    """Where a report goes besides standard output."""

    words: list[str] | None  # of a program
    url: str | None
    dry_run: bool

    def send(self, changes: list[QualityChange]) -> None:
        """Send a report, if there is anything to report."""
        if not changes:
            return
        message = alert_message(changes)
        if self.words is not None:
            click.echo(run_program(self.words, message), err=True, nl=False)
        if self.url is not None:
            post_message(self.url, message)


def make_delivery(program: str | None, webhook: str | None, dry_run: bool) -> Delivery:
    """Build a ``Delivery`` from the values of its options and the environment."""
    url = webhook if webhook is not None else os.environ.get(WEBHOOK_VARIABLE) or None
    return Delivery(
        None if program is None else command_words(program), None if url is None else checked_webhook(url), dry_run
    )


@documented(
    "check",
    """
    # Report changes of the last week, each once
    rankgauge history check --since 7d
    # Show them without marking any as reported
    rankgauge history check --since 7d --dry-run
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
    *declared_options(EntryFilter, "branch", "tag", "system", "collection"),
)
@option_group("options", CheckOptions, *declared_options(CheckOptions))
@option_group(
    "delivery",
    make_delivery,
    option(
        "--exec",
        "program",
        section=Section.OUTPUT,
        metavar="CMD",
        help="Run CMD, without a shell, with the new changes as JSON on its standard input.",
    ),
    option(
        "--webhook",
        section=Section.OUTPUT,
        metavar="URL",
        help=f"Post the new changes as JSON to URL.  [default: ${WEBHOOK_VARIABLE}]",
    ),
    option(
        "--dry-run",
        section=Section.OUTPUT,
        is_flag=True,
        help="Show all changes; send nothing, and count none as reported.",
    ),
)
@format_option("table", "json")
@HISTORY
def history_check_command(
    filter: EntryFilter, options: CheckOptions, delivery: Delivery, format: str, history_file: str | None
) -> None:
    """Report recent changes of quality, each once: for cron and CI.

    Every system, collection and branch with entries since TIME is checked for change points, among all of its entries.
    A change that an earlier check reported is not reported again. The exit code is 1 if there is a new change, else 0.
    If --exec or --webhook fails, the next check reports the change again.
    """
    with History.open(history_file, create=False) as history:
        check = history.check(filter, options)

        def show(changes: list[QualityChange]) -> None:
            write_document(changes_document(check, changes), format)

        if delivery.dry_run:
            new = [*check.changes]
            show(new)
        else:
            with history.unreported(check.changes) as new:
                show(new)
                delivery.send(new)
    if not check.series:
        text = f"no entries since {filter.since}: are results still being saved?"
        print_warnings([Note("no-recent-entries", text)])
    click.get_current_context().exit(exit_code("fail" if new else "pass"))


@documented(
    "compare",
    """
    # Compare a tagged result with the newest
    rankgauge history compare release-1
    # Compare two results by one measure
    rankgauge history compare release-1 latest -m nDCG@10
    """,
)
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="[AFTER]", default="latest")
@settings_options(
    RARE_SET,
    measure_option("Compare on a measure; repeatable.  [default: all that both entries have]"),
    *statistics_options(),
)
@format_option("table", "json")
@HISTORY
def history_compare_command(before: str, after: str, settings: Settings, format: str, history_file: str | None) -> None:
    """Compare two entries on the queries they share, although labels may have changed.

    BEFORE and AFTER are names, "latest", or tags. The change of each measure is split into the parts of the system, the
    labels and the queries; only the system's part is tested. That needs the runs (--save-run); otherwise the parts of
    system and labels are reported jointly, and the systems are compared on queries whose judgments did not change.
    """
    with History.open(history_file, create=False) as history:
        older, newer = history.summary(before), history.summary(after)
        compared = history.compare(older.name, newer.name, settings.measures, statistics=settings.statistics)
    write_document(entries_comparison_document(compared, older, newer), format)
    if compared.comparison is not None:
        print_warnings(compared.comparison.notes)
