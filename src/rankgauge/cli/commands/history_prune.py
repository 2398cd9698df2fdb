"""``rankgauge history prune``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.history import filter_options
from rankgauge.cli.options.saving import HISTORY
from rankgauge.cli.options.terminal import write
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.history.filters import EntryFilter
from rankgauge.history.pruning import PruneRule
from rankgauge.history.store import History
from rankgauge.history.times import parse_time, time_text


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
@option_group(
    "rule",
    dict,
    option(
        "--keep",
        section=Section.ENTRIES,
        type=click.IntRange(min=0),
        metavar="N",
        help="Keep the newest N entries of each system, collection and branch.",
    ),
    option(
        "--before", section=Section.ENTRIES, metavar="TIME", help="Delete only entries before TIME: 2026-01-01, or 90d."
    ),
    option("--tagged", section=Section.ENTRIES, is_flag=True, help="Delete entries with a tag too."),
    option(
        "--runs-only", section=Section.OUTPUT, is_flag=True, help="Delete only the stored runs, and keep the values."
    ),
)
@filter_options
@option("--dry-run", section=Section.OUTPUT, is_flag=True, help="Only list what would be deleted.")
@HISTORY
def command(
    names: tuple[str, ...],
    rule: dict[str, object],
    filter: EntryFilter,
    dry_run: bool,
    history_file: str | None,
) -> None:
    """Delete old entries, and judgments that no entry needs any more.

    With --keep and --before, entries are deleted that both select. Entries that are named are deleted in any case;
    others that have a tag stay.
    """
    before = rule.pop("before")
    time = None if before is None else time_text(parse_time(str(before)))
    chosen = PruneRule(names=names, filter=filter, before=time, **rule)  # type: ignore[arg-type]  # options of click
    with History.open(history_file, create=False) as history:
        entries = history.prune(chosen, dry_run=dry_run)
    write("".join(f"{entry.name}\n" for entry in entries))
    verb = "would be deleted" if dry_run else "deleted"
    what = "run" if chosen.runs_only else "entry"
    print_message(f"{plural(len(entries), what)} {verb}")
