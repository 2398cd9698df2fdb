"""From the values of all queries to one value, adding from the first query to the last, one by one."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.core.arrays import GEOMETRIC_FLOOR, Floats
from rankgauge.measures.exact_numbers import each
from rankgauge.measures.measure import Aggregate


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


def geometric_mean(values: Floats) -> float:
    """The exponential of the mean logarithm, every value at least GEOMETRIC_FLOOR."""
    value = aggregate(values, "gmean")
    return math.nan if value is None else value


def aggregate(values: Floats, how: Aggregate) -> float | None:
    """One value for all queries, which are in the order of their ids' bytes; None if there is nothing to average."""
    return RunningAggregate(how).add(values).value
