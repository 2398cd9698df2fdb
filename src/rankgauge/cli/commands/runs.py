"""``rankgauge runs``."""

from __future__ import annotations

import click

from rankgauge.cli.lazy import LazyGroup

COMMANDS = {
    "fetch": "Make a run by asking a retriever every query.",
    "validate": "Find faults in runs, line by line.",
}


@click.group("runs", cls=LazyGroup, lazy=COMMANDS, prefix="runs_")
def command() -> None:
    """Make or validate runs."""
