"""``rankgauge history``."""

from __future__ import annotations

import click

from rankgauge.cli.group import LazyGroup

HISTORY_COMMANDS = {
    "list": "List the entries of the history.",
    "show": "Show one entry.",
    "compare": "Compare two entries, although labels may have changed.",
    "trend": "Show a measure over time, with intervals and change points.",
    "check": "Report recent changes of quality, each once.",
    "tag": "Add tags to an entry, or remove them.",
    "export": "Write entries as JSON Lines, or the newest values for Prometheus.",
    "import": "Read exported entries into the history.",
    "prune": "Delete old entries.",
}


@click.group("history", cls=LazyGroup, tasks={"Commands": HISTORY_COMMANDS}, prefix="history_")
def command() -> None:
    """List, compare and exchange results that were saved over time.

    `--save` on evaluate, compare, gate and benchmark run saves them.
    """
