"""Normalization: make the scores of different retrievers comparable, one query at a time.

A document that a retriever did not return also has a score there: the lowest that the normalization gives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats, count_by, group_of, sum_by

# Query offsets, scores and ranks of a run → the new scores of its rows, and each query's score of absent documents.
Normalization = Callable[[Ints, Floats, Ints], tuple[Floats, Floats]]


def min_max(offsets: Ints, scores: Floats, ranks: Ints) -> tuple[Floats, Floats]:
    """From 0 for the lowest to 1 for the highest; 1 if all are equal. An absent document has 0."""
    query, queries = group_of(offsets), len(offsets) - 1
    low, high = np.full(queries, np.inf), np.full(queries, -np.inf)
    np.minimum.at(low, query, scores)
    np.maximum.at(high, query, scores)
    span = (high - low)[query]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(span > 0, (scores - low[query]) / span, 1.0)
    return out, np.zeros(queries)


def z_score(offsets: Ints, scores: Floats, ranks: Ints) -> tuple[Floats, Floats]:
    """Standard deviations from the mean; 0 if all are equal. An absent document has the lowest."""
    query, queries = group_of(offsets), len(offsets) - 1
    count = np.maximum(count_by(query, queries), 1)
    mean = sum_by(query, scores, queries) / count
    difference = scores - mean[query]
    deviation = np.sqrt(sum_by(query, difference * difference, queries) / count)[query]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(deviation > 0, difference / deviation, 0.0)
    low = np.zeros(queries)
    np.minimum.at(low, query, out)
    return out, low


def by_rank(offsets: Ints, scores: Floats, ranks: Ints) -> tuple[Floats, Floats]:
    """1 for the first, then in equal steps down to 1/n for the last of n. An absent document has 0."""
    query, queries = group_of(offsets), len(offsets) - 1
    count = count_by(query, queries)[query]
    return 1 - (ranks - 1) / np.maximum(count, 1), np.zeros(queries)


def unchanged(offsets: Ints, scores: Floats, ranks: Ints) -> tuple[Floats, Floats]:
    """The scores themselves. An absent document has 0."""
    return scores, np.zeros(len(offsets) - 1)


NORMALIZATIONS: dict[str, Normalization] = {
    "min-max": min_max,
    "z-score": z_score,
    "rank": by_rank,
    "none": unchanged,
}
