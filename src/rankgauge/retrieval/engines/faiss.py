"""Approximate or exact search with faiss. The only file that imports it (extra ``faiss``).

faiss only proposes: some more documents than asked for. Their cosines are then computed exactly as in
:mod:`.vector`, so that scores and order are the same digits; what an approximate index did not propose is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import MissingExtraError
from rankgauge.retrieval.engines.vectors import Unit, cosines
from rankgauge.retrieval.scores import below, first, rounded

MORE = 2  # times k are proposed at first
NOISE = 1e-5  # more than float32 is wrong by


class Faiss:
    """``factory`` is faiss's own description of an index: ``Flat``, ``HNSW32``, ``IVF256,Flat``."""

    def __init__(self, vectors: Unit, ids: Ids, *, factory: str = "Flat") -> None:
        faiss = library()
        self.vectors, self.ids = vectors, ids
        self._index = faiss.index_factory(vectors.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        table = np.ascontiguousarray(vectors)
        if not self._index.is_trained:
            self._index.train(table)
        self._index.add(table)

    def search(self, queries: Unit, k: int) -> tuple[Ints, Ints, Floats]:
        """The nearest among the proposed, with exact cosines."""
        found = [self._nearest(query, k) for query in queries]
        offsets = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in found])]).astype(np.int64)
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(rows for rows, _ in found)])
        scores = rounded(np.concatenate([np.zeros(0), *(cosine for _, cosine in found)]))
        kept, offsets = first(offsets, self.ids.take(rows), scores, k)
        return offsets, rows[kept], scores[kept]

    def _nearest(self, query: Unit, k: int) -> tuple[Ints, Floats]:
        """The places and cosines of what is proposed: so much that nothing left out can tie with the k-th.

        Among documents that tie, faiss takes whichever it meets first, and its float32 is no exact order.
        """
        wanted = min(len(self.ids), MORE * k) if query.any() else 0
        while wanted:
            proposed = np.unique(self._index.search(query[None], wanted)[1][0])
            rows = proposed[proposed >= 0].astype(np.int64)
            rows = rows[self.vectors[rows].any(axis=1)]
            cosine = cosines(query[None], self.vectors[rows])[0]
            enough = len(proposed) < wanted or wanted == len(self.ids)
            if enough or (len(rows) > k and cosine.min() < below(float(np.sort(cosine)[-k])) - NOISE):
                return rows, cosine
            wanted = min(len(self.ids), 2 * wanted)
        return np.zeros(0, dtype=np.int64), np.zeros(0)


def library() -> Any:
    """faiss, or an error that says how to get it."""
    try:
        import faiss
    except ImportError:
        raise MissingExtraError(
            "this index needs the library faiss", hint="pip install 'rankgauge[faiss]', or take the exact index"
        ) from None
    return faiss
