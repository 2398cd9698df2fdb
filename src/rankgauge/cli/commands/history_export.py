"""``rankgauge history export``."""

from __future__ import annotations

import click

from rankgauge.cli.options.saving import HISTORY
from rankgauge.core.formatting import plural
from rankgauge.errors import printable
from rankgauge.history.store import History

EXPORT_FOLDER = "history"


@click.command("export")
@click.argument("names", metavar="[ENTRY …]", nargs=-1)
@click.option(
    "-o",
    "--out",
    type=click.Path(),
    default=EXPORT_FOLDER,
    show_default=True,
    metavar="DIR",
    help="Write the files to DIR.",
)
@HISTORY
def command(names: tuple[str, ...], out: str, history_file: str | None) -> None:
    """Write entries as JSON Lines, one file for each, and each version of the judgments once.

    The same entry gives the same bytes everywhere, so that a folder can be committed and branches merge without
    conflicts. Without names, all entries are written.
    """
    with History.open(history_file, create=False) as history:
        files = history.export(out, names)
    count = plural(len(files), "entry")
    click.echo(f"exported {count} to {printable(out, None)}", err=True)
