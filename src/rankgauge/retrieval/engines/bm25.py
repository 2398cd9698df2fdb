"""The BM25 weight of every word in every document. The only file that imports bm25s (extra ``retrieval``)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.retriever_settings import Bm25Parameters
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import MissingExtraError


@dataclass(frozen=True, eq=False)
class Postings:
    """The postings of each word: the documents that contain it, ascending, and its weight in each.

    ``absent`` is the weight of a word in every document, including those without it (bm25l and bm25+; otherwise 0).
    """

    offsets: Ints
    docs: NDArray[np.int32]
    weight: NDArray[np.float32]
    absent: NDArray[np.float32]
    document_count: int

    def score(self, words: Ints) -> tuple[Ints, Floats]:
        """The documents that share a word of positive weight with the query, and their scores.

        Weights are added word by word in the order of the query, in float64, as bincount does: the sums are the same
        to the last bit on any processor.
        """
        spans = [
            slice(*ends) for ends in zip(self.offsets[words].tolist(), self.offsets[words + 1].tolist(), strict=True)
        ]
        if not spans:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        docs = np.concatenate([self.docs[span] for span in spans])
        weight = np.concatenate([self.weight[span] for span in spans])
        total = np.bincount(docs, weights=weight, minlength=self.document_count).astype(np.float64)
        rows: Ints = np.flatnonzero(total > 0)
        absent = float(np.cumsum(self.absent[words], dtype=np.float64)[-1])
        return rows, total[rows] + absent


def build_postings(texts: Sequence[list[int]], word_count: int, parameters: Bm25Parameters) -> Postings:
    """The postings of documents that are given as word numbers."""
    bm25s = import_bm25s()
    if not word_count:
        empty = np.zeros(0, dtype=np.float32)
        return Postings(np.zeros(1, dtype=np.int64), empty.astype(np.int32), empty, empty, len(texts))
    index = bm25s.BM25(
        k1=parameters.k1,
        b=parameters.b,
        delta=parameters.delta,
        method=parameters.variant,
        backend="numpy",
        csc_backend="numpy",  # scipy's is as fast, but takes longer to import than to use
    )
    index.index(
        (list(texts), {number: number for number in range(word_count)}), create_empty_token=False, show_progress=False
    )
    matrix = index.scores
    absent = index.nonoccurrence_array
    return Postings(
        offsets=np.asarray(matrix["indptr"], dtype=np.int64),
        docs=np.asarray(matrix["indices"], dtype=np.int32),
        weight=np.asarray(matrix["data"], dtype=np.float32),
        absent=np.zeros(word_count, dtype=np.float32) if absent is None else np.asarray(absent, dtype=np.float32),
        document_count=len(texts),
    )


def import_bm25s() -> Any:
    """Import bm25s, or raise an error that says how to install it."""
    try:
        import bm25s
    except ModuleNotFoundError:
        raise MissingExtraError(
            "lexical retrieval needs the library bm25s", hint="pip install 'rankgauge[retrieval]'"
        ) from None
    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every step
    return bm25s
