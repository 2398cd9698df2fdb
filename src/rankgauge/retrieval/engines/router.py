"""A router: each query goes to the expert that fits it best."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rankgauge.core.ids import Ids, Ints, concatenate
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputTypeError, UsageError, shown
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.retrieval.base import Identity, QueryBatch, Retriever, retrieve_run
from rankgauge.retrieval.batches import batches
from rankgauge.retrieval.decisions import Decisions
from rankgauge.retrieval.embedders.base import Embedder, identity_of
from rankgauge.retrieval.engines.vector import EMBEDDING_BATCH_SIZE, embed_texts
from rankgauge.retrieval.engines.vectors import cosines, to_unit
from rankgauge.retrieval.loading import code_identity
from rankgauge.retrieval.scores import round_scores

RouterFunction = Callable[[str], str]  # a query's text → the name of an expert


class CentroidRouter:
    """Choose the expert whose mean document is nearest to the query; of equals, the first by name."""

    def __init__(self, experts: Mapping[str, Corpus], embedder: Embedder) -> None:
        self.names, self._embedder = sorted(experts), embedder
        self._centroids = to_unit(np.stack([self._sum_vectors(experts[name]) for name in self.names]), "centroids")

    def identity(self) -> Identity:
        """The embedder; the experts' corpora are in their own identities."""
        return {"router": "centroids", "embedder": identity_of(self._embedder)}

    def score(self, queries: QueryBatch) -> Floats:
        """The cosine of each query with each expert's centroid."""
        vectors = embed_texts(self._embedder, list(queries.ids), queries.texts, "query")
        return round_scores(cosines(vectors, self._centroids))

    def _sum_vectors(self, documents: Corpus) -> Floats:
        """The sum of the documents' vectors. On the grid of :mod:`.vectors` it is exact up to 2^29 documents."""
        total: Floats | None = None
        for batch in batches(documents, EMBEDDING_BATCH_SIZE):
            ids, texts = [document.id for document in batch], [document.full_text for document in batch]
            batch_sum = embed_texts(self._embedder, ids, texts, "document").sum(axis=0, dtype=np.float64)
            total = batch_sum if total is None else total + batch_sum
        if total is None:
            raise UsageError(f"expert {shown(documents.source)} has no documents")
        return total


class RoutedRetriever:
    """Experts behind a router: :class:`CentroidRouter`, or a function from a text to an expert's name.

    ``path`` is the ``module:name`` that the function was loaded by.
    """

    def __init__(
        self,
        experts: Mapping[str, Retriever],
        router: CentroidRouter | RouterFunction,
        *,
        decisions: Decisions | None = None,
        version: str = "",
        name: str = "routed",
        path: str | None = None,
    ) -> None:
        if len(experts) < 2:
            raise UsageError(f"a router needs at least two experts, found {len(experts)}")
        self.name, self._experts, self._router, self._version = name, dict(experts), router, version
        self._code = code_identity(router, path)
        self._decisions = decisions or Decisions()

    def identity(self) -> Identity:
        """The router and the experts."""
        router = (
            self._router.identity()
            if isinstance(self._router, CentroidRouter)
            else {
                "router": getattr(self._router, "__name__", type(self._router).__name__),
                "version": self._version,
                "code": self._code,
            }
        )
        experts = {name: expert.identity() for name, expert in self._experts.items()}
        return {"mode": "routed", **router, "experts": experts}

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch: each expert gets all its queries at once."""
        chosen_experts = self._choose_experts(queries)
        runs: list[Run] = []
        rows: list[int] = []
        for name, expert in self._experts.items():
            expert_rows = np.flatnonzero([chosen == name for chosen in chosen_experts])
            if len(expert_rows):
                runs.append(retrieve_run(expert, queries.take(expert_rows), k))
                rows += expert_rows.tolist()
        return _merge_runs(self.name, queries.ids, runs, np.array(rows, dtype=np.int64))

    def _choose_experts(self, queries: QueryBatch) -> list[str]:
        if isinstance(self._router, CentroidRouter):
            scores, names = self._router.score(queries), self._router.names
            experts = [names[int(column)] for column in scores.argmax(axis=1)]
            for query, expert, row in zip(queries.ids, experts, scores.tolist(), strict=True):
                self._decisions.record(query, expert=expert, expert_scores=dict(zip(names, row, strict=True)))
            return experts
        experts = [self._router(text) for text in queries.texts]
        for query, expert in zip(queries.ids, experts, strict=True):
            if expert not in self._experts:
                raise InputTypeError(
                    f"the router chose {shown(str(expert))} for query {shown(query)}; "
                    f"the experts are {', '.join(self._experts)}"
                )
            self._decisions.record(query, expert=expert)
        return experts


def _merge_runs(name: str, queries: Ids, runs: list[Run], rows: Ints) -> Run:
    """The experts' runs as one, in the order of the queries; ``rows`` are those of the experts' queries in turn."""
    sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(run.offsets) for run in runs)])
    merged = Run(
        name=name,
        queries=queries.take(rows),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        docs=concatenate([run.docs for run in runs]),
        scores=np.concatenate([np.zeros(0), *(run.scores for run in runs)]),
        status=np.concatenate([np.zeros(0, dtype=np.uint8), *(run.status for run in runs)]),
    )
    return merged.select(np.argsort(rows, kind="stable"))
