"""``rankgauge history tag``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.saving import HISTORY
from rankgauge.history.store import History


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
def command(name: str, tags: tuple[str, ...], remove: bool, history_file: str | None) -> None:
    """Add tags to an entry, or remove them.

    ENTRY is a name, "latest", or a tag. An entry with a tag is not pruned.
    """
    with History.open(history_file, create=False) as history:
        entry = history.tag(name, *tags, remove=remove)
    print_message(f"{entry.name}: {', '.join(entry.tags) or 'no tags'}")
