"""Scores of different retrievers made comparable, query by query.

A document that a retriever did not return has a score there too: the least that the normalisation gives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats, count_by, group_of, sum_by

# Offsets of the queries, the scores and the ranks of a run → new scores of its rows, and each query's score of others.
Normalisation = Callable[[Ints, Floats, Ints], tuple[Floats, Floats]]


def min_max(offsets: Ints, scores: Floats, ranks: Ints) -> tuple[Floats, Floats]:
    """From 0 for the lowest to 1 for the highest; where all are equal each is 1. What is not returned has 0."""
    query, queries = group_of(offsets), len(offsets) - 1
    low, high = np.full(queries, np.inf), np.full(queries, -np.inf)
    np.minimum.at(low, query, scores)
    np.maximum.at(high, query, scores)
    span = (high - low)[query]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(span > 0, (scores - low[query]) / span, 1.0)
    return out, np.zeros(queries)


def z_score(offsets: Ints, scores: Floats, ranks: Ints) -> tuple[Floats, Floats]:
    """Standard deviations from the mean; where all are equal each is 0. What is not returned has the lowest."""
    query, queries = group_of(offsets), len(offsets) - 1
    count = np.maximum(count_by(query, queries), 1)
    mean = sum_by(query, scores, queries) / count
    away = scores - mean[query]
    deviation = np.sqrt(sum_by(query, away * away, queries) / count)[query]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(deviation > 0, away / deviation, 0.0)
    low = np.zeros(queries)
    np.minimum.at(low, query, out)
    return out, low


def by_rank(offsets: Ints, scores: Floats, ranks: Ints) -> tuple[Floats, Floats]:
    """1 for the first, then in equal steps down to 1/n for the last of n. What is not returned has 0."""
    query, queries = group_of(offsets), len(offsets) - 1
    count = count_by(query, queries)[query]
    return 1 - (ranks - 1) / np.maximum(count, 1), np.zeros(queries)


def as_is(offsets: Ints, scores: Floats, ranks: Ints) -> tuple[Floats, Floats]:
    """The scores themselves. What is not returned has 0."""
    return scores, np.zeros(len(offsets) - 1)


NORMALISATIONS: dict[str, Normalisation] = {"min-max": min_max, "z-score": z_score, "rank": by_rank, "none": as_is}
