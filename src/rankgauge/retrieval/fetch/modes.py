"""Build a retriever from settings, as the command line and a configuration file give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from rankgauge.config.retriever_settings import (
    CALL_OPTIONS,
    Bm25Parameters,
    RetrieverCalls,
    RetrieverSettings,
)
from rankgauge.config.retrievers import RetrieverSection
from rankgauge.core.settings import declared
from rankgauge.errors import UsageError, shown
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.retrieval.base import QueryBatch, Retriever
from rankgauge.retrieval.decisions import Decisions
from rankgauge.retrieval.embedders.base import Embedder
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.embedders.precomputed import PrecomputedEmbedder
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.exact import Exact
from rankgauge.retrieval.engines.faiss import Faiss
from rankgauge.retrieval.engines.gate import GatedRetriever
from rankgauge.retrieval.engines.hybrid import Hybrid
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.engines.rerank import RerankedRetriever, make_reranker
from rankgauge.retrieval.engines.router import CentroidRouter, RoutedRetriever, RouterFunction
from rankgauge.retrieval.engines.vector import Vector
from rankgauge.retrieval.loading import load_object, unknown_name
from rankgauge.retrieval.named import is_own_retriever, open_retriever
from rankgauge.retrieval.texts import DocumentTexts

RETRIEVER_MODES = ("lexical", "vector", "hybrid")
OWN_MODE = "own"  # the mode of a retriever that a section describes


def settings_from(options: Mapping[str, Any]) -> RetrieverSettings:
    """Settings from the options of ``runs fetch`` or the keys of a configuration; None means the default."""
    values: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if "weights" in values:
        values["weights"] = tuple(values["weights"])
    values["calls"] = RetrieverCalls(**{name: values[name] for name in CALL_OPTIONS if name in values})
    values["bm25"] = Bm25Parameters(**{name: values[name] for name in declared(Bm25Parameters) if name in values})
    names = [entry.name for entry in fields(RetrieverSettings)]
    return RetrieverSettings(**{name: values[name] for name in names if name in values})


def settings_of_section(section: RetrieverSection, given: Mapping[str, Any] | None = None) -> RetrieverSettings:
    """Settings from the section of a configuration; ``given`` options override it."""
    source = {"source": section, "mode": OWN_MODE} if section.is_own else {}
    return settings_from({**section.model_dump(), **source, **(given or {})})


def make_retriever(
    settings: RetrieverSettings,
    documents: Corpus | None,
    queries: QueryBatch | None = None,
    *,
    experts: Mapping[str, Corpus] | None = None,
    decisions: Decisions | None = None,
) -> Retriever:
    """Build the retriever that the settings describe: a mode, optionally routed to experts, reranked, and gated."""
    decisions = decisions or Decisions()
    builder = _RetrieverBuilder(settings, queries)
    if experts:
        retriever: Retriever = builder.build_routed(experts, decisions)
    else:
        retriever = builder.build_mode(documents, "")
    if settings.rerank is not None:
        corpora = list(experts.values()) if experts else [builder.check_corpus(documents)]
        reranker = make_reranker(settings.rerank, builder.load_embedder)
        texts = DocumentTexts(*corpora)
        retriever = RerankedRetriever(retriever, reranker, texts, top=settings.rerank_top, decisions=decisions)
    if settings.gate is not None:
        retriever = GatedRetriever(retriever, settings.gate, decisions=decisions, shadow=settings.shadow)
    return retriever


class _RetrieverBuilder:
    """Build the parts of a retriever; the embedder is loaded once."""

    def __init__(self, settings: RetrieverSettings, queries: QueryBatch | None) -> None:
        self.settings, self.queries = settings, queries
        self._embedder: Embedder | None = None

    def load_embedder(self) -> Embedder:
        """The embedder that the settings name."""
        if self._embedder is None:
            self._embedder = embedder(self.settings.embedder)
        return self._embedder

    def check_corpus(self, documents: Corpus | None) -> Corpus:
        """The corpus; an error if there is none."""
        if documents is None:
            raise UsageError(f"{self.settings.mode} retrieval needs a corpus", hint="name it: --corpus")
        return documents

    def build_mode(self, documents: Corpus | None, expert: str) -> Retriever:
        """One mode over one corpus, of an expert if it is named."""
        mode = self.settings.mode
        if self.settings.source is not None:
            return self._build_own(self.settings.source)
        if mode in RETRIEVER_MODES:
            self._check_no_asking_options()
        if mode == "lexical":
            return self._build_lexical(self.check_corpus(documents), expert)
        if mode == "vector":
            return self._build_vector(self.check_corpus(documents), expert)
        if mode == "hybrid":
            corpus = self.check_corpus(documents)
            return Hybrid(
                [self._build_lexical(corpus, expert), self._build_vector(corpus, expert)],
                method=self.settings.fusion,
                weights=self.settings.weights,
                normalization=self.settings.normalization,
                rrf_k=self.settings.rrf_k,
            )
        if is_own_retriever(mode):
            return self._build_own(mode)
        raise unknown_name("mode", mode, RETRIEVER_MODES, f"{', '.join(RETRIEVER_MODES)}, or module:callable")

    def _build_own(self, source: Any) -> Retriever:
        """A retriever of the user's own; one that answers batches is asked for batches."""
        opened, settings = open_retriever(source), self.settings
        if isinstance(opened.retriever, Retriever) and self._asking_option() is None:
            return opened.retriever
        return CallableRetriever(
            opened.retriever,
            name=opened.name,
            id=settings.id,
            unit=settings.unit,
            scores=settings.scores,
            calls=settings.calls,
            made_by=opened.identity,
        )

    def _check_no_asking_options(self) -> None:
        """Raise if an option was given that only applies to a retriever of the user's own: none is ignored."""
        option = self._asking_option()
        if option is not None:
            raise UsageError(f"--{option} applies to --mode module:callable", hint=f"leave out --{option}")

    def _asking_option(self) -> str | None:
        """An option of asking that is not at its default."""
        settings, default = self.settings, RetrieverSettings()
        values = {**vars(settings.calls), "id": settings.id, "unit": settings.unit, "scores": settings.scores}
        defaults = {**vars(default.calls), "id": default.id, "unit": default.unit, "scores": default.scores}
        return next((name for name, value in values.items() if value != defaults[name]), None)

    def build_routed(self, experts: Mapping[str, Corpus], decisions: Decisions) -> Retriever:
        """One index per expert, and a router between them."""
        retrievers = {name: self.build_mode(corpus, name) for name, corpus in experts.items()}
        router: CentroidRouter | RouterFunction
        if self.settings.router is None:
            router = CentroidRouter(experts, self.load_embedder())
        else:
            router = load_object(self.settings.router, "router")
        return RoutedRetriever(retrievers, router, decisions=decisions, path=self.settings.router)

    def _build_lexical(self, documents: Corpus, expert: str) -> Lexical:
        return Lexical(
            documents,
            parameters=self.settings.bm25,
            stemmer=self.settings.stemmer,
            stopwords=self.settings.stopwords,
            index=self._index_folder(expert, "lexical"),
        )

    def _build_vector(self, documents: Corpus, expert: str) -> Vector:
        return Vector(
            documents,
            self._precomputed_embedder(documents) or self.load_embedder(),
            search=_index_type(self.settings.search),
            center=self.settings.center,
            index=self._index_folder(expert, "vector"),
        )

    def _precomputed_embedder(self, documents: Corpus) -> Embedder | None:
        document_vectors, query_vectors = self.settings.vectors, self.settings.query_vectors
        if document_vectors is None and query_vectors is None:
            return None
        if document_vectors is None or query_vectors is None or self.queries is None:
            raise UsageError("precomputed vectors are needed for both documents and queries")
        document_ids = (document.id for document in documents)
        return PrecomputedEmbedder(document_vectors, document_ids, query_vectors, list(self.queries.ids))

    def _index_folder(self, expert: str, kind: str) -> Path | None:
        if self.settings.index is None:
            return None
        return Path(self.settings.index) / expert / kind if expert else Path(self.settings.index) / kind


def _index_type(search: str) -> Any:
    kind, _, factory = search.partition(":")
    if kind == "exact":
        return Exact
    if kind == "faiss":
        return partial(Faiss, factory=factory or "Flat")
    raise UsageError(
        f"unknown search {shown(search)}", hint="choose exact, faiss, or faiss:FACTORY such as faiss:HNSW32"
    )
