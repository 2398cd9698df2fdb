"""``rankgauge benchmark``."""

from __future__ import annotations

import click

from rankgauge.cli.group import LazyGroup

BENCHMARK_COMMANDS = {"run": "Run retrievers on the same queries and show which is best."}


@click.group("benchmark", cls=LazyGroup, tasks={"Commands": BENCHMARK_COMMANDS}, prefix="benchmark_")
def command() -> None:
    """Show which retriever is best, by how much, with what confidence, at what cost."""
