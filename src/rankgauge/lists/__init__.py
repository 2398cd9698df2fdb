"""Evaluation of plain lists: retrieved ids and relevant ids in, numbers out.

    functions    hit_at_k  ndcg_at_k  precision_at_k  recall_at_k  f1_at_k  average_precision_at_k
                 reciprocal_rank  mean_reciprocal_rank  mean_average_precision  first_relevant_position  count_hits
    batches      evaluate_retrieval_batch  batch_evaluate_metrics  MetricsCache
    calculator   MetricsCalculator  IRMetrics  ReportAggregator
    suite        RetrievalMetricsSuite  calculate_confidence_interval  statistical_significance_test
    list_join    lists in, ``Hits`` out; which measures count a repeated document and which read grades

There are no formulas here: every number is a measure of the registry applied to the join of the lists.
Names are imported when they are first used.
"""

from rankgauge.core.public_names import attach

__getattr__, __dir__ = attach(__name__, __file__)
