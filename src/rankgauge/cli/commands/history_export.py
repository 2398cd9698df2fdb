"""``rankgauge history export``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.saving import HISTORY
from rankgauge.cli.options.terminal import write
from rankgauge.core.formatting import plural
from rankgauge.errors import UsageError, printable
from rankgauge.history.store import History
from rankgauge.io.writing import write_atomically
from rankgauge.render.formats.rows import openmetrics

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
def command(names: tuple[str, ...], out: str | None, openmetrics: bool, history_file: str | None) -> None:
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
