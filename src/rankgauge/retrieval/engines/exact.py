"""Exact nearest neighbors: every document is compared with every query, one block at a time."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.tables import Floats, group_of, offsets_of
from rankgauge.retrieval.engines.vectors import UnitVectors, cosines
from rankgauge.retrieval.scores import ROUNDING_MARGIN, contenders, round_scores, top_k

DOCUMENTS_PER_BLOCK = 4096
QUERIES_PER_BLOCK = 256


class VectorIndex(Protocol):
    """Find the documents nearest to query vectors."""

    def search(self, queries: UnitVectors, k: int) -> tuple[Ints, Ints, Floats]:
        """The offsets of the queries, the rows of their documents, and the rounded cosines, best first."""


class Exact:
    """Exhaustive search. It holds the vectors, which may be memory-mapped, and one block of scores in memory."""

    def __init__(
        self,
        vectors: UnitVectors,
        ids: Ids,
        *,
        document_block: int = DOCUMENTS_PER_BLOCK,
        query_block: int = QUERIES_PER_BLOCK,
    ) -> None:
        self.vectors, self.ids, self.document_block, self.query_block = vectors, ids, document_block, query_block

    def search(self, queries: UnitVectors, k: int) -> tuple[Ints, Ints, Floats]:
        """The k documents nearest to each query; zero vectors of documents and queries are left out."""
        begins = range(0, len(queries), self.query_block)
        parts = [self._search_block(queries[begin : begin + self.query_block], k) for begin in begins]
        sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(offsets) for offsets, _, _ in parts)])
        return (
            np.cumsum(sizes),
            np.concatenate([np.zeros(0, dtype=np.int64), *(rows for _, rows, _ in parts)]),
            np.concatenate([np.zeros(0), *(scores for _, _, scores in parts)]),
        )

    def _search_block(self, queries: UnitVectors, k: int) -> tuple[Ints, Ints, Floats]:
        searched = np.flatnonzero(queries.any(axis=1))
        group, rows, scores = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
        threshold = np.full(len(queries), -np.inf)  # the score that a further document must reach, by query
        for begin in range(0, len(self.vectors), self.document_block):
            block = self.vectors[begin : begin + self.document_block]
            cosine = cosines(queries[searched], block)
            cosine[:, ~block.any(axis=1)] = -np.inf
            query_row, column = _candidates(cosine, threshold[searched], k)
            # New rows join the best so far; the top k of both are the top k of all documents seen.
            group = np.concatenate([group, searched[query_row]])
            rows = np.concatenate([rows, begin + column])
            scores = np.concatenate([scores, round_scores(cosine[query_row, column])])
            order = np.argsort(group, kind="stable")
            group, rows, scores = group[order], rows[order], scores[order]
            kept, offsets = top_k(offsets_of(group, len(queries)), self.ids.take(rows), scores, k)
            group, rows, scores = group_of(offsets), rows[kept], scores[kept]
            full = np.flatnonzero(np.diff(offsets) == k)
            threshold[full] = scores[offsets[full + 1] - 1]
        return offsets_of(group, len(queries)), rows, scores


def _candidates(cosine: Floats, threshold: Floats, k: int) -> tuple[Ints, Ints]:
    """Query row and document column of the cosines that may be among the top k."""
    bound = threshold - np.where(np.isfinite(threshold), np.abs(threshold) * ROUNDING_MARGIN, 0)
    query_row, column = np.nonzero((cosine >= bound[:, None]) & (cosine > -np.inf))
    if len(query_row) <= 2 * k * len(cosine):
        return query_row.astype(np.int64), column.astype(np.int64)
    # The first block, or one full of good documents: sort only those that can be in the top k.
    kept_columns = []
    for row in range(len(cosine)):
        row_columns = column[np.searchsorted(query_row, row) : np.searchsorted(query_row, row, side="right")]
        kept_columns.append(row_columns[contenders(cosine[row, row_columns], k)])
    sizes = [len(columns) for columns in kept_columns]
    return np.repeat(np.arange(len(cosine)), sizes), np.concatenate(kept_columns).astype(np.int64)
