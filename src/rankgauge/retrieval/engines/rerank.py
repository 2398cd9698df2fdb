"""Reranking: the top results are scored again, more closely, with the texts of their documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Protocol

import numpy as np

from rankgauge.config.retriever_settings import DEFAULT_SETTINGS
from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ids
from rankgauge.core.run import Run
from rankgauge.errors import InputError, InputTypeError, UsageError, shown
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.retrieval.embedders.embedder import Embedder, hashed_identity, identity_of
from rankgauge.retrieval.engines.vector import cosines, embed_texts
from rankgauge.retrieval.named_code import code_identity, has_parameter, is_object_path, load_object
from rankgauge.retrieval.ranked_scores import cut_run
from rankgauge.retrieval.retriever import Decisions, Identity, QueryBatch, Retriever, id_text, retrieve_run

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
DEFAULT_RERANK_DEPTH = DEFAULT_SETTINGS.rerank_top


class Reranker(Protocol):
    """Score how well each text answers a query; higher is better."""

    name: str

    def score(self, query: str, ids: Sequence[bytes], texts: Sequence[str]) -> Floats:
        """One number for each text."""

    def identity(self) -> Identity:
        """Everything that determines the scores, as JSON."""


class SentenceReranker:
    """The cosine of the query with the nearest sentence of the document, by the embedder at hand.

    Cheaper and less accurate than a cross-encoder: a long document is scored by its best sentence, not its average.
    """

    name = "sentences"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def identity(self) -> Identity:
        """The embedder."""
        return {"reranker": self.name, "embedder": identity_of(self._embedder)}

    def score(self, query: str, ids: Sequence[bytes], texts: Sequence[str]) -> Floats:
        """The largest cosine over each text's sentences; -1 for a text without sentences."""
        sentences_by_text = [[part for part in SENTENCE_END.split(text) if part.strip()] for text in texts]
        sentences = [sentence for part in sentences_by_text for sentence in part]
        scores = np.full(len(texts), -1.0)
        if not sentences:
            return scores
        query_vector = embed_texts(self._embedder, [b"query"], [query], "query")
        sentence_vectors = embed_texts(self._embedder, [b"sentence"] * len(sentences), sentences, "document")
        text_of_sentence = np.repeat(np.arange(len(texts)), [len(part) for part in sentences_by_text])
        np.maximum.at(scores, text_of_sentence, cosines(query_vector, sentence_vectors)[0])
        return scores


class CallableReranker:
    """Any ``function(query, texts)`` or ``function(query, texts, ids)`` that returns one number for each text.

    It is identified as the function of a :class:`CallableEmbedder` is.
    """

    def __init__(self, function: Callable[..., Any], name: str, version: str = "", path: str | None = None) -> None:
        self.name, self.version, self._function = name, version, function
        self._takes_ids = has_parameter(function, "ids")
        self._code = code_identity(function, path)

    def identity(self) -> Identity:
        """The given name and version, and the hashes of the code."""
        is_complete = bool(self.version or self._code["files"])
        return hashed_identity("reranker", self.name, is_complete=is_complete, version=self.version, code=self._code)

    def score(self, query: str, ids: Sequence[bytes], texts: Sequence[str]) -> Floats:
        """What the function returns."""
        arguments = {"ids": [id_text(name) for name in ids]} if self._takes_ids else {}
        scores = self._function(query, list(texts), **arguments)
        try:
            return np.asarray(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(f"reranker {self.name} must return numbers, found {type(scores).__name__}") from None


def make_reranker(name: str, load_embedder: Callable[[], Embedder]) -> Reranker:
    """The reranker with a name: ``sentences``, ``cross-encoder/MODEL`` or ``module:callable``."""
    if name == "sentences":
        return SentenceReranker(load_embedder())
    if name.startswith("cross-encoder/"):
        from rankgauge.retrieval.embedders.sentence_transformers import CrossEncoderReranker

        return CrossEncoderReranker(name.removeprefix("cross-encoder/"))
    if is_object_path(name):
        return CallableReranker(load_object(name, "reranker"), name, path=name)
    raise UsageError(
        f"unknown reranker {shown(name)}", hint="choose one of sentences, cross-encoder/MODEL, module:callable"
    )


class RerankedRetriever:
    """A retriever whose top results are reordered; the results after them stay in their order."""

    def __init__(
        self,
        retriever: Retriever,
        reranker: Reranker,
        texts: DocumentTexts,
        *,
        top: int = DEFAULT_RERANK_DEPTH,
        decisions: Decisions | None = None,
        name: str | None = None,
    ) -> None:
        if top < 1:
            raise UsageError(f"at least one result must be reranked, found {top}")
        self.name = name or f"{retriever.name}+rerank"
        self._retriever, self._reranker, self._texts, self._top = retriever, reranker, texts, top
        self._decisions = decisions or Decisions()

    def identity(self) -> Identity:
        """The reranker, its depth, and the retriever."""
        reranker = self._reranker.identity()
        return {"mode": "rerank", "top": self._top, **reranker, "retriever": self._retriever.identity()}

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch. At least as many documents are retrieved as are reranked, even if k is lower."""
        before = retrieve_run(self._retriever, queries, max(k, self._top))
        scores = [
            self._score(query, before.docs.take(np.arange(begin, end)), before.scores[begin:end])
            for query, begin, end in zip(queries.texts, before.offsets[:-1], before.offsets[1:], strict=True)
        ]
        raw = np.concatenate([np.zeros(0), *scores])
        after = cut_run(self.name, queries.ids, before.offsets, before.docs, raw, k)
        retrieved, reranked = before.docs.to_text(), after.docs.to_text()
        for row, query in enumerate(queries.ids):
            self._decisions.record(
                query,
                retrieved_ids=retrieved[before.offsets[row] : before.offsets[row + 1]][:k],
                reranked_ids=reranked[after.offsets[row] : after.offsets[row + 1]],
            )
        return replace(after, status=np.where(np.diff(after.offsets) > 0, after.status, before.status))

    def _score(self, query: str, docs: Ids, scores: Floats) -> Floats:
        if not len(docs):
            return scores
        top_docs = docs.head(self._top)
        top_scores = self._reranker.score(query, list(top_docs), self._texts.of(top_docs))
        if top_scores.shape != (len(top_docs),) or not np.isfinite(top_scores).all():
            raise InputError(
                f"reranker {self._reranker.name} must return {len(top_docs)} finite numbers for query {shown(query)}"
            )
        # Integer steps below the lowest: six digits distinguish them, and they stay after the reranked results.
        remaining_scores = np.floor(top_scores.min()) - 1 - np.arange(len(docs) - len(top_docs))
        return np.concatenate([top_scores, remaining_scores])


# The texts of a corpus by id, in one byte buffer, so that many small documents cost no more than their bytes.


class DocumentTexts:
    """Titles and texts of one or more corpora; of two documents with the same id, the first counts."""

    def __init__(self, *corpora: Corpus) -> None:
        self._rows: dict[bytes, int] = {}
        parts: list[bytes] = []
        for document in chain.from_iterable(corpora):
            if document.id not in self._rows:
                self._rows[document.id] = len(parts)
                parts.append(document.full_text.encode("utf-8", "surrogatepass"))
        self._texts = Ids.from_bytes(parts)

    def of(self, ids: Ids) -> Sequence[str]:
        """The text of each id; an id that is not in the corpus is an error."""
        names = list(ids)
        unknown_document = next((name for name in names if name not in self._rows), None)
        if unknown_document is not None:
            raise InputError(f"document {shown(unknown_document)} is not in the corpus")
        return [self._texts[self._rows[name]].decode("utf-8", "surrogatepass") for name in names]
