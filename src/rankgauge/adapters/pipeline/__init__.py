"""The steps around retrieval: which expert gets a query, whether anything is retrieved, what a reranker changes.

    paired_values     two values for each query, aligned by query id or by position
    routing_accuracy  the share sent to the best expert, confusions, accuracy in the top n
    gate_efficiency   retrievals saved, and what they cost
    reranking         reranking_improvement: in percent, with its interval
    pipeline_log      evaluate_pipeline: all three from a JSON Lines log

Each commonly quoted number comes with what it leaves out.
"""
