"""``rankgauge labels``."""

from __future__ import annotations

import click

from rankgauge.cli.group import LazyGroup

LABELS_COMMANDS = {
    "agree": "Show how closely assessors agree.",
    "check": "Show which labels no longer fit the documents.",
    "estimate": "Estimate measures from few human labels, with machine labels or a sampled pool.",
    "resolve": "Write labels by text as qrels for one chunking.",
}


@click.group("labels", cls=LazyGroup, tasks={"Commands": LABELS_COMMANDS}, prefix="labels_")
def command() -> None:
    """Compare and check judgments, and estimate measures from few of them."""
