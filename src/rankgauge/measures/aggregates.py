"""From the values of all queries to one: added from the first query to the last, one by one."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.core.tables import Floats
from rankgauge.measures.numbers import each
from rankgauge.measures.spec import Aggregate

SMALLEST = 0.00001  # what a geometric mean takes for 0


def total(values: Floats) -> float:
    """The plain sum, left to right. np.sum adds in pairs and gives other last digits."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def geometric_mean(values: Floats) -> float:
    """The exponential of the mean logarithm, every value at least SMALLEST."""
    return math.exp(total(each(np.maximum(values, SMALLEST), math.log)) / len(values))


def aggregate(values: Floats, how: Aggregate) -> float | None:
    """One value for all queries, given in the order of their ids' bytes; None where there is nothing to average."""
    if how == "sum":
        return total(values)
    if not len(values):
        return None
    return geometric_mean(values) if how == "gmean" else total(values) / len(values)
