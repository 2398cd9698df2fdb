from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, MeasureError, RetrievalMetricsSuite, UsageError, evaluate
from rankgauge.errors import InputTypeError
from rankgauge.lists import average_precision_at_k, mean_average_precision

BLOCK = """\
retrieval_metrics:
  enabled_metrics:
    - hit@1
    - hit@3
    - hit@5
    - hit@10
    - ndcg@5
    - ndcg@10
    - mrr
    - map@10

  graded_relevance: false  # Enable graded relevance scoring

  statistical_analysis:
    confidence_intervals: true
    significance_testing: true
    alpha_level: 0.05

  performance:
    batch_size: 100
    caching_enabled: true
    parallel_processing: true
"""
QUERIES: list[dict[str, Any]] = [
    {"relevant_docs": ["a", "b"], "relevance_grades": {"a": 1, "b": 3}},
    {"relevant_docs": ["c"], "relevance_grades": {"c": 2}},
    {"relevant_docs": ["d"]},
]
RESULTS = [["a", "b"], ["x", "c"], ["x"]]


@pytest.fixture
def suite(tmp_path: Path) -> RetrievalMetricsSuite:
    (tmp_path / "rankgauge.yaml").write_text(BLOCK)
    return RetrievalMetricsSuite(tmp_path / "rankgauge.yaml")


def test_the_registered_names_are_those_of_the_specification() -> None:
    assert set(RetrievalMetricsSuite().metrics) == {"hit", "ndcg", "mrr", "map", "recall", "precision"}


def test_metrics_are_evaluated_by_name() -> None:
    suite = RetrievalMetricsSuite()
    assert suite.evaluate("hit", ["a"], ["x", "a"], k=2) == 1.0
    assert suite.evaluate("ndcg", ["a"], ["a"], 10, relevance_grades={"a": 2}) == 1.0
    assert suite.evaluate("mrr", [["a"], ["b"]], [["a"], ["x", "b"]]) == 0.75
    assert suite.evaluate("map", [["a"]], [["x", "a"]]) == 0.5
    assert suite.evaluate("recall", ["a", "b"], ["a"], 1) == 0.5
    assert suite.evaluate("precision", ["a"], ["a"], 2) == 0.5


def test_map_takes_the_ids_of_one_query_or_one_list_per_query() -> None:
    evaluate = RetrievalMetricsSuite().evaluate
    one, several = (["a", "b"], ["x", "a", "y", "b"]), ([["a", "b"], ["c"]], [["x", "a", "y", "b"], ["c"]])
    assert evaluate("map", *one) == average_precision_at_k(*one, k=None) == 0.5
    assert evaluate("map", *one, 2) == evaluate("map", *one, k=2) == 0.25
    assert evaluate("map", "a", ["x", "a"]) == 0.5
    assert evaluate("map", {"a", "b"}, iter(["x", "a", "y", "b"])) == 0.5
    assert evaluate("map", *several) == mean_average_precision(*several) == 0.75
    assert evaluate("map", *several, k=2) == (0.25 + 1) / 2
    assert evaluate("map", iter(several[0]), iter(several[1])) == 0.75
    assert evaluate("map", ["a", "c"], [["x", "a"], ["c"]]) == 0.75  # one list per query on one side is enough
    assert evaluate("map", [["a"], ["c"]], ["a", "x"]) == 0.5
    assert evaluate("map", [], []) == evaluate("map", ["a"], []) == evaluate("map", [], ["a"]) == 0.0
    with pytest.raises(InputError, match="found 2 and 1"):
        evaluate("map", [["a"]], [["a"], ["b"]])
    for wrong in (5, None, {"a": 1}, [1]):
        with pytest.raises(InputTypeError):
            evaluate("map", wrong, ["a"])


def test_mrr_has_one_entry_per_query_and_a_string_is_one_id() -> None:
    evaluate = RetrievalMetricsSuite().evaluate
    assert evaluate("mrr", ["a", "b"], [["x", "a"], ["b"]]) == 0.75
    assert evaluate("mrr", ["a", "b"], ["b", "b"]) == 0.5
    with pytest.raises(InputError, match="found 2 and 1"):
        evaluate("mrr", ["a"], ["x", "a"])


IDS = st.lists(st.sampled_from("abcdef"), max_size=6, unique=True)


@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=5), st.integers(1, 7) | st.none())
def test_map_is_the_plain_mean_of_the_precisions_at_relevant_ranks(
    rows: list[tuple[list[str], list[str]]], k: int | None
) -> None:
    values = []
    for relevant, retrieved in rows:
        total, found = 0.0, 0
        for rank, doc in enumerate(retrieved[:k], 1):
            if doc in relevant:
                found += 1
                total += found / rank
        values.append(total / len(relevant) if relevant else 0.0)
        assert RetrievalMetricsSuite().evaluate("map", relevant, retrieved, k) == pytest.approx(values[-1], abs=1e-12)
    found_mean = RetrievalMetricsSuite().evaluate("map", [row[0] for row in rows], [row[1] for row in rows], k)
    assert found_mean == pytest.approx(sum(values) / len(values), abs=1e-12)


def test_any_measure_can_be_evaluated_by_its_name() -> None:
    suite = RetrievalMetricsSuite()
    assert suite.evaluate("nDCG@10", ["a", "b"], ["a", "b"], {"b": 3}) == pytest.approx(0.7967, abs=1e-4)
    assert suite.evaluate("RR(rel=2)", ["a"], ["a"]) == 0.0
    assert suite.evaluate("FirstRel", ["a"], ["x"]) is None
    assert suite.evaluate("ERR@10", ["a"], ["a"]) == 0.5


def test_an_unknown_metric_is_a_value_error_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"Unknown metric: recal\nhint: did you mean recall"):
        RetrievalMetricsSuite().evaluate("recal", ["a"], ["a"])
    with pytest.raises(MeasureError, match="Unknown metric: qwertz"):
        RetrievalMetricsSuite().evaluate("qwertz", ["a"], ["a"])


def test_a_custom_metric_is_registered_once() -> None:
    suite = RetrievalMetricsSuite()
    suite.register("first", lambda relevant, retrieved: float(retrieved[0] in relevant))
    assert suite.evaluate("first", ["a"], ["a"]) == 1.0
    with pytest.raises(UsageError, match="is already registered"):
        suite.register("hit", lambda: 0.0)


def test_a_configuration_selects_the_metrics_and_ignores_grades(suite: RetrievalMetricsSuite) -> None:
    found = suite.evaluate_batch(QUERIES, RESULTS)
    assert list(found.metrics) == ["hit@1", "hit@3", "hit@5", "hit@10", "ndcg@5", "ndcg@10", "mrr", "map@10"]
    assert found.per_query["ndcg@10"][0] == 1.0
    assert found.metrics["mrr"] == 0.5
    low, high = found.intervals["mrr"]
    assert low is not None
    assert high is not None
    assert low < 0.5 < high


def test_intervals_are_those_of_scores(suite: RetrievalMetricsSuite) -> None:
    names = [f"q{number}" for number in range(len(QUERIES))]
    qrels = {name: query["relevant_docs"] for name, query in zip(names, QUERIES, strict=True)}
    scores = evaluate(qrels, dict(zip(names, RESULTS, strict=True)), ["hit@3", "ndcg@10", "mrr"])
    intervals = suite.evaluate_batch(QUERIES, RESULTS).intervals
    for measure in ("hit@3", "ndcg@10", "mrr"):
        wanted = scores.interval(measure)
        assert intervals[measure] == (wanted.low, wanted.high)
    assert scores.interval("hit@3").method == "wilson"


def test_grades_count_by_default() -> None:
    found = RetrievalMetricsSuite({"measures": ["ndcg@10", "ERR@10"]}).evaluate_batch(QUERIES, RESULTS)
    assert found.per_query["ndcg@10"][0] == pytest.approx(0.7967, abs=1e-4)
    assert found.intervals == {}


def test_binary_judgments_have_no_levels() -> None:
    suite = RetrievalMetricsSuite({"measures": {"names": ["P(rel=2)@5"], "graded": False}})
    with pytest.raises(UsageError, match=r"P\(rel=2\)@5 needs grades"):
        suite.evaluate_batch(QUERIES, RESULTS)


@pytest.mark.parametrize("size", [1, 2, 100])
def test_the_size_of_a_batch_changes_nothing(size: int) -> None:
    names = ["ndcg@10", "ERR@10", "mrr"]
    usual = RetrievalMetricsSuite({"measures": names}).evaluate_batch(QUERIES, RESULTS)
    other = RetrievalMetricsSuite({"measures": names, "performance": {"batch_size": size}})
    assert other.evaluate_batch(QUERIES, RESULTS) == usual


def test_computed_values_are_cached_and_a_changed_result_is_computed_anew(suite: RetrievalMetricsSuite) -> None:
    assert suite.cache is not None
    first = suite.evaluate_batch(QUERIES, RESULTS)
    assert suite.cache.info().hits == 0
    assert suite.evaluate_batch(QUERIES, RESULTS) == first
    assert suite.cache.info().hits == 8
    changed = suite.evaluate_batch(QUERIES, [["b", "a"], ["c", "x"], ["d"]])
    assert suite.cache.info().hits == 8
    assert changed.metrics["mrr"] == 1.0


def test_the_cache_tells_generators_apart(suite: RetrievalMetricsSuite) -> None:
    values = [
        suite.evaluate_batch([{"relevant_docs": (doc for doc in ["a"])}], [(doc for doc in ranking)]).metrics["mrr"]
        for ranking in (["a"], ["x", "a"], ["x", "y"])
    ]
    assert values == [1.0, 0.5, 0.0]


def test_two_results_are_compared_query_by_query(suite: RetrievalMetricsSuite) -> None:
    first = suite.evaluate_batch(QUERIES, RESULTS)
    second = suite.evaluate_batch(QUERIES, [["x", "a"], ["x", "y", "c"], ["d"]])
    found = suite.compare(first, second)
    assert set(found) == set(first.metrics)
    assert found["mrr"]["p_value"] is not None
    assert found["mrr"]["test"] == "paired t"


def test_an_error_in_the_configuration_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(BLOCK.replace("batch_size", "bath_size"))
    with pytest.raises(InputError, match=r"c\.yaml:20: (?s:.)*'bath_size'(?s:.)*did you mean 'batch_size'"):
        RetrievalMetricsSuite(tmp_path / "c.yaml")
