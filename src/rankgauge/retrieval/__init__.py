"""Retrieval: corpus and queries in, a run out. Retrievers see ids and texts, never judgments.

Names are imported when they are first used, so that ``import rankgauge.retrieval`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.retrieval.base import QueryBatch, Retriever, retrieve_run
    from rankgauge.retrieval.decisions import Decisions
    from rankgauge.retrieval.embedders.base import Embedder
    from rankgauge.retrieval.embedders.callables import CallableEmbedder
    from rankgauge.retrieval.embedders.named import embedder
    from rankgauge.retrieval.engines.bm25 import Bm25Parameters
    from rankgauge.retrieval.engines.callables import CallableRetriever
    from rankgauge.retrieval.engines.gate import GatedRetriever
    from rankgauge.retrieval.engines.hybrid import Hybrid
    from rankgauge.retrieval.engines.lexical import Lexical
    from rankgauge.retrieval.engines.rerank import CallableReranker, RerankedRetriever, Reranker
    from rankgauge.retrieval.engines.router import CentroidRouter, RoutedRetriever
    from rankgauge.retrieval.engines.vector import Vector
    from rankgauge.retrieval.fetch.fetch import FetchOptions, FetchResult, fetch_run
    from rankgauge.retrieval.fetch.latency import Latency, latency_percentiles, measure_latency
    from rankgauge.retrieval.fetch.modes import RetrieverSettings, make_retriever
    from rankgauge.retrieval.fusion.fusion import fuse
    from rankgauge.retrieval.fusion.grid import FusionChoice
    from rankgauge.retrieval.fusion.tune import TuningResult, tune
    from rankgauge.retrieval.texts import DocumentTexts

_HOMES = {
    "Bm25Parameters": "engines.bm25",
    "CallableEmbedder": "embedders.callables",
    "CallableReranker": "engines.rerank",
    "CallableRetriever": "engines.callables",
    "CentroidRouter": "engines.router",
    "Decisions": "decisions",
    "DocumentTexts": "texts",
    "Embedder": "embedders.base",
    "FetchOptions": "fetch.fetch",
    "FetchResult": "fetch.fetch",
    "FusionChoice": "fusion.grid",
    "GatedRetriever": "engines.gate",
    "Hybrid": "engines.hybrid",
    "Latency": "fetch.latency",
    "Lexical": "engines.lexical",
    "QueryBatch": "base",
    "RerankedRetriever": "engines.rerank",
    "Reranker": "engines.rerank",
    "Retriever": "base",
    "RetrieverSettings": "fetch.modes",
    "RoutedRetriever": "engines.router",
    "TuningResult": "fusion.tune",
    "Vector": "engines.vector",
    "embedder": "embedders.named",
    "fetch_run": "fetch.fetch",
    "fuse": "fusion.fusion",
    "latency_percentiles": "fetch.latency",
    "make_retriever": "fetch.modes",
    "measure_latency": "fetch.latency",
    "retrieve_run": "base",
    "tune": "fusion.tune",
}

__all__ = [
    "Bm25Parameters",
    "CallableEmbedder",
    "CallableReranker",
    "CallableRetriever",
    "CentroidRouter",
    "Decisions",
    "DocumentTexts",
    "Embedder",
    "FetchOptions",
    "FetchResult",
    "FusionChoice",
    "GatedRetriever",
    "Hybrid",
    "Latency",
    "Lexical",
    "QueryBatch",
    "RerankedRetriever",
    "Reranker",
    "Retriever",
    "RetrieverSettings",
    "RoutedRetriever",
    "TuningResult",
    "Vector",
    "embedder",
    "fetch_run",
    "fuse",
    "latency_percentiles",
    "make_retriever",
    "measure_latency",
    "retrieve_run",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankgauge.retrieval' has no attribute {name!r}")
    return getattr(import_module(f"rankgauge.retrieval.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
