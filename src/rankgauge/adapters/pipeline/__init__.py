"""The steps around retrieval: which expert a query is sent to, whether anything is retrieved, what a reranker does.

    pairs     two things known of the same queries, brought together by name or by place
    routing   routing_accuracy: the right expert, the confusions, the first n
    gate      gate_efficiency: retrievals saved, and what they cost
    rerank    reranking_improvement: in percent, with its interval
    log       evaluate_pipeline: all three from a JSON Lines log

Each number that is usually quoted comes with what it leaves out.
"""
