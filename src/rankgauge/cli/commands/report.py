"""``rankgauge report``."""

from __future__ import annotations

import click

from rankgauge.cli.group import LazyGroup

REPORT_COMMANDS = {
    "html": "Write the HTML report of a benchmark, or the page of a history.",
    "verify": "Recompute every number in the folder of a benchmark.",
}


@click.group("report", cls=LazyGroup, tasks={"Commands": REPORT_COMMANDS}, prefix="report_")
def command() -> None:
    """Write a report or a history as HTML, or verify a benchmark."""
