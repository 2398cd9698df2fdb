"""Evaluation of the retriever of a RAG application: one query, a batch of documents, or a live retriever.

    documents   Document, and where the id of anything that a retriever returns is found
    scoring     ids in, Scores out: the seven measures and any others that were requested
    metrics     QueryMetrics: the values of one query
    results     RetrievalResult: the values of all queries, their means and intervals
    evaluator   RetrievalEvaluator: evaluate_single, evaluate_batch
    cases       test cases from JSON Lines, CSV or dicts
    retrievers  which method of a retriever is called, how it takes k, what it returns
    calls       RetrieverCalls: every test case sent to a retriever, with timeouts and retries
    loops       calls in threads and in event loops
    live        evaluate_retriever, evaluate_retriever_async
    progress    a progress bar on standard error

No document library is imported: documents are recognized by their shape. Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.rag.calls import RetrieverCalls
    from rankgauge.rag.cases import read_cases
    from rankgauge.rag.documents import Document
    from rankgauge.rag.evaluator import RetrievalEvaluator
    from rankgauge.rag.live import evaluate_retriever, evaluate_retriever_async
    from rankgauge.rag.metrics import QueryMetrics
    from rankgauge.rag.results import RetrievalResult

_HOMES = {
    "Document": "documents",
    "QueryMetrics": "metrics",
    "RetrievalEvaluator": "evaluator",
    "RetrievalResult": "results",
    "RetrieverCalls": "calls",
    "evaluate_retriever": "live",
    "evaluate_retriever_async": "live",
    "read_cases": "cases",
}

__all__ = [
    "Document",
    "QueryMetrics",
    "RetrievalEvaluator",
    "RetrievalResult",
    "RetrieverCalls",
    "evaluate_retriever",
    "evaluate_retriever_async",
    "read_cases",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankgauge.rag' has no attribute {name!r}")
    return getattr(import_module(f"rankgauge.rag.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
