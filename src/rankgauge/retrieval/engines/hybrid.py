"""Several retrievers, with their runs fused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.run import Run, Status
from rankgauge.errors import UsageError, held_warnings
from rankgauge.retrieval.fusion import DEFAULT_METHOD, DEFAULT_NORMALIZATION, DEFAULT_RRF_K, fuse
from rankgauge.retrieval.ranked_scores import spread_run
from rankgauge.retrieval.retriever import Identity, QueryBatch, Retriever, retrieve_run

DEFAULT_DEPTH = 100  # minimum number of documents requested from each retriever


class Hybrid:
    """Request at least ``depth`` documents from each retriever, and fuse their runs.

    The defaults are those of :func:`fuse`: reciprocal rank fusion with equal weights.
    """

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        *,
        method: str = DEFAULT_METHOD,
        weights: Sequence[float] | None = None,
        normalization: str = DEFAULT_NORMALIZATION,
        rrf_k: float = DEFAULT_RRF_K,
        depth: int = DEFAULT_DEPTH,
        name: str = "hybrid",
    ) -> None:
        if len(retrievers) < 2:
            raise UsageError(f"a hybrid needs at least two retrievers, found {len(retrievers)}")
        self.name, self.retrievers, self.depth, self.rrf_k = name, tuple(retrievers), depth, rrf_k
        self.method, self.normalization = method, normalization
        self.weights = None if weights is None else tuple(weights)

    def identity(self) -> Identity:
        """The retrievers and how their runs are fused."""
        return {
            "mode": "hybrid",
            "method": self.method,
            "weights": None if self.weights is None else list(self.weights),
            "normalization": self.normalization,
            "rrf_k": self.rrf_k,
            "depth": self.depth,
            "retrievers": [retriever.identity() for retriever in self.retrievers],
        }

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch. A query that failed in one retriever has failed: the others alone are not the hybrid."""
        runs = [retrieve_run(retriever, queries, max(k, self.depth)) for retriever in self.retrievers]
        with held_warnings():  # about the last digits of scores; nobody else has seen the scores that were fused
            fused = fuse(
                runs,
                self.method,
                k=k,
                weights=self.weights,
                normalization=self.normalization,
                rrf_k=self.rrf_k,
                name=self.name,
            )
        answered = np.flatnonzero(~np.any([run.status == Status.FAILED for run in runs], axis=0))
        if len(answered) == len(queries):
            return fused
        return spread_run(fused.select(answered), queries.ids, answered, Status.FAILED)
