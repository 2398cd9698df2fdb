"""For those who hold lists: retrieved ids and relevant ids. Thin over the one join and the one registry of measures.

    ids              what a caller may give for ids, checked
    joined           lists in, ``Hits`` out; which measures count a repeated document, which read grades
    functions        hit_at_k  ndcg_at_k  precision_at_k  recall_at_k  f1_at_k  average_precision_at_k
                     reciprocal_rank  mean_reciprocal_rank  mean_average_precision  first_relevant_position  count_hits
    batch            evaluate_retrieval_batch  batch_evaluate_metrics
    significance     calculate_confidence_interval  statistical_significance_test
    calculator       MetricsCalculator  IRMetrics
    aggregator       ReportAggregator
    suite            RetrievalMetricsSuite

No formula stands here: a number is a measure of the registry applied to the join of the lists.
"""
