"""Evaluation of plain lists: retrieved ids and relevant ids in, numbers out.

    functions        hit_at_k  ndcg_at_k  precision_at_k  recall_at_k  f1_at_k  average_precision_at_k
                     reciprocal_rank  mean_reciprocal_rank  mean_average_precision  first_relevant_position  count_hits
    batch            evaluate_retrieval_batch  batch_evaluate_metrics
    significance     calculate_confidence_interval  statistical_significance_test
    calculator       MetricsCalculator  IRMetrics
    aggregator       ReportAggregator
    suite            RetrievalMetricsSuite
    ids              the ids of a caller, checked
    inputs           a batch of queries and results, checked
    joined           lists in, ``Hits`` out; which measures count a repeated document and which read grades

There are no formulas here: every number is a measure of the registry applied to the join of the lists.
Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.lists.aggregator import ReportAggregator
    from rankgauge.lists.batch import batch_evaluate_metrics, evaluate_retrieval_batch
    from rankgauge.lists.calculator import IRMetrics, MetricsCalculator
    from rankgauge.lists.functions import (
        average_precision_at_k,
        count_hits,
        f1_at_k,
        first_relevant_position,
        hit_at_k,
        mean_average_precision,
        mean_reciprocal_rank,
        ndcg_at_k,
        precision_at_k,
        recall_at_k,
        reciprocal_rank,
    )
    from rankgauge.lists.significance import (
        Significance,
        calculate_confidence_interval,
        statistical_significance_test,
    )
    from rankgauge.lists.suite import RetrievalMetricsSuite, SuiteResult

_HOMES = {
    "IRMetrics": "calculator",
    "MetricsCalculator": "calculator",
    "ReportAggregator": "aggregator",
    "RetrievalMetricsSuite": "suite",
    "Significance": "significance",
    "SuiteResult": "suite",
    "average_precision_at_k": "functions",
    "batch_evaluate_metrics": "batch",
    "calculate_confidence_interval": "significance",
    "count_hits": "functions",
    "evaluate_retrieval_batch": "batch",
    "f1_at_k": "functions",
    "first_relevant_position": "functions",
    "hit_at_k": "functions",
    "mean_average_precision": "functions",
    "mean_reciprocal_rank": "functions",
    "ndcg_at_k": "functions",
    "precision_at_k": "functions",
    "recall_at_k": "functions",
    "reciprocal_rank": "functions",
    "statistical_significance_test": "significance",
}

__all__ = [
    "IRMetrics",
    "MetricsCalculator",
    "ReportAggregator",
    "RetrievalMetricsSuite",
    "Significance",
    "SuiteResult",
    "average_precision_at_k",
    "batch_evaluate_metrics",
    "calculate_confidence_interval",
    "count_hits",
    "evaluate_retrieval_batch",
    "f1_at_k",
    "first_relevant_position",
    "hit_at_k",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "ndcg_at_k",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
    "statistical_significance_test",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankgauge.lists' has no attribute {name!r}")
    return getattr(import_module(f"rankgauge.lists.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
