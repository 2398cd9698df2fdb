"""Which expert a query is sent to."""

from __future__ import annotations

from typing import Any

import pytest

from rankgauge import InputError
from rankgauge.adapters import routing_accuracy


def test_accuracy_is_the_share_of_queries_sent_to_their_best_expert() -> None:
    found = routing_accuracy(["a", "b", "b", "c"], ["a", "a", "b", "c"])
    assert (found.accuracy, found.n, found.top) == (0.75, 4, {1: 0.75})
    assert found.confusion == {"a": {"a": 1, "b": 1}, "b": {"b": 1}, "c": {"c": 1}}


def test_the_best_expert_may_be_among_the_first_n() -> None:
    found = routing_accuracy([["a", "b"], ["b", "c", "a"], "c"], ["b", "a", "c"])
    assert found.top == {1: pytest.approx(1 / 3), 2: pytest.approx(2 / 3), 3: 1.0}
    assert "66.7% in the top 2" in str(found)


def test_each_expert_has_a_recall_and_a_precision() -> None:
    found = routing_accuracy(["a", "b", "b", "d"], ["a", "a", "b", "b"])
    experts = {expert.name: (expert.recall, expert.precision) for expert in found.experts}
    assert experts == {"a": (0.5, 1.0), "b": (0.5, 0.5), "d": (None, 0.0)}


def test_a_query_sent_nowhere_is_wrong() -> None:
    found = routing_accuracy({"q1": None, "q2": "a"}, {"q2": "a", "q1": "a"})
    assert found.accuracy == 0.5
    assert found.confusion == {"a": {"": 1, "a": 1}}
    assert found.summary_table().head == ["best \\ chosen", "none", "a", "recall", "precision"]


def test_the_interval_is_that_of_a_proportion() -> None:
    found = routing_accuracy(["a"] * 10, ["a"] * 9 + ["b"])
    assert found.interval.low == pytest.approx(0.5958, abs=1e-4)
    assert "90% to the best expert (95% CI 59.6% to 98.2%)" in str(found)


def test_without_queries_there_is_no_accuracy() -> None:
    found = routing_accuracy([], [])
    assert (found.accuracy, str(found)) == (None, "routing   no queries")


def test_the_result_is_a_table_a_frame_and_a_dict() -> None:
    found = routing_accuracy(["a", "<b>"], ["a", "a"])
    assert "&lt;b&gt;" in found._repr_html_()
    assert found.to_polars().rows() == [("a", "<b>", 1), ("a", "a", 1)]
    assert len(found.to_pandas()) == 2
    assert found.to_dict()["routing_accuracy"] == 0.5


@pytest.mark.parametrize(
    ("routes", "best", "message"),
    [
        (["a"], ["a", "b"], "routes has 1 query, optimal_experts has 2 queries"),
        ({"q": "a"}, {"r": "a"}, "optimal_experts lacks 1 of the queries: 'q'"),
        ({"q": "a"}, ["a"], "both lists or both mappings"),
        (["a"], [None], "best expert of query '1' must be a name"),
        ([3], ["a"], "the route of query '1' must be names of experts, found 3"),
        ([["a", "a"]], ["a"], "names an expert twice"),
        ("ab", "ab", "must be a list"),
    ],
)
def test_wrong_routes_are_errors(routes: Any, best: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        routing_accuracy(routes, best)
