"""From the values of all queries to one value, weighted or not, adding from the first query to the last, one by one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import GEOMETRIC_FLOOR, Floats
from rankgauge.errors import InputError, printable, shown
from rankgauge.measures.exact_numbers import each
from rankgauge.measures.measure import Aggregate, Measure


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


# Weighted means: each query counts by its weight, for example its traffic.

WEIGHT = "weight"  # the query column with the weights


def weighted_mean(values: ArrayLike, weights: ArrayLike) -> float | None:
    """Σ weight · value / Σ weight over the queries that have a value; None if their weights add up to 0.

    Every query needs a weight, a finite number of at least 0. A query of weight 0 does not count.
    """
    numbers, weight = np.asarray(values, dtype=np.float64), checked_weights(weights)
    if len(numbers) != len(weight):
        raise InputError(f"expected one weight per value, found {len(weight)} weights for {len(numbers)} values")
    counted = ~np.isnan(numbers) & (weight > 0)
    numbers, weight = numbers[counted], weight[counted]
    if not len(weight):
        return None
    if np.ptp(weight) == 0:  # to the last digit the plain mean
        weight = np.ones(len(weight))
    return total(numbers * weight) / total(weight)


def weighted_means(measures: Sequence[Measure], values: Floats, weights: Floats) -> dict[str, float | None]:
    """The weighted mean of each measure; ``values`` are queries × measures.

    A measure that is a sum or a geometric mean over queries has no weighted mean.
    """
    return {
        measure.name: weighted_mean(values[:, column], weights) if measure.definition.aggregate == "mean" else None
        for column, measure in enumerate(measures)
    }


def are_weights(values: Iterable[Any]) -> bool:
    """Whether a column named ``weight`` has weights: a number, or nothing. Words such as high and low are groups."""
    return not all(isinstance(value, str) and np.isnan(_number(value)) for value in values)


def checked_weights(weights: ArrayLike, queries: Sequence[str] | None = None) -> Floats:
    """Weights as numbers; raises unless all are finite and at least 0. ``queries`` are the names for the error."""
    listed = np.asarray(weights, dtype=object).ravel()
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([_number(weight) for weight in listed])
    invalid = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(invalid):
        first = int(invalid[0])
        place = f"at position {first + 1}" if queries is None else f"for query {shown(queries[first])}"
        raise InputError(f"a weight must be a number of at least 0, found {_described(listed[first])} {place}")
    return numbers


def _number(weight: Any) -> float:
    """A weight as a number; NaN if it is not one."""
    try:
        return float(weight)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _described(weight: Any) -> str:
    if isinstance(weight, str):
        return shown(weight)
    if weight is None or weight != weight:
        return "nothing"
    return f"{weight:g}" if isinstance(weight, float) else printable(str(weight))
