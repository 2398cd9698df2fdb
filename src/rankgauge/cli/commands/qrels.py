"""``rankgauge qrels``."""

from __future__ import annotations

import click

from rankgauge.cli.group import LazyGroup

QRELS_COMMANDS = {"validate": "Find faults in judgments, line by line."}


@click.group("qrels", cls=LazyGroup, tasks={"Commands": QRELS_COMMANDS}, prefix="qrels_")
def command() -> None:
    """Validate judgments."""
