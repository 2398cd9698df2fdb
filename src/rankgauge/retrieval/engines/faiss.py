"""Approximate or exact search with faiss. The only file that imports it (extra ``faiss``).

faiss only proposes candidates, more than requested. Their cosines are then computed exactly as in :mod:`.vector`, so
that scores and order are the same to the digit; what an approximate index did not propose is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import MissingExtraError
from rankgauge.retrieval.engines.exact import Neighbors
from rankgauge.retrieval.engines.vectors import UnitVectors, cosines, float32_error
from rankgauge.retrieval.scores import lower_bound, round_scores, top_k

CANDIDATE_FACTOR = 2  # times k candidates are requested first


class Faiss:
    """A faiss index. ``factory`` is its description in faiss: ``Flat``, ``HNSW32``, ``IVF256,Flat``."""

    def __init__(self, vectors: UnitVectors, ids: Ids, *, factory: str = "Flat") -> None:
        faiss = import_faiss()
        self.vectors, self.ids = vectors, ids
        self._index = faiss.index_factory(vectors.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        table = np.ascontiguousarray(vectors)
        if not self._index.is_trained:
            self._index.train(table)
        self._index.add(table)

    def search(self, queries: UnitVectors, k: int) -> Neighbors:
        """The nearest of the candidates, with exact cosines."""
        candidates = [self._candidates(query, k) for query in queries]
        offsets = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in candidates])]).astype(np.int64)
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(rows for rows, _ in candidates)])
        scores = round_scores(np.concatenate([np.zeros(0), *(cosine for _, cosine in candidates)]))
        kept, offsets = top_k(offsets, self.ids.take(rows), scores, k)
        return Neighbors(offsets, rows[kept], scores[kept])

    def _candidates(self, query: UnitVectors, k: int) -> tuple[Ints, Floats]:
        """The rows and cosines of the candidates: enough that no document left out can tie with the k-th.

        Among documents that tie, faiss takes whichever it meets first, and its order by float32 is not exact.
        """
        count, error = min(len(self.ids), CANDIDATE_FACTOR * k) if query.any() else 0, float32_error(len(query))
        while count:
            proposed = np.unique(self._index.search(query[None], count)[1][0])
            rows = proposed[proposed >= 0].astype(np.int64)
            rows = rows[self.vectors[rows].any(axis=1)]
            cosine = cosines(query[None], self.vectors[rows])[0]
            exhausted = len(proposed) < count or count == len(self.ids)
            # A document left out is not above the lowest one in float32, hence at most twice the error above it.
            if exhausted or (len(rows) > k and cosine.min() + 2 * error < lower_bound(float(np.sort(cosine)[-k]))):
                return rows, cosine
            count = min(len(self.ids), 2 * count)
        return np.zeros(0, dtype=np.int64), np.zeros(0)


def import_faiss() -> Any:
    """Import faiss, or raise an error that says how to install it."""
    try:
        import faiss
    except ModuleNotFoundError:
        raise MissingExtraError(
            "this index needs the library faiss", hint="pip install 'rankgauge[faiss]', or use the exact search"
        ) from None
    return faiss
