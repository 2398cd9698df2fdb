"""Exact nearest neighbors: every document is compared with every query, one block at a time.

Cosines in float32 propose the documents that may be among the top k: all whose cosine, give or take the bound on its
error, reaches the k-th. Only theirs are then computed exactly, so scores and order are those of an exact search.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.tables import Floats, group_of, offsets_of
from rankgauge.retrieval.engines.vectors import UnitVectors, float32_error, row_cosines
from rankgauge.retrieval.scores import lower_bound, round_scores, top_k

SCORES_PER_BLOCK = 1 << 20  # held in memory at once: 4 MB
QUERIES_PER_BLOCK = 256
BELOW_ALL = -4.0  # less than any cosine, whatever its error


class Neighbors(NamedTuple):
    """The documents nearest to each query, best first."""

    offsets: Ints  # of the queries
    rows: Ints  # of the documents
    scores: Floats  # rounded cosines


class VectorIndex(Protocol):
    """Find the documents nearest to query vectors."""

    def search(self, queries: UnitVectors, k: int) -> Neighbors:
        """The k documents nearest to each query."""


class Exact:
    """Exhaustive search. It holds the vectors, which may be memory-mapped, and one block of scores in memory."""

    def __init__(
        self,
        vectors: UnitVectors,
        ids: Ids,
        *,
        scores_per_block: int = SCORES_PER_BLOCK,
        query_block: int = QUERIES_PER_BLOCK,
    ) -> None:
        self.vectors, self.ids, self.scores_per_block, self.query_block = vectors, ids, scores_per_block, query_block
        self._error = float32_error(vectors.shape[1])

    @cached_property
    def _zero_rows(self) -> Ints:
        """The documents without a direction, which are never found."""
        step = max(1, self.scores_per_block // max(1, self.vectors.shape[1]))
        begins = range(0, len(self.vectors), step)
        zero = [np.flatnonzero(~self.vectors[begin : begin + step].any(axis=1)) + begin for begin in begins]
        return np.concatenate([np.zeros(0, dtype=np.int64), *zero])

    def search(self, queries: UnitVectors, k: int) -> Neighbors:
        """The k documents nearest to each query; zero vectors of documents and queries are left out."""
        begins = range(0, len(queries), self.query_block)
        parts = [self._search_block(queries[begin : begin + self.query_block], k) for begin in begins]
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(part.offsets) for part in parts)])
        return Neighbors(
            np.cumsum(sizes),
            np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in parts)]),
            np.concatenate([np.zeros(0), *(part.scores for part in parts)]),
        )

    def _search_block(self, queries: UnitVectors, k: int) -> Neighbors:
        searched = np.flatnonzero(queries.any(axis=1))
        directions = queries[searched]
        group, rows, scores = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        threshold = np.full(len(queries), BELOW_ALL)  # the score that a further document must reach, by query
        step = max(1, self.scores_per_block // max(1, len(searched)))
        for begin in range(0, len(self.vectors) if len(searched) else 0, step):
            near = directions @ np.asarray(self.vectors[begin : begin + step]).T
            zero_rows = self._zero_rows
            in_block = np.searchsorted(zero_rows, [begin, begin + step])
            near[:, zero_rows[in_block[0] : in_block[1]] - begin] = -np.inf
            query_row, column = self._candidates(near, threshold[searched], k)
            # New rows join the best so far; the top k of both are the top k of all documents seen.
            group = np.concatenate([group, searched[query_row]])
            rows = np.concatenate([rows, begin + column])
            exact = row_cosines(directions, query_row, self.vectors, begin + column)
            scores = np.concatenate([scores, round_scores(exact)])
            order = np.argsort(group, kind="stable")
            group, rows, scores = group[order], rows[order], scores[order]
            kept, offsets = top_k(offsets_of(group, len(queries)), self.ids.take(rows), scores, k)
            group, rows, scores = group_of(offsets), rows[kept], scores[kept]
            full = np.flatnonzero(np.diff(offsets) == k)
            threshold[full] = scores[offsets[full + 1] - 1]
        return Neighbors(offsets_of(group, len(queries)), rows, scores)

    def _candidates(self, near: UnitVectors, threshold: Floats, k: int) -> tuple[Ints, Ints]:
        """Query row and document column of the documents that may be among the top k, by float32 cosines.

        ``threshold`` is the rounded score of the k-th document so far. If there are more than twice k candidates, the
        k-th of this block is used too: k documents have an exact cosine of at least its value less the error.
        """
        bounds = np.array([lower_bound(value) for value in threshold.tolist()]) - self._error
        candidates = near >= _round_down(bounds)[:, None]
        crowded = np.flatnonzero(np.count_nonzero(candidates, axis=1) > 2 * k)
        if len(crowded):
            place = near.shape[1] - k
            kth = np.partition(near[crowded], place, axis=1)[:, place].astype(np.float64)
            bounds[crowded] = [lower_bound(value - self._error) - self._error for value in kth.tolist()]
            candidates[crowded] &= near[crowded] >= _round_down(bounds[crowded])[:, None]
        query_row, column = np.nonzero(candidates)
        return query_row, column


def _round_down(bounds: Floats) -> UnitVectors:
    """The bounds in float32, in which they are compared, and never above what they were."""
    return np.nextafter(bounds.astype(np.float32), np.float32(-np.inf))
