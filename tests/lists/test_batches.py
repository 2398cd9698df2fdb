"""Values that are kept in memory: by the names of the specification, and by the content of a batch."""

from __future__ import annotations

from typing import Any

import pytest

from rankgauge import RetrievalMetricsSuite, UsageError, batch_evaluate_metrics
from rankgauge.lists import MetricsCache

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
    assert cache.get_cached_metric("q1", "ndcg", 5) is None
    assert cache.get_cached_metric("q2", "ndcg", 10) is None
    assert cache.info() == type(cache.info())(hits=1, misses=3, entries=1)
    cache.clear()
    assert cache.get_cached_metric("q1", "ndcg", 10) is None


@pytest.mark.parametrize(
    "name", ["ndcg", "nDCG", "P", "precision", "routing_accuracy", "faithfulness", "first id", "", "a,b@"]
)
def test_any_name_of_a_metric_is_kept_as_written(name: str) -> None:
    suite = RetrievalMetricsSuite()
    suite.register("first id", lambda relevant, retrieved: float(retrieved[0] in relevant))
    names = ["ndcg", "nDCG", "P", "precision", "routing_accuracy", "faithfulness", *suite.metrics, "", "a,b@"]
    cache = MetricsCache()
    for place, other in enumerate(set(names) - {name}):
        cache.cache_metric("q1", other, 3, place)
    assert cache.get_cached_metric("q1", name, 3) is None
    cache.cache_metric("q1", name, 3, -1)
    assert cache.get_cached_metric("q1", name, 3) == -1.0
    assert cache.get_cached_metric("q1", name, 5) is None


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
