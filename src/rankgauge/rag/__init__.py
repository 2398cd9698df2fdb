"""Retrievers of a RAG application: documents as they come, one query, a batch, or a live retriever.

    documents   Document, and where the id of anything that a retriever returns is found
    scoring     ids in, Scores out: the seven measures and what the caller asks for beside them
    metrics     QueryMetrics: one query's numbers
    results     RetrievalResult: those of all queries, their means, and how sure those are
    evaluator   RetrievalEvaluator: evaluate_single, evaluate_batch
    cases       test cases from JSON Lines, CSV or dicts
    calls       how a retriever is called: which method, how it takes k, what it gives back
    asking      every case asked: in turn, in threads or awaited, with time-outs and retries
    live        evaluate_retriever, evaluate_retriever_async
    progress    a bar on standard error

No library of documents is imported: they are known by their shape.
"""
