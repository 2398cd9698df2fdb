"""A change of a value as the sum of its parts.

With two runs a, b and two versions of labels A, B, a value over the shared queries is f(run, labels). The system's part
is the mean of f(b, A) − f(a, A) and f(b, B) − f(a, B), that of the labels the mean of f(a, B) − f(a, A) and
f(b, B) − f(b, A): the Shapley values of two causes. The queries that only one side has are the remainder.

All parts are rounded to the same 50 binary digits, counted from the largest of them. So they sum to the total to the
last bit, in any order, and none differs from its exact value by more than 2⁻⁵⁰ of the largest.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

GRID_BITS = 50  # of 53: sums of a few numbers on such a grid are exact
SMALLEST_EXPONENT = -900  # of the largest number; anything smaller is 0


@dataclass(frozen=True)
class ChangeParts:
    """The change of one measure. On the scale of its differences: logarithms if the measure is a geometric mean."""

    measure: str
    queries_shared: int
    before: float | None  # over its own queries
    after: float | None
    total: float | None = None
    system: float | None = None  # None if it cannot be separated from that of the labels
    labels: float | None = None
    joint: float | None = None  # system and labels together; None if they are separated
    queries: float | None = None  # of the queries that only one side has

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def on_common_grid(*values: float) -> list[float]:
    """The values rounded so that their sums and differences are exact."""
    exponent = max(math.frexp(max(map(abs, values)))[1], SMALLEST_EXPONENT)
    scale = math.ldexp(1.0, GRID_BITS - exponent)
    return [round(value * scale) / scale for value in values]


def separated(parts: ChangeParts, total: float, system: float, labels: float) -> ChangeParts:
    """Fill in system, labels, and the queries as the remainder."""
    total, system, labels = on_common_grid(total, system, labels)
    return replace(parts, total=total, system=system, labels=labels, queries=total - (system + labels))


def together(parts: ChangeParts, total: float, joint: float) -> ChangeParts:
    """Fill in system and labels jointly, and the queries as the remainder."""
    total, joint = on_common_grid(total, joint)
    return replace(parts, total=total, joint=joint, queries=total - joint)
