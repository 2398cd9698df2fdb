"""``rankgauge history prune``."""

from __future__ import annotations

import click

from rankgauge.cli.messages import print_message
from rankgauge.cli.options.groups import option_group
from rankgauge.cli.options.history import filter_options
from rankgauge.cli.options.saving import HISTORY
from rankgauge.cli.options.terminal import write
from rankgauge.core.formatting import plural
from rankgauge.history.filters import EntryFilter
from rankgauge.history.pruning import PruneRule
from rankgauge.history.store import History
from rankgauge.history.times import parse_time, time_text


@click.command("prune")
@click.argument("names", metavar="[ENTRY …]", nargs=-1)
@option_group(
    "rule",
    dict,
    click.option(
        "--keep",
        type=click.IntRange(min=0),
        metavar="N",
        help="Keep the newest N entries of each system, collection and branch.",
    ),
    click.option("--before", metavar="TIME", help="Delete only entries before TIME: 2026-01-01, or 90d."),
    click.option("--tagged", is_flag=True, help="Delete entries with a tag too."),
    click.option("--runs-only", is_flag=True, help="Delete only the stored runs, and keep the values."),
)
@filter_options
@click.option("--dry-run", is_flag=True, help="Only list what would be deleted.")
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
