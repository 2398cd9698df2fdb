"""``rankgauge labels``."""

from __future__ import annotations

import click

from rankgauge.cli.lazy import LazyGroup

LABELS_COMMANDS = {
    "agree": "Show how closely assessors agree, and whether they rank runs in the same order.",
    "estimate": "Estimate measures from few human labels, with machine labels or a sampled pool.",
    "resolve": "Write labels by text as qrels for one chunking.",
    "qrels": "Write judgments of a uniform sample as qrels for infAP.",
}


@click.group("labels", cls=LazyGroup, lazy=LABELS_COMMANDS, prefix="labels_")
def command() -> None:
    """Compare judgments of several assessors, and estimate measures from few of them."""
