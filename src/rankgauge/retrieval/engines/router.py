"""Each query to the expert that fits it: one retriever of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rankgauge.core.ids import Ids, Ints, concatenate
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputTypeError, UsageError, shown
from rankgauge.retrieval.base import Identity, Questions, Retriever, answer
from rankgauge.retrieval.batches import batches
from rankgauge.retrieval.corpus.documents import Documents
from rankgauge.retrieval.decisions import Decisions
from rankgauge.retrieval.embedders.base import Embedder
from rankgauge.retrieval.engines.vector import EMBEDDED, embedded
from rankgauge.retrieval.engines.vectors import cosines, unit
from rankgauge.retrieval.scores import rounded

Chooser = Callable[[str], str]  # a query's text → the name of an expert


class Centroids:
    """Chooses the expert whose mean document is nearest to the query; equals go to the first by name."""

    def __init__(self, experts: Mapping[str, Documents], embedder: Embedder) -> None:
        self.names, self._embedder = sorted(experts), embedder
        self._centres = unit(np.stack([self._centre(experts[name]) for name in self.names]), "centroids")

    def identity(self) -> Identity:
        """The embedder; the experts' corpora stand in their own identities."""
        return {"router": "centroids", "embedder": self._embedder.identity()}

    def scores(self, queries: Questions) -> Floats:
        """The cosine of each query with each expert's centre."""
        return rounded(cosines(embedded(self._embedder, list(queries.ids), queries.texts, "query"), self._centres))

    def _centre(self, documents: Documents) -> Floats:
        """The sum of the documents' vectors. On the grid of :mod:`.vectors` it is exact up to 2^29 of them."""
        total: Floats | None = None
        for batch in batches(documents, EMBEDDED):
            ids, texts = [document.id for document in batch], [document.whole for document in batch]
            part = embedded(self._embedder, ids, texts, "document").sum(axis=0, dtype=np.float64)
            total = part if total is None else total + part
        if total is None:
            raise UsageError(f"expert {shown(documents.source)} has no documents")
        return total


class Routed:
    """Experts behind a choice: :class:`Centroids`, or a function from a text to an expert's name."""

    def __init__(
        self,
        experts: Mapping[str, Retriever],
        chooser: Centroids | Chooser,
        *,
        decisions: Decisions | None = None,
        version: str = "",
        name: str = "routed",
    ) -> None:
        if len(experts) < 2:
            raise UsageError(f"a router needs two experts or more, found {len(experts)}")
        self.name, self._experts, self._chooser, self._version = name, dict(experts), chooser, version
        self._decisions = decisions or Decisions()

    def identity(self) -> Identity:
        """How an expert is chosen, and the experts."""
        said = (
            self._chooser.identity()
            if isinstance(self._chooser, Centroids)
            else {"router": getattr(self._chooser, "__name__", type(self._chooser).__name__), "version": self._version}
        )
        return {"mode": "routed", **said, "experts": {name: one.identity() for name, one in self._experts.items()}}

    def retrieve(self, queries: Questions, k: int) -> Run:
        """Answer a batch: each expert gets its queries at once."""
        chosen = self._choose(queries)
        parts: list[Run] = []
        places: list[int] = []
        for name, expert in self._experts.items():
            mine = np.flatnonzero([one == name for one in chosen])
            if len(mine):
                parts.append(answer(expert, queries.take(mine), k))
                places += mine.tolist()
        return _joined(self.name, queries.ids, parts, np.array(places, dtype=np.int64))

    def _choose(self, queries: Questions) -> list[str]:
        if isinstance(self._chooser, Centroids):
            scores, names = self._chooser.scores(queries), self._chooser.names
            chosen = [names[int(place)] for place in scores.argmax(axis=1)]
            for query, name, row in zip(queries.ids, chosen, scores.tolist(), strict=True):
                self._decisions.note(query, expert=name, expert_scores=dict(zip(names, row, strict=True)))
            return chosen
        chosen = [self._chooser(text) for text in queries.texts]
        for query, name in zip(queries.ids, chosen, strict=True):
            if name not in self._experts:
                raise InputTypeError(
                    f"the router chose {shown(str(name))} for query {shown(query)}; "
                    f"the experts are {', '.join(self._experts)}"
                )
            self._decisions.note(query, expert=name)
        return chosen


def _joined(name: str, queries: Ids, parts: list[Run], places: Ints) -> Run:
    """The experts' answers as one run, in the order of the queries."""
    sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(part.offsets) for part in parts)])
    whole = Run(
        name=name,
        queries=queries.take(places),
        offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        docs=concatenate([part.docs for part in parts]),
        scores=np.concatenate([np.zeros(0), *(part.scores for part in parts)]),
        status=np.concatenate([np.zeros(0, dtype=np.uint8), *(part.status for part in parts)]),
    )
    return whole.select(np.argsort(places, kind="stable"))
