"""The first results read again, more closely."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, InputTypeError, UsageError, shown
from rankgauge.retrieval.base import Identity, Questions, Retriever, answer
from rankgauge.retrieval.decisions import Decisions, text
from rankgauge.retrieval.embedders.base import Embedder
from rankgauge.retrieval.engines.vector import embedded
from rankgauge.retrieval.engines.vectors import cosines
from rankgauge.retrieval.loading import is_spec, load
from rankgauge.retrieval.scores import cut_run
from rankgauge.retrieval.texts import Texts

SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
TOP = 50


class Reranker(Protocol):
    """Says how well each text answers a query; higher is better."""

    name: str

    def score(self, query: str, ids: Sequence[bytes], texts: Sequence[str]) -> Floats:
        """A number for each text."""

    def identity(self) -> Identity:
        """All that decides what the numbers are, as JSON."""


class MaxSentence:
    """The cosine of the query with the nearest sentence of the document, by the embedder at hand.

    Honest and cheap, no cross-encoder: a long document is judged by its best sentence, not by its average.
    """

    name = "sentences"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def identity(self) -> Identity:
        """The embedder."""
        return {"reranker": self.name, "embedder": self._embedder.identity()}

    def score(self, query: str, ids: Sequence[bytes], texts: Sequence[str]) -> Floats:
        """The largest cosine over each text's sentences; -1 for a text without any."""
        cut = [[part for part in SENTENCE.split(one) if part.strip()] for one in texts]
        every = [part for parts in cut for part in parts]
        out = np.full(len(texts), -1.0)
        if not every:
            return out
        asked = embedded(self._embedder, [b"query"], [query], "query")
        found = embedded(self._embedder, [b"sentence"] * len(every), every, "document")
        group = np.repeat(np.arange(len(texts)), [len(parts) for parts in cut])
        np.maximum.at(out, group, cosines(asked, found)[0])
        return out


class CalledReranker:
    """Any ``function(query, texts)`` that returns a number for each text; ``function(query, texts, ids)`` too."""

    def __init__(self, function: Callable[..., Any], name: str, version: str = "") -> None:
        from rankgauge.retrieval.engines.callables import takes

        self.name, self.version, self._function, self._takes_ids = name, version, function, takes(function, "ids")

    def identity(self) -> Identity:
        """The name and the version it was given."""
        return {"reranker": self.name, "version": self.version}

    def score(self, query: str, ids: Sequence[bytes], texts: Sequence[str]) -> Floats:
        """What the function returns."""
        more = {"ids": [text(name) for name in ids]} if self._takes_ids else {}
        made = self._function(query, list(texts), **more)
        try:
            return np.asarray(made, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(f"reranker {self.name} must return numbers, found {type(made).__name__}") from None


def reranker(name: str, embedder: Callable[[], Embedder]) -> Reranker:
    """The reranker of a name: ``sentences``, ``cross-encoder/MODEL`` or ``module:callable``."""
    if name == "sentences":
        return MaxSentence(embedder())
    if name.startswith("cross-encoder/"):
        from rankgauge.retrieval.embedders.sentence_transformers import CrossEncoder

        return CrossEncoder(name.removeprefix("cross-encoder/"))
    if is_spec(name):
        return CalledReranker(load(name, "reranker"), name)
    raise UsageError(f"no reranker {shown(name)}", hint="one of sentences, cross-encoder/MODEL, module:callable")


class Reranked:
    """A retriever whose first ``top`` results are put into a new order; those behind keep their order behind them."""

    def __init__(
        self,
        retriever: Retriever,
        by: Reranker,
        texts: Texts,
        *,
        top: int = TOP,
        decisions: Decisions | None = None,
        name: str | None = None,
    ) -> None:
        if top < 1:
            raise UsageError(f"at least one result must be reranked, found {top}")
        self.name = name or f"{retriever.name}+rerank"
        self._retriever, self._by, self._texts, self._top = retriever, by, texts, top
        self._decisions = decisions or Decisions()

    def identity(self) -> Identity:
        """The reranker, how deep it reads, and what it reads."""
        return {"mode": "rerank", "top": self._top, **self._by.identity(), "of": self._retriever.identity()}

    def retrieve(self, queries: Questions, k: int) -> Run:
        """Answer a batch: as many as are reranked are retrieved, even where fewer are asked for."""
        before = answer(self._retriever, queries, max(k, self._top))
        names = before.docs.to_text()
        scores = [
            self._scores(query, before.docs.take(np.arange(begin, end)), before.scores[begin:end])
            for query, begin, end in zip(queries.texts, before.offsets[:-1], before.offsets[1:], strict=True)
        ]
        raw = np.concatenate([np.zeros(0), *scores])
        after = cut_run(self.name, queries.ids, before.offsets, before.docs, raw, k)
        moved = after.docs.to_text()
        for place, query in enumerate(queries.ids):
            first = names[before.offsets[place] : before.offsets[place + 1]][:k]
            self._decisions.note(
                query, retrieved_ids=first, reranked_ids=moved[after.offsets[place] : after.offsets[place + 1]]
            )
        return replace(after, status=np.where(np.diff(after.offsets) > 0, after.status, before.status))

    def _scores(self, query: str, docs: Ids, scores: Floats) -> Floats:
        if not len(docs):
            return scores
        head = docs.head(self._top)
        made = self._by.score(query, list(head), self._texts.of(head))
        if made.shape != (len(head),) or not np.isfinite(made).all():
            raise InputError(
                f"reranker {self._by.name} must return {len(head)} finite numbers for query {shown(query)}"
            )
        # Whole steps below the lowest: six digits tell them apart, and they stay behind.
        behind = np.floor(made.min()) - 1 - np.arange(len(docs) - len(head))
        return np.concatenate([made, behind])
