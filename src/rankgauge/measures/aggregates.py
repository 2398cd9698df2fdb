"""Aggregates of values, and numbers that must have the same last digit everywhere: logarithms, powers, gains.

NumPy's own log2, exp and power differ from the C library's in the last bit, and from one CPU to the next; so these
come from ``math``, once per distinct value.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankgauge.core.arrays import GEOMETRIC_FLOOR, Floats
from rankgauge.core.ids import Ints
from rankgauge.measures.measure import Aggregate

_DENSE = 1 << 16
_log2_table: Floats = np.zeros(0)


def each(values: Floats | Ints, function: Callable[[float], float]) -> Floats:
    """A function of each value, computed once per distinct value."""
    distinct, position = np.unique(values, return_inverse=True)
    return np.array([function(value) for value in distinct.tolist()], dtype=np.float64)[position.reshape(-1)]


def log2(numbers: Ints) -> Floats:
    """The binary logarithm of whole numbers of at least 1."""
    global _log2_table
    top = int(numbers.max(initial=1))
    if top >= _DENSE:
        return each(numbers, math.log2)
    if top >= len(_log2_table):
        size = max(1024, 1 << top.bit_length())
        _log2_table = np.array([0.0] + [math.log2(n) for n in range(1, size)])
    return _log2_table[numbers]


def powers(p: float, exponents: Ints) -> Floats:
    """p to whole powers, by a running product."""
    top = int(exponents.max(initial=0))
    table = np.multiply.accumulate(np.concatenate([[1.0], np.full(top, p)]))
    return table[exponents]


def linear_gain(grades: Floats) -> Floats:
    """The grade itself; 0 for a negative one."""
    return np.maximum(grades, 0.0)


def exponential_gain(grades: Floats) -> Floats:
    """2 to the power of the grade, minus 1; 0 for a negative grade."""
    return each(linear_gain(grades), lambda grade: 2.0**grade - 1.0)


# From the values of all queries to one value, adding from the first query to the last,
# one by one.


class RunningAggregate:
    """One value for all queries, which may arrive in parts: identical to the last digit as if they arrived at once."""

    def __init__(self, how: Aggregate) -> None:
        self.how = how
        self.count = 0
        self.sum = 0.0

    def add(self, values: Floats) -> RunningAggregate:
        """Add more queries, in order."""
        terms = each(np.maximum(values, GEOMETRIC_FLOOR), math.log) if self.how == "gmean" else values
        self.sum = total(np.concatenate([[self.sum], terms]))
        self.count += len(values)
        return self

    @property
    def value(self) -> float | None:
        """The value so far; None if there is nothing to average."""
        if self.how == "sum":
            return self.sum
        if not self.count:
            return None
        mean = self.sum / self.count
        return math.exp(mean) if self.how == "gmean" else mean


def total(values: Floats) -> float:
    """The plain sum, left to right. np.sum adds in pairs, which changes the last digits."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def aggregate(values: Floats, how: Aggregate) -> float | None:
    """One value for all queries, which are in the order of their ids' bytes; None if there is nothing to average."""
    return RunningAggregate(how).add(values).value
