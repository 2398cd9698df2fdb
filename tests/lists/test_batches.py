"""Values that are kept in memory: by the names of the specification, and by the content of a batch."""

from __future__ import annotations

from typing import Any

import pytest

from rankgauge import MetricsCache, UsageError, batch_evaluate_metrics

QUERIES: list[dict[str, Any]] = [
    {"relevant_docs": ["a"], "retrieved_docs": ["a", "b"]},
    {"relevant_docs": ["c"], "retrieved_docs": ["x", "c"]},
    {"relevant_docs": ["d"], "retrieved_docs": ["x"]},
]


def test_the_names_of_the_specification_work() -> None:
    cache = MetricsCache()
    assert cache.get_cached_metric("q1", "ndcg", 10) is None
    cache.cache_metric("q1", "ndcg", 10, 0.5)
    assert cache.get_cached_metric("q1", "ndcg", 10) == 0.5
    assert cache.get_cached_metric("q1", "nDCG", 10) == 0.5
    assert cache.get_cached_metric("q1", "ndcg", 5) is None
    assert cache.get_cached_metric("q2", "ndcg", 10) is None
    assert cache.info() == type(cache.info())(hits=2, misses=3, entries=1)
    cache.clear()
    assert cache.get_cached_metric("q1", "ndcg", 10) is None


def test_a_metric_that_is_no_measure_has_its_own_name() -> None:
    cache = MetricsCache()
    cache.cache_metric("q1", "routing_accuracy", 3, 1)
    assert cache.get_cached_metric("q1", "routing_accuracy", 3) == 1.0
    assert cache.get_cached_metric("q1", "faithfulness", 3) is None


def test_memory_is_bounded() -> None:
    cache = MetricsCache(max_entries=2)
    for query in "ab":
        cache.cache_metric(query, "mrr", 10, 1.0)
    assert cache.get_cached_metric("a", "mrr", 10) == 1.0
    cache.cache_metric("c", "mrr", 10, 1.0)
    assert [cache.get_cached_metric(query, "mrr", 10) for query in "abc"] == [1.0, None, 1.0]
    with pytest.raises(UsageError, match="at least 1"):
        MetricsCache(max_entries=0)


def test_a_batch_is_computed_once_and_a_changed_one_again() -> None:
    cache = MetricsCache()
    expected = batch_evaluate_metrics(QUERIES, batch_size=2)
    assert batch_evaluate_metrics(QUERIES, batch_size=2, cache=cache) == expected
    assert cache.info().hits == 0
    assert batch_evaluate_metrics(QUERIES, batch_size=2, cache=cache) == expected
    assert cache.info().hits == 2 * len(expected)
    changed = [*QUERIES[:2], {"relevant_docs": ["d"], "retrieved_docs": ["d"]}]
    assert batch_evaluate_metrics(changed, batch_size=2, cache=cache) == batch_evaluate_metrics(changed)
    assert cache.info().hits == 3 * len(expected)  # the first two queries are the same batch
