"""Weighted means: each query counts by its weight, for example its traffic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, printable, shown
from rankgauge.measures.aggregates import total
from rankgauge.measures.spec import Measure

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
