"""``rankgauge runs``."""

from __future__ import annotations

import click

from rankgauge.cli.lazy import LazyGroup

COMMANDS = {
    "fetch": ("rankgauge.cli.runs_fetch", "Make a run: ask a retriever every query."),
    "validate": ("rankgauge.cli.runs_validate", "Say what is wrong with runs, line by line."),
}


@click.group("runs", cls=LazyGroup, lazy=COMMANDS)
def command() -> None:
    """Runs: make them, say what is wrong with them."""
