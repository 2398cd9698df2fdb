"""``rankgauge history import``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.saving import HISTORY
from rankgauge.core.formatting import plural
from rankgauge.history.store import History


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
def command(paths: tuple[str, ...], history_file: str | None) -> None:
    """Read exported entries into the history.

    Each PATH is a file that `history export` wrote, or a folder of them. Entries that the history has already are left
    as they are, so that an import can be repeated.
    """
    with History.open(history_file) as history:
        result = history.import_entries(*paths)
    known = f", {len(result.known):,} known already" if result.known else ""
    print_message(f"imported {plural(len(result.added), 'entry')}{known}")
