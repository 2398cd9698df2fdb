"""``rankgauge report``."""

from __future__ import annotations

import click

from rankgauge.cli.lazy import LazyGroup

REPORT_COMMANDS = {
    "html": "Write the HTML report of a benchmark.",
    "verify": "Recompute every number in the folder of a benchmark.",
}


@click.group("report", cls=LazyGroup, lazy=REPORT_COMMANDS, prefix="report_")
def command() -> None:
    """Write the HTML report of a benchmark, or verify its folder."""
