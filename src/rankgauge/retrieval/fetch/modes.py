"""A retriever from a few words, as the command line and a configuration have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from rankgauge.errors import UsageError, nearest, shown
from rankgauge.retrieval.base import Questions, Retriever
from rankgauge.retrieval.corpus.documents import Documents
from rankgauge.retrieval.decisions import Decisions
from rankgauge.retrieval.embedders.base import Embedder
from rankgauge.retrieval.embedders.named import embedder
from rankgauge.retrieval.engines.bm25 import Bm25
from rankgauge.retrieval.engines.callables import Called
from rankgauge.retrieval.engines.gate import Gated
from rankgauge.retrieval.engines.hybrid import Hybrid
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.retrieval.engines.rerank import TOP, Reranked, reranker
from rankgauge.retrieval.engines.router import Centroids, Routed
from rankgauge.retrieval.engines.vector import Exact, Vector
from rankgauge.retrieval.fusion.fusion import RRF_K
from rankgauge.retrieval.loading import is_spec, load
from rankgauge.retrieval.texts import Texts

MODES = ("lexical", "vector", "hybrid")


@dataclass(frozen=True)
class RetrieverSettings:
    """All that can be said of a retriever. The defaults are those of the command line."""

    mode: str = "lexical"  # lexical, vector, hybrid, or module:callable
    bm25: Bm25 = field(default_factory=Bm25)
    stemmer: str = "english"
    stopwords: str | Sequence[str] = "english"
    embedder: str = "wordllama"
    document_vectors: str | None = None  # .npy, in the corpus's order, instead of an embedder
    query_vectors: str | None = None
    centre: float | None = None  # how much of the mean vector is taken off; None for what the embedder asks for
    search: str = "exact"  # or faiss, or faiss:FACTORY
    fusion: str = "rrf"
    weights: tuple[float, ...] | None = None
    normalise: str = "min-max"
    rrf_k: float = RRF_K
    rerank: str | None = None  # sentences, cross-encoder/MODEL, module:callable
    rerank_top: int = TOP
    gate: str | None = None
    shadow: bool = False
    router: str | None = None  # a module:callable instead of centroids
    id_key: str | None = None
    index: str | None = None  # a folder to keep indexes in


def settings_from(given: Mapping[str, Any]) -> RetrieverSettings:
    """Settings from the options of ``runs fetch`` or the keys of a configuration; what is not said has its default."""
    said: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if "weights" in said:
        said["weights"] = tuple(said["weights"])
    if "vectors" in said:
        said["document_vectors"] = said["vectors"]
    said["bm25"] = Bm25(**{name: said[name] for name in ("k1", "b", "variant") if name in said})
    return RetrieverSettings(**{one.name: said[one.name] for one in fields(RetrieverSettings) if one.name in said})


def make_retriever(
    settings: RetrieverSettings,
    documents: Documents | None,
    queries: Questions | None = None,
    *,
    experts: Mapping[str, Documents] | None = None,
    decisions: Decisions | None = None,
) -> Retriever:
    """The retriever that the settings describe: a mode, perhaps routed over experts, reranked, behind a gate."""
    decisions = decisions or Decisions()
    build = _Builder(settings, queries)
    if experts:
        made: Retriever = build.routed(experts, decisions)
    else:
        made = build.plain(documents, "")
    if settings.rerank is not None:
        corpora = list(experts.values()) if experts else [build.needed(documents)]
        by = reranker(settings.rerank, build.embedder)
        made = Reranked(made, by, Texts(*corpora), top=settings.rerank_top, decisions=decisions)
    if settings.gate is not None:
        made = Gated(made, settings.gate, decisions=decisions, shadow=settings.shadow)
    return made


class _Builder:
    """Makes the parts; the embedder is loaded once."""

    def __init__(self, settings: RetrieverSettings, queries: Questions | None) -> None:
        self.settings, self.queries = settings, queries
        self._embedder: Embedder | None = None

    def embedder(self) -> Embedder:
        """The one that the settings name."""
        if self._embedder is None:
            self._embedder = embedder(self.settings.embedder)
        return self._embedder

    def needed(self, documents: Documents | None) -> Documents:
        """The corpus; an error where there is none."""
        if documents is None:
            raise UsageError(f"{self.settings.mode} retrieval needs a corpus", hint="name it: --corpus")
        return documents

    def plain(self, documents: Documents | None, below: str) -> Retriever:
        """One mode over one corpus."""
        mode = self.settings.mode
        if mode == "lexical":
            return self._lexical(self.needed(documents), below)
        if mode == "vector":
            return self._vector(self.needed(documents), below)
        if mode == "hybrid":
            corpus = self.needed(documents)
            return Hybrid(
                [self._lexical(corpus, below), self._vector(corpus, below)],
                method=self.settings.fusion,
                weights=self.settings.weights,
                normalise=self.settings.normalise,
                rrf_k=self.settings.rrf_k,
            )
        if is_spec(mode):
            return Called(load(mode, "retriever"), name=mode.partition(":")[2], id_key=self.settings.id_key)
        close = nearest(mode, MODES)
        raise UsageError(
            f"no mode {shown(mode)}" + (f"; did you mean {close}?" if close else ""),
            hint=f"one of {', '.join(MODES)}, or module:callable",
        )

    def routed(self, experts: Mapping[str, Documents], decisions: Decisions) -> Retriever:
        """An index for each expert, and a choice between them."""
        parts = {name: self.plain(corpus, name) for name, corpus in experts.items()}
        given = self.settings.router
        chooser: Centroids | Callable[[str], str]
        chooser = Centroids(experts, self.embedder()) if given is None else load(given, "router")
        return Routed(parts, chooser, decisions=decisions)

    def _lexical(self, documents: Documents, below: str) -> Lexical:
        return Lexical(
            documents,
            parameters=self.settings.bm25,
            stemmer=self.settings.stemmer,
            stopwords=self.settings.stopwords,
            index=self._folder(below, "lexical"),
        )

    def _vector(self, documents: Documents, below: str) -> Vector:
        return Vector(
            documents,
            self._precomputed(documents) or self.embedder(),
            search=_search(self.settings.search),
            centre=self.settings.centre,
            index=self._folder(below, "vector"),
        )

    def _precomputed(self, documents: Documents) -> Embedder | None:
        rows, asked = self.settings.document_vectors, self.settings.query_vectors
        if rows is None and asked is None:
            return None
        if rows is None or asked is None or self.queries is None:
            raise UsageError("precomputed vectors are needed for documents and for queries")
        from rankgauge.retrieval.embedders.precomputed import Precomputed

        return Precomputed(rows, (document.id for document in documents), asked, list(self.queries.ids))

    def _folder(self, below: str, kind: str) -> Path | None:
        if self.settings.index is None:
            return None
        return Path(self.settings.index) / below / kind if below else Path(self.settings.index) / kind


def _search(text: str) -> Any:
    kind, _, factory = text.partition(":")
    if kind == "exact":
        return Exact
    if kind == "faiss":
        from functools import partial

        from rankgauge.retrieval.engines.faiss import Faiss

        return partial(Faiss, factory=factory or "Flat")
    raise UsageError(f"no index {shown(text)}", hint="exact, faiss, or faiss:FACTORY such as faiss:HNSW32")
