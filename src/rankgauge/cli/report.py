"""``rankgauge report``."""

from __future__ import annotations

import click

from rankgauge.cli.lazy import LazyGroup

COMMANDS = {
    "html": ("rankgauge.cli.report_html", "Write the page of a benchmark."),
    "verify": ("rankgauge.cli.report_verify", "Compute every number of a benchmark's folder again."),
}


@click.group("report", cls=LazyGroup, lazy=COMMANDS)
def command() -> None:
    """Reports: the page to look at, and whether a folder is as it was written."""
