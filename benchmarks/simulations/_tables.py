"""Markdown tables of shares. A share that misses its aim is bold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

ALPHA = 0.05
MOST_ERRORS = 0.06  # the aims
LEAST_COVERAGE, LEAST_JOINT_COVERAGE = 0.94, 0.92
SEED = 20262


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A title and a table; numbers are aligned to the right."""
    listed = list(rows)
    numeric = [
        all((row[place].lstrip("*±")[:1].isdigit() or row[place] == "–") for row in listed)
        for place in range(len(head))
    ]
    lines = [title, "", f"| {' | '.join(head)} |", f"|{'|'.join('---:' if right else '---' for right in numeric)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in listed)])


def at_most(share: float, aim: float = MOST_ERRORS) -> str:
    """A share that should not be larger."""
    return f"**{share:.1%}**" if share > aim else f"{share:.1%}"


def at_least(share: float, aim: float) -> str:
    """A share that should not be smaller."""
    return f"**{share:.1%}**" if share < aim else f"{share:.1%}"


def error_of(level: float, draws: int) -> str:
    """How far a simulated share of this size may be off: 1.96 standard errors."""
    return f"simulation error ±{1.96 * np.sqrt(level * (1 - level) / draws):.1%}"
