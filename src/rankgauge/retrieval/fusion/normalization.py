"""Normalization: make the scores of different retrievers comparable, one query at a time.

A document that a retriever did not return also has a score there, which is never above that of a result. A single
result gets the highest value that the normalization can give.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats, count_by, group_of, sum_by

# Query offsets, scores and ranks of a run, and the number of documents that any run returned for each of its queries →
# the new scores of its rows, and each query's score of absent documents.
Normalization = Callable[[Ints, Floats, Ints, Ints], tuple[Floats, Floats]]


def min_max(offsets: Ints, scores: Floats, ranks: Ints, candidates: Ints) -> tuple[Floats, Floats]:
    """From 0 for the lowest to 1 for the highest; 1 if all are equal. An absent document has 0."""
    query = group_of(offsets)
    scaled = _scale(offsets, scores)
    low, high = _extremes(offsets, scaled)
    span = (high - low)[query]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(span > 0, (scaled - low[query]) / span, 1.0)
    return out, np.zeros(len(offsets) - 1)


def z_score(offsets: Ints, scores: Floats, ranks: Ints, candidates: Ints) -> tuple[Floats, Floats]:
    """Standard deviations from the mean. An absent document has the lowest.

    Equal scores, such as that of a single result, only separate results from absent documents: they get the z-scores of
    two values, that of m results above that of the other c − m of c candidates. For a single result this is √(c − 1),
    the highest z-score that one of c documents can have (https://doi.org/10.2307/2285901).
    """
    query, queries = group_of(offsets), len(offsets) - 1
    scaled, count = _scale(offsets, scores), count_by(query, queries)
    low, high = _extremes(offsets, scaled)
    mean = sum_by(query, scaled, queries) / np.maximum(count, 1)
    difference = scaled - mean[query]
    deviation = np.sqrt(sum_by(query, difference * difference, queries) / np.maximum(count, 1))[query]
    absent_count = candidates - count
    is_equal, above = low == high, np.sqrt(absent_count / np.maximum(count, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(is_equal[query], above[query], difference / deviation)
    lowest, _ = _extremes(offsets, out)
    below = np.where(absent_count > 0, -np.sqrt(count / np.maximum(absent_count, 1)), 0.0)
    return out, np.where(is_equal, below, np.where(count > 0, lowest, 0.0))


def by_rank(offsets: Ints, scores: Floats, ranks: Ints, candidates: Ints) -> tuple[Floats, Floats]:
    """1 for the first, then in equal steps down to 1/n for the last of n. An absent document has 0."""
    query, queries = group_of(offsets), len(offsets) - 1
    count = count_by(query, queries)[query]
    return 1 - (ranks - 1) / np.maximum(count, 1), np.zeros(queries)


def unchanged(offsets: Ints, scores: Floats, ranks: Ints, candidates: Ints) -> tuple[Floats, Floats]:
    """The scores themselves. An absent document has 0, or the lowest score if that is negative."""
    return scores, np.minimum(_extremes(offsets, scores)[0], 0.0)


def _extremes(offsets: Ints, scores: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest score of each query."""
    query, queries = group_of(offsets), len(offsets) - 1
    low, high = np.full(queries, np.inf), np.full(queries, -np.inf)
    np.minimum.at(low, query, scores)
    np.maximum.at(high, query, scores)
    return low, high


def _scale(offsets: Ints, scores: Floats) -> Floats:
    """Scores times a power of two for each query, so that neither spans nor squares leave the range of numbers.

    No digit of a ratio changes.
    """
    largest = np.zeros(len(offsets) - 1)
    np.maximum.at(largest, group_of(offsets), np.abs(scores))
    exponent = np.frexp(largest)[1]
    scaled: Floats = np.ldexp(scores, -exponent[group_of(offsets)])
    return scaled


NORMALIZATIONS: dict[str, Normalization] = {
    "min-max": min_max,
    "z-score": z_score,
    "rank": by_rank,
    "none": unchanged,
}
