from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rankgauge import (
    InputError,
    MeasureError,
    MetricsCache,
    RetrievalMetricsSuite,
    batch_evaluate_metrics,
    evaluate_retrieval_batch,
)
from rankgauge.errors import InputTypeError

QUERIES: list[dict[str, Any]] = [{"query": "one", "relevant_docs": ["a", "b"]}, {"query": "two", "relevant_docs": "c"}]
RESULTS: list[list[dict[str, Any]]] = [
    [{"id": "a"}, {"id": "x"}, {"id": "b"}],
    [{"id": "x"}, {"id": "c", "score": 0.1}],
]


def test_the_default_metrics_are_those_of_the_specification() -> None:
    found = evaluate_retrieval_batch(QUERIES, RESULTS)
    assert list(found) == ["hit@1", "hit@3", "hit@5", "ndcg@5", "ndcg@10", "mrr"]
    assert found["hit@1"] == 0.5
    assert found["hit@3"] == 1.0
    assert found["mrr"] == 0.75


def test_map_recall_and_precision_are_not_ignored() -> None:
    found = evaluate_retrieval_batch(QUERIES, RESULTS, ["map@10", "recall@2", "precision@2"])
    assert found == {"map@10": pytest.approx((5 / 6 + 1 / 2) / 2), "recall@2": 0.75, "precision@2": 0.5}


def test_a_set_of_measures_is_returned_under_canonical_names() -> None:
    assert list(evaluate_retrieval_batch(QUERIES, RESULTS, ["rag@5", "MRR"])) == [
        "P@5", "R@5", "F1@5", "RR@5", "AP@5", "nDCG@5", "Success@5", "MRR"
    ]  # fmt: skip


def test_results_may_be_plain_ids_and_metrics_one_name() -> None:
    assert evaluate_retrieval_batch(QUERIES, [["a"], ["c"]], "hit@1") == {"hit@1": 1.0}


def test_a_cutoff_may_be_a_key_of_the_query() -> None:
    queries = [{"relevant_docs": ["a"], "topK": 1}, {"relevant_docs": ["a"], "topK": 2}]
    assert evaluate_retrieval_batch(queries, [["x", "a"], ["x", "a"]], "R@topK") == {"R@topK": 0.5}


def test_measures_have_the_names_of_their_papers_too() -> None:
    queries = [{"relevant_docs": ["a", "b"], "relevance_grades": {"a": 1, "b": 3}}]
    found = evaluate_retrieval_batch(queries, [["a", "b"]], ["Q-measure", "Q"])
    assert list(found) == ["Q-measure", "Q"]
    assert (
        found["Q-measure"]
        == found["Q"]
        == RetrievalMetricsSuite().evaluate("Q-measure", ["a", "b"], ["a", "b"], {"b": 3})
    )
    suite = RetrievalMetricsSuite({"measures": ["Q-measure"]})
    assert suite.evaluate_batch(queries, [["a", "b"]]).metrics == {"Q-measure": found["Q"]}


def test_grades_can_be_ignored() -> None:
    queries = [{"relevant_docs": ["a", "b"], "relevance_grades": {"a": 1, "b": 3}}]
    graded = evaluate_retrieval_batch(queries, [["a", "b"]], "ndcg@2")["ndcg@2"]
    assert graded == pytest.approx(0.7967, abs=1e-4)
    assert evaluate_retrieval_batch(queries, [["a", "b"]], "ndcg@2", graded=False) == {"ndcg@2": 1.0}


def test_a_batch_without_queries_has_no_mean() -> None:
    assert evaluate_retrieval_batch([], [], ["mrr", "hits"]) == {"mrr": None, "hits": 0.0}
    assert batch_evaluate_metrics([], retrieval_results=[], metrics=["mrr", "hits"]) == {"mrr": None, "hits": 0.0}


def test_an_unknown_metric_is_an_error_with_the_nearest() -> None:
    with pytest.raises(MeasureError, match=r"unknown measure 'ndgc'(?s:.)*did you mean nDCG@5|ndcg"):
        evaluate_retrieval_batch(QUERIES, RESULTS, ["ndgc@5"])


def test_unequal_lengths_are_an_error() -> None:
    with pytest.raises(InputError, match="found 1 and 2"):
        evaluate_retrieval_batch(QUERIES, RESULTS[:1])
    with pytest.raises(InputError, match="found 1 results and more queries"):
        batch_evaluate_metrics(iter(QUERIES), retrieval_results=iter(RESULTS[:1]))
    with pytest.raises(InputError, match="found 1 queries and more results"):
        batch_evaluate_metrics(iter(QUERIES[:1]), retrieval_results=iter(RESULTS))


@pytest.mark.parametrize(
    ("query", "result", "message"),
    [
        (
            {"relevant": ["a"]},
            ["a"],
            "query 1 has no 'relevant_docs'; it has relevant\nhint: write 'relevant_docs' instead of 'relevant'$",
        ),
        ({"retrieved_docs": ["a"]}, ["a"], "query 1 has no 'relevant_docs'; it has retrieved_docs$"),
        ({"relevance_grades": {}, "Relevant-Docs": []}, ["a"], "write 'relevant_docs' instead of 'Relevant-Docs'$"),
        ({}, ["a"], "query 1 has no 'relevant_docs'; it has nothing$"),
        (["a"], ["a"], "query 1 must be a mapping"),
        ({"relevant_docs": ["a"]}, "abc", "result 1 must be a list"),
        ({"relevant_docs": ["a"]}, [{"doc": "a"}], "a document of result 1 has no 'id'"),
        ({"relevant_docs": ["a"]}, [{"id": None}], "retrieved id of query 1 must be a string, found NoneType"),
        ({"relevant_docs": [1]}, ["a"], "relevant id of query 1 must be a string, found int"),
        ({"relevant_docs": ["a"]}, {"a", "b"}, "a set has no order"),
        ({"relevant_docs": ["a"]}, None, "found NoneType"),
    ],
)
def test_errors_name_the_number_of_the_query(query: Any, result: Any, message: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=message):
        evaluate_retrieval_batch([query], [result])


@pytest.mark.parametrize(
    ("keys", "hint"),
    [
        (["relevant_docs"], "pass all results as retrieval_results=, or those of each query under this key"),
        (["relevant_docs", "relevance_grades", "query"], "pass all results as retrieval_results=, or those of"),
        (["relevant_docs", "retrieved"], "write 'retrieved_docs' instead of 'retrieved'"),
        (["relevant_docs", "retrieved_documents"], "write 'retrieved_docs' instead of 'retrieved_documents'"),
    ],
)
def test_a_query_without_results_is_never_told_to_use_its_relevant_ids(keys: list[str], hint: str) -> None:
    query = {key: ["a"] for key in keys}
    with pytest.raises(InputError, match=f"query 1 has no 'retrieved_docs'; it has {', '.join(keys)}\nhint: {hint}"):
        batch_evaluate_metrics([query])


def test_the_hint_for_a_cutoff_of_the_query_names_the_key_to_rename() -> None:
    with pytest.raises(InputError, match=r"query 1 has no 'topK'(?s:.)*hint: write 'topK' instead of 'top_k'$"):
        evaluate_retrieval_batch([{"relevant_docs": ["a"], "top_k": 3}], [["a"]], "R@topK")


def test_streamed_queries_are_numbered_across_batches() -> None:
    queries: list[dict[str, Any]] = [{"relevant_docs": ["a"]}] * 5 + [{}]
    with pytest.raises(InputError, match="query 6 has no"):
        batch_evaluate_metrics(queries, 2, retrieval_results=[["a"]] * 6)


def test_queries_may_hold_their_own_results() -> None:
    queries = [{"relevant_docs": ["a"], "retrieved_docs": ["x", "a"]}, {"relevant_docs": ["b"], "retrieved_docs": []}]
    assert batch_evaluate_metrics(queries, metrics="mrr") == {"mrr": 0.25}


def test_at_most_one_batch_is_in_memory() -> None:
    alive: set[int] = set()
    most = 0

    class Query(dict[str, Any]):
        def __init__(self, number: int) -> None:
            super().__init__(relevant_docs=["a"])
            self.number = number
            alive.add(number)

        def __del__(self) -> None:
            alive.discard(self.number)

    def stream() -> Iterator[Query]:
        nonlocal most
        for number in range(1000):
            yield Query(number)
            most = max(most, len(alive))

    results = (["a"] for _ in range(1000))
    assert batch_evaluate_metrics(stream(), 10, retrieval_results=results, metrics="mrr") == {"mrr": 1.0}
    assert most <= 25


def test_streaming_a_measure_of_the_largest_grade_needs_that_grade_in_its_name() -> None:
    with pytest.raises(MeasureError, match="ERR needs max_rel"):
        batch_evaluate_metrics(QUERIES, retrieval_results=RESULTS, metrics="ERR@5")
    assert batch_evaluate_metrics(QUERIES, retrieval_results=RESULTS, metrics="ERR(max_rel=1)@5") == {
        "ERR(max_rel=1)@5": evaluate_retrieval_batch(QUERIES, RESULTS, "ERR@5")["ERR@5"]
    }


def test_the_second_argument_is_the_batch_size() -> None:
    sizes: list[int] = []

    class Cache(MetricsCache):
        def batch_values(self, batch: Any, measures: Any, compute: Any) -> Any:
            sizes.append(len(batch))
            return super().batch_values(batch, measures, compute)

    queries = [{"relevant_docs": ["a"], "retrieved_docs": ["x", "a"][-1 - place % 2 :]} for place in range(250)]
    found = batch_evaluate_metrics(queries, 100, cache=Cache())
    assert sizes == [100, 100, 50]
    assert found == evaluate_retrieval_batch(queries, [query["retrieved_docs"] for query in queries])
    assert found["mrr"] == 0.75


@pytest.mark.parametrize("size", [0, -1])
def test_the_batch_size_must_be_at_least_1(size: int) -> None:
    with pytest.raises(InputError, match=f"batch_size must be at least 1, found {size}"):
        batch_evaluate_metrics(QUERIES, size)


@pytest.mark.parametrize("size", [RESULTS, True, 1.5, None, "100"])
def test_what_is_no_batch_size_is_an_error_that_says_where_results_go(size: Any) -> None:
    with pytest.raises(
        InputTypeError, match=r"batch_size must be a whole number(?s:.)*pass results as retrieval_results="
    ):
        batch_evaluate_metrics(QUERIES, size)


@pytest.mark.parametrize("name", ["FalseAnswer", "WrongRefusal", "RightAnswer@3", "Leak@3"])
def test_measures_of_answers_and_leaks_are_refused_with_the_reason(name: str) -> None:
    queries: list[dict[str, Any]] = [{"relevant_docs": []}, {"relevant_docs": ["a"]}]
    for refused in (
        lambda: evaluate_retrieval_batch(queries, [[], ["a"]], [name]),
        lambda: batch_evaluate_metrics(queries, retrieval_results=[[], ["a"]], metrics=[name]),
        lambda: RetrievalMetricsSuite().evaluate(name, ["a"], ["a"]),
    ):
        with pytest.raises(MeasureError, match=f"{name} cannot be computed from plain lists"):
            refused()
