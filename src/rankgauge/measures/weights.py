"""Weighted means: each query counts by its weight, for example its traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.tables import Column, Floats
from rankgauge.errors import InputError
from rankgauge.measures.aggregates import total
from rankgauge.measures.spec import Measure

WEIGHT = "weight"  # the query column with the weights


def weighted_mean(values: ArrayLike, weights: ArrayLike) -> float | None:
    """Σ weight · value / Σ weight over the queries that have a value; None if their weights add up to 0.

    Every query needs a weight, a finite number of at least 0.
    """
    numbers, weight = np.asarray(values, dtype=np.float64), checked_weights(weights)
    if len(numbers) != len(weight):
        raise InputError(f"expected one weight per value, found {len(weight)} weights for {len(numbers)} values")
    present = ~np.isnan(numbers)
    total_weight = total(weight[present])
    return total(numbers[present] * weight[present]) / total_weight if total_weight else None


def weighted_means(
    measures: Sequence[Measure], values: Floats, chosen: NDArray[np.bool_], columns: Mapping[str, Column]
) -> dict[str, float | None] | None:
    """The weighted mean of each measure over the chosen queries; None if the queries have no weights.

    ``values`` are queries × measures. A measure that is a sum or a geometric mean over queries has no weighted mean.
    """
    if WEIGHT not in columns:
        return None
    weights = checked_weights(columns[WEIGHT])[chosen]
    return {
        measure.name: weighted_mean(values[chosen, column], weights) if measure.definition.aggregate == "mean" else None
        for column, measure in enumerate(measures)
    }


def checked_weights(weights: ArrayLike) -> Floats:
    """Weights as numbers; raises unless all are finite and at least 0."""
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one for each query") from None
    invalid = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(invalid):
        value = "nothing" if np.isnan(numbers[invalid[0]]) else f"{numbers[invalid[0]]:g}"
        raise InputError(f"a weight must be a number of at least 0, found {value} at position {invalid[0] + 1}")
    return numbers
