"""``rankgauge history show``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.options.history import FORMAT
from rankgauge.cli.options.saving import HISTORY
from rankgauge.cli.options.terminal import write_document
from rankgauge.cli.options.view import PER_QUERY
from rankgauge.history.store import History
from rankgauge.render.documents.history import entry_document


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
@PER_QUERY
@FORMAT
@HISTORY
def command(name: str, per_query: bool, format: str, history_file: str | None) -> None:
    """Show one entry: its values and what they were made from.

    ENTRY is a name, "latest" (the default), or a tag, which means the newest entry that has it.
    """
    with History.open(history_file, create=False) as history:
        summary = history.summary(name)
        scores = history.entry(summary.name).scores if per_query else None
    write_document(entry_document(summary, scores), format)
