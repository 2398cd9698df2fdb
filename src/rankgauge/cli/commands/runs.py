"""``rankgauge runs``."""

from __future__ import annotations

import click

from rankgauge.cli.lazy import LazyGroup

COMMANDS = {
    "fetch": "Make a run: ask a retriever every query.",
    "validate": "Say what is wrong with runs, line by line.",
}


@click.group("runs", cls=LazyGroup, lazy=COMMANDS, prefix="runs_")
def command() -> None:
    """Runs: make them, say what is wrong with them."""
