"""``rankgauge report``."""

from __future__ import annotations

import click

from rankgauge.cli.lazy import LazyGroup

COMMANDS = {
    "html": "Write the page of a benchmark.",
    "verify": "Compute every number of a benchmark's folder again.",
}


@click.group("report", cls=LazyGroup, lazy=COMMANDS, prefix="report_")
def command() -> None:
    """Reports: the page to look at, and whether a folder is as it was written."""
