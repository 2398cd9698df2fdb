"""Several retrievers at once, their runs fused."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.run import Run
from rankgauge.errors import UsageError
from rankgauge.retrieval.base import Identity, Questions, Retriever, answer
from rankgauge.retrieval.fusion.fusion import RRF_K, fuse

DEEPER = 100  # documents that each retriever gives at least


class Hybrid:
    """Asks each retriever for at least ``depth`` documents and fuses what they found."""

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        *,
        method: str = "rrf",
        weights: Sequence[float] | None = None,
        normalise: str = "min-max",
        rrf_k: float = RRF_K,
        depth: int = DEEPER,
        name: str = "hybrid",
    ) -> None:
        if len(retrievers) < 2:
            raise UsageError(f"a hybrid needs two retrievers or more, found {len(retrievers)}")
        self.name, self.retrievers, self.depth = name, tuple(retrievers), depth
        self.method, self.normalise, self.rrf_k = method, normalise, rrf_k
        self.weights = None if weights is None else tuple(weights)

    def identity(self) -> Identity:
        """The parts and how they are fused."""
        return {
            "mode": "hybrid",
            "method": self.method,
            "weights": None if self.weights is None else list(self.weights),
            "normalise": self.normalise,
            "rrf_k": self.rrf_k,
            "depth": self.depth,
            "parts": [part.identity() for part in self.retrievers],
        }

    def retrieve(self, queries: Questions, k: int) -> Run:
        """Answer a batch."""
        runs = [answer(part, queries, max(k, self.depth)) for part in self.retrievers]
        return fuse(
            runs,
            self.method,
            k=k,
            weights=self.weights,
            normalise=self.normalise,
            rrf_k=self.rrf_k,
            name=self.name,
        )
