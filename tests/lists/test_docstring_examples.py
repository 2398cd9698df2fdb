"""Each function that the specifications define has an example in its docstring, and every example is true."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from rankgauge import adapters
from rankgauge.adapters.pipeline import gate_efficiency, reranking, routing_accuracy
from rankgauge.lists import (
    MetricsCache,
    MetricsCalculator,
    ReportAggregator,
    RetrievalMetricsSuite,
    batches,
    calculator,
    functions,
    suite,
)

MODULES = [functions, batches, calculator, suite, routing_accuracy, gate_efficiency, reranking]
SPECIFIED: list[Callable[..., Any]] = [  # RETRIEVAL-METRICS-001, then SPEC-003
    functions.hit_at_k,
    functions.ndcg_at_k,
    functions.mean_reciprocal_rank,
    functions.mean_average_precision,
    functions.recall_at_k,
    functions.precision_at_k,
    adapters.routing_accuracy,
    adapters.gate_efficiency,
    adapters.reranking_improvement,
    batches.evaluate_retrieval_batch,
    batches.batch_evaluate_metrics,
    MetricsCache.get_cached_metric,
    MetricsCache.cache_metric,
    suite.calculate_confidence_interval,
    suite.statistical_significance_test,
    RetrievalMetricsSuite.evaluate,
    MetricsCalculator.calculate_all,
    MetricsCalculator.precision_at_k,
    MetricsCalculator.recall_at_k,
    MetricsCalculator.mrr,
    MetricsCalculator.count_hits,
    MetricsCalculator.first_relevant_position,
    ReportAggregator.aggregate_metrics,
    ReportAggregator.group_by_category,
    ReportAggregator.group_by_difficulty,
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_example_in_a_docstring_is_true(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize("function", SPECIFIED, ids=lambda function: function.__qualname__)
def test_each_specified_function_has_an_example_that_calls_it(function: Callable[..., Any]) -> None:
    examples = doctest.DocTestParser().get_examples(function.__doc__ or "")
    assert any(f"{function.__name__}(" in example.source for example in examples)
    assert function.__module__ in {module.__name__ for module in MODULES}
