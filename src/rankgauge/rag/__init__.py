"""Evaluation of the retriever of a RAG application: one query, a batch of documents, or a live retriever.

    scoring            ids in, Scores out: the seven measures and any others that were requested
    retrieval_result   RetrievalResult, and QueryMetrics of each query: values, means and intervals
    evaluator          RetrievalEvaluator: evaluate_single, evaluate_batch
    cases              test cases from JSON Lines, CSV or dicts
    live               evaluate_retriever, evaluate_retriever_async

How a retriever is called and its answers are read is in :mod:`rankgauge.retrieval.asking`. No document library is
imported: documents are recognized by their shape. Names are imported when they are first used.
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
