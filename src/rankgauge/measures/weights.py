"""Queries that count by their weight, their traffic say, beside the plain mean in which all count alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.tables import Column, Floats
from rankgauge.errors import InputError
from rankgauge.measures.aggregates import total
from rankgauge.measures.spec import Measure

WEIGHT = "weight"  # the query column that holds them


def weighted_mean(values: ArrayLike, weights: ArrayLike) -> float | None:
    """Σ weight · value / Σ weight over the queries that have a value; None where nothing has any weight.

    Every query needs a weight, a finite number of at least 0.
    """
    found, by = np.asarray(values, dtype=np.float64), checked_weights(weights)
    if len(found) != len(by):
        raise InputError(f"{len(by)} weights for {len(found)} values")
    known = ~np.isnan(found)
    over = total(by[known])
    return total(found[known] * by[known]) / over if over else None


def weighted_means(
    measures: Sequence[Measure], values: Floats, chosen: NDArray[np.bool_], columns: Mapping[str, Column]
) -> dict[str, float | None] | None:
    """The weighted mean of each measure over some of the queries; None where the queries have no weights.

    ``values`` are queries × measures. A measure that is no mean over queries (a sum, a geometric mean) has none.
    """
    if WEIGHT not in columns:
        return None
    weights = checked_weights(columns[WEIGHT])[chosen]
    return {
        measure.name: weighted_mean(values[chosen, place], weights) if measure.definition.aggregate == "mean" else None
        for place, measure in enumerate(measures)
    }


def checked_weights(weights: ArrayLike) -> Floats:
    """Weights as numbers; raises where one cannot be."""
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one for each query") from None
    odd = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(odd):
        what = "nothing" if np.isnan(found[odd[0]]) else f"{found[odd[0]]:g}"
        raise InputError(f"a weight must be a number of at least 0, found {what} at position {odd[0] + 1}")
    return found
