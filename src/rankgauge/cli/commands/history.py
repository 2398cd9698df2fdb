"""``rankgauge history``: list, show, tag, export, import and prune; ``trends`` has the other commands."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option, option_group
from rankgauge.cli.options.evaluation_settings import measure_option
from rankgauge.cli.options.outputs import HISTORY, View, format_option
from rankgauge.cli.printing import layout, print_message, write, write_document
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import UsageError, printable
from rankgauge.history.entries import EntryFilter
from rankgauge.history.store import History, PruneRule
from rankgauge.io.atomic_files import write_atomically
from rankgauge.render.documents.history import Listing, entry_document, listing_document
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
@format_option("table", "json")
@HISTORY
def history_list_command(
    last: int, measures: tuple[str, ...], filter: EntryFilter, format: str, history_file: str | None
) -> None:
    """List the entries of the history, the newest first."""
    with History.open(history_file, create=False) as history:
        entries = [*reversed(history.entries(filter, last=last or None))]
        count = history.count(filter)
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
def history_show_command(name: str, per_query: bool, format: str, history_file: str | None) -> None:
    """Show one entry: its values and what they were made from.

    ENTRY is a name, "latest" (the default), or a tag, which means the newest entry that has it.
    """
    with History.open(history_file, create=False) as history:
        summary = history.summary(name)
        scores = history.entry(summary.name).scores if per_query else None
    write_document(entry_document(summary, scores), format)


@documented(
    "tag",
    """
    # Tag the newest result
    rankgauge history tag latest release-2
    # Remove a tag
    rankgauge history tag latest release-2 --remove
    """,
)
@click.argument("name", metavar="ENTRY")
@click.argument("tags", metavar="TAG …", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Remove the tags instead.")
@HISTORY
def history_tag_command(name: str, tags: tuple[str, ...], remove: bool, history_file: str | None) -> None:
    """Add tags to an entry, or remove them.

    ENTRY is a name, "latest", or a tag. An entry with a tag is not pruned.
    """
    with History.open(history_file, create=False) as history:
        entry = history.tag(name, *tags, remove=remove)
    print_message(f"{entry.name}: {', '.join(entry.tags) or 'no tags'}")


EXPORT_FOLDER = "history"


@documented(
    "export",
    """
    # Write all results, to commit or exchange them
    rankgauge history export -o history
    # Write the newest values for Prometheus
    rankgauge history export --openmetrics -o rankgauge.prom
    """,
)
@click.argument("names", metavar="[ENTRY …]", nargs=-1)
@click.option(
    "-o",
    "--out",
    type=click.Path(),
    metavar="PATH",
    help=f"Write to the folder PATH, or OpenMetrics to the file PATH.  [default: the folder {EXPORT_FOLDER}, or "
    "standard output]",
)
@click.option(
    "--openmetrics",
    is_flag=True,
    help="Write the newest values and intervals of each collection, system and branch for Prometheus.",
)
@HISTORY
def history_export_command(
    names: tuple[str, ...], out: str | None, openmetrics: bool, history_file: str | None
) -> None:
    """Write entries as JSON Lines, one file for each, and each version of the judgments once.

    The same entry gives the same bytes everywhere, so that a folder can be committed and branches merge without
    conflicts. Without names, all entries are written.
    """
    if openmetrics:
        if names:
            raise UsageError("--openmetrics writes the newest entries, and takes no names")
        write_openmetrics(out, history_file)
        return
    folder = out or EXPORT_FOLDER
    with History.open(history_file, create=False) as history:
        files = history.export(folder, names)
    count = plural(len(files), "entry")
    print_message(f"exported {count} to {printable(folder, None)}")


def write_openmetrics(out: str | None, history_file: str | None) -> None:
    """Write the newest values to a file, which is never seen half-written, or to standard output."""
    with History.open(history_file, create=False) as history:
        text = openmetrics(history.latest())
    if out is None:
        write(text)
        return
    with write_atomically(out) as file:
        file.write(text.encode())


@documented(
    "import",
    """
    # Read what another machine exported
    rankgauge history import history
    # Read it into a file of its own
    rankgauge history import history --history other.db
    """,
)
@click.argument("paths", type=click.Path(), nargs=-1, required=True, metavar="PATH …")
@HISTORY
def history_import_command(paths: tuple[str, ...], history_file: str | None) -> None:
    """Read exported entries into the history.

    Each PATH is a file that `history export` wrote, or a folder of them. Entries that the history has already are left
    as they are, so that an import can be repeated.
    """
    with History.open(history_file) as history:
        result = history.import_entries(*paths)
    known = f", {len(result.known):,} known already" if result.known else ""
    print_message(f"imported {plural(len(result.added), 'entry')}{known}")


@documented(
    "prune",
    """
    # Show what would be deleted, keeping 100 results per system
    rankgauge history prune --keep 100 --dry-run
    # Delete stored runs that are older than 90 days, and keep the values
    rankgauge history prune --before 90d --runs-only
    """,
)
@click.argument("names", metavar="[ENTRY …]", nargs=-1)
@option_group("rule", dict, *declared_options(PruneRule))
@option_group("filter", EntryFilter, *declared_options(EntryFilter))
@option("--dry-run", section=Section.OUTPUT, is_flag=True, help="Only list what would be deleted.")
@HISTORY
def history_prune_command(
    names: tuple[str, ...],
    rule: dict[str, Any],
    filter: EntryFilter,
    dry_run: bool,
    history_file: str | None,
) -> None:
    """Delete old entries, and judgments that no entry needs any more.

    With --keep and --before, entries are deleted that both select. Entries that are named are deleted in any case;
    others that have a tag stay.
    """
    chosen = PruneRule(names=names, filter=filter, **rule)
    with History.open(history_file, create=False) as history:
        entries = history.prune(chosen, dry_run=dry_run)
    write("".join(f"{entry.name}\n" for entry in entries))
    verb = "would be deleted" if dry_run else "deleted"
    what = "run" if chosen.runs_only else "entry"
    print_message(f"{plural(len(entries), what)} {verb}")
