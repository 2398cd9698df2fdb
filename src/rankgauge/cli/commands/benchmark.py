"""``rankgauge benchmark``."""

from __future__ import annotations

import click

from rankgauge.cli.lazy import LazyGroup

COMMANDS = {"run": "Run retrievers on the same queries, and say which is best."}


@click.group("benchmark", cls=LazyGroup, lazy=COMMANDS, prefix="benchmark_")
def command() -> None:
    """Which retriever is best, by how much, how surely, and at what cost."""
