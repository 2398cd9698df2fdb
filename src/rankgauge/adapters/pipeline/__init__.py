"""The steps around retrieval: which expert gets a query, whether anything is retrieved, what a reranker changes.

    pairs     two values for each query, aligned by query id or by position
    routing   routing_accuracy: the share sent to the best expert, confusions, accuracy in the top n
    gate      gate_efficiency: retrievals saved, and what they cost
    rerank    reranking_improvement: in percent, with its interval
    steps     which keys of a log hold which step
    log       evaluate_pipeline: all three from a JSON Lines log

Each commonly quoted number comes with what it leaves out.
"""
