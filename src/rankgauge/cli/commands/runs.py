"""``rankgauge runs``."""

from __future__ import annotations

import click

from rankgauge.cli.group import LazyGroup

RUNS_COMMANDS = {
    "fetch": "Make a run by asking a retriever every query.",
    "validate": "Find faults in runs, line by line.",
}


@click.group("runs", cls=LazyGroup, tasks={"Commands": RUNS_COMMANDS}, prefix="runs_")
def command() -> None:
    """Make or validate runs."""
