"""BM25's weights of every word in every document. The only file that imports bm25s (extra ``retrieval``)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import MissingExtraError, UsageError, shown

VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25+")


@dataclass(frozen=True)
class Bm25:
    """The parameters. The variants are those of https://doi.org/10.1007/978-3-030-45442-5_4 as bm25s has them."""

    k1: float = 1.2
    b: float = 0.75
    variant: str = "lucene"
    delta: float = 0.5  # of bm25l and bm25+ only

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise UsageError(f"no BM25 variant {shown(self.variant)}", hint=f"one of {', '.join(VARIANTS)}")
        if not (self.k1 >= 0 and 0 <= self.b <= 1 and self.delta >= 0):
            raise UsageError(f"BM25 needs k1 and delta of at least 0 and b from 0 to 1, found {self}")


@dataclass(frozen=True, eq=False)
class Weights:
    """Postings by word: the documents that have it, ascending, and what it is worth in each.

    ``absent`` is what a word adds to every document, whether it has it or not (bm25l and bm25+; else 0).
    """

    offsets: Ints
    docs: NDArray[np.int32]
    weight: NDArray[np.float32]
    absent: NDArray[np.float32]
    documents: int

    def score(self, words: Ints) -> tuple[Ints, Floats]:
        """The documents that share a word of some weight with the query, and their scores.

        Weights are added word by word in the query's order, in float64, as bincount does: the same sums to the bit on
        any processor.
        """
        spans = [
            slice(*ends) for ends in zip(self.offsets[words].tolist(), self.offsets[words + 1].tolist(), strict=True)
        ]
        if not spans:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        docs = np.concatenate([self.docs[span] for span in spans])
        weight = np.concatenate([self.weight[span] for span in spans])
        total = np.bincount(docs, weights=weight, minlength=self.documents).astype(np.float64)
        rows: Ints = np.flatnonzero(total > 0)
        more = float(np.cumsum(self.absent[words], dtype=np.float64)[-1])
        return rows, total[rows] + more


def weigh(texts: Sequence[list[int]], words: int, parameters: Bm25) -> Weights:
    """The weights of documents given as word numbers."""
    bm25s = library()
    if not words:
        nothing = np.zeros(0, dtype=np.float32)
        return Weights(np.zeros(1, dtype=np.int64), nothing.astype(np.int32), nothing, nothing, len(texts))
    index = bm25s.BM25(
        k1=parameters.k1,
        b=parameters.b,
        delta=parameters.delta,
        method=parameters.variant,
        backend="numpy",
        csc_backend="numpy",  # scipy's is as quick, and takes longer to import than to use
    )
    index.index(
        (list(texts), {number: number for number in range(words)}), create_empty_token=False, show_progress=False
    )
    made = index.scores
    absent = index.nonoccurrence_array
    return Weights(
        offsets=np.asarray(made["indptr"], dtype=np.int64),
        docs=np.asarray(made["indices"], dtype=np.int32),
        weight=np.asarray(made["data"], dtype=np.float32),
        absent=np.zeros(words, dtype=np.float32) if absent is None else np.asarray(absent, dtype=np.float32),
        documents=len(texts),
    )


def library() -> Any:
    """bm25s, or an error that says how to get it."""
    try:
        import bm25s
    except ImportError:
        raise MissingExtraError(
            "lexical retrieval needs the library bm25s", hint="pip install 'rankgauge[retrieval]'"
        ) from None
    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it speaks at every step
    return bm25s
