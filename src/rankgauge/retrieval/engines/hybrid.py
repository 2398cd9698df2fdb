"""Several retrievers, with their runs fused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankgauge.core.run import Run, Status
from rankgauge.errors import UsageError
from rankgauge.retrieval.base import Identity, QueryBatch, Retriever, retrieve_run
from rankgauge.retrieval.fusion.fusion import DEFAULT_METHOD, DEFAULT_RRF_K, fuse
from rankgauge.retrieval.fusion.grid import FusionChoice
from rankgauge.retrieval.scores import spread_run

DEFAULT_DEPTH = 100  # minimum number of documents requested from each retriever
# Chosen by a rule on four collections: docs/concepts/retrieval-defaults.md.
LEXICAL_VECTOR_FUSION = FusionChoice("weighted", (0.8, 0.2), "z-score")


class Hybrid:
    """Request at least ``depth`` documents from each retriever, and fuse their runs.

    By default a lexical and a vector retriever, in either order, are fused by their z-scores with weights 0.8 and 0.2;
    any others as :func:`fuse` does. Given another ``method``, the default weights are equal.
    """

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        *,
        method: str | None = None,
        weights: Sequence[float] | None = None,
        normalization: str | None = None,
        rrf_k: float = DEFAULT_RRF_K,
        depth: int = DEFAULT_DEPTH,
        name: str = "hybrid",
    ) -> None:
        if len(retrievers) < 2:
            raise UsageError(f"a hybrid needs at least two retrievers, found {len(retrievers)}")
        self.name, self.retrievers, self.depth, self.rrf_k = name, tuple(retrievers), depth, rrf_k
        default = default_fusion(retrievers)
        self.method, self.normalization = method or default.method, normalization or default.normalization
        default_weights = default.weights if self.method == default.method else None
        self.weights = default_weights if weights is None else tuple(weights)

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


def default_fusion(retrievers: Sequence[Retriever]) -> FusionChoice:
    """How retrievers are fused if nothing is said."""
    modes = [retriever.identity().get("mode") for retriever in retrievers]
    if modes == ["lexical", "vector"]:
        return LEXICAL_VECTOR_FUSION
    if modes == ["vector", "lexical"]:
        return replace(LEXICAL_VECTOR_FUSION, weights=LEXICAL_VECTOR_FUSION.weights[::-1])
    return FusionChoice(DEFAULT_METHOD, (1.0,) * len(retrievers))
