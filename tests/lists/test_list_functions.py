from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import (
    InputError,
    MeasureError,
    MetricsCalculator,
    RetrievalMetricsSuite,
    hit_at_k,
    mean_reciprocal_rank,
    ndcg_at_k,
)
from rankgauge.errors import InputTypeError
from rankgauge.lists import (
    average_precision_at_k,
    count_hits,
    f1_at_k,
    first_relevant_position,
    mean_average_precision,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)

AT_K: list[Callable[..., float]] = [
    hit_at_k, ndcg_at_k, precision_at_k, recall_at_k, f1_at_k, average_precision_at_k, reciprocal_rank
]  # fmt: skip


def test_perfect_retrieval() -> None:
    relevant, retrieved = ["doc1", "doc2"], ["doc1", "doc2", "doc3", "doc4"]
    assert hit_at_k(relevant, retrieved, 1) == hit_at_k(relevant, retrieved, 2) == 1.0
    assert ndcg_at_k(relevant, retrieved, 2) == 1.0
    assert mean_reciprocal_rank([relevant], [retrieved]) == 1.0


def test_nothing_relevant_retrieved() -> None:
    relevant, retrieved = ["doc1", "doc2"], ["doc3", "doc4", "doc5", "doc6"]
    assert [function(relevant, retrieved) for function in AT_K] == [0.0] * len(AT_K)
    assert first_relevant_position(relevant, retrieved) is None


def test_partial_retrieval_with_the_right_ndcg() -> None:
    relevant, retrieved = ["doc1", "doc2", "doc3"], ["doc4", "doc1", "doc5", "doc2"]
    assert hit_at_k(relevant, retrieved, 2) == 1.0
    assert hit_at_k(relevant, retrieved, 1) == 0.0
    assert ndcg_at_k(relevant, retrieved, 4) == pytest.approx(0.4982, abs=1e-4)
    assert reciprocal_rank(relevant, retrieved) == 0.5
    assert first_relevant_position(relevant, retrieved) == 2
    assert count_hits(relevant, retrieved) == 2
    assert count_hits(relevant, retrieved, k=2) == 1


def test_three_of_five() -> None:
    relevant, retrieved = ["doc1", "doc3", "doc5"], ["doc1", "doc2", "doc3", "doc4", "doc5"]
    assert precision_at_k(relevant, retrieved, 5) == pytest.approx(0.6)
    assert recall_at_k(relevant, retrieved, 5) == 1.0
    assert f1_at_k(relevant, retrieved, 5) == pytest.approx(0.75)
    assert average_precision_at_k(relevant, retrieved, 5) == pytest.approx(0.755556, abs=1e-6)
    assert ndcg_at_k(relevant, retrieved, 5) == pytest.approx(0.885460, abs=1e-6)


def test_means_of_three_queries() -> None:
    relevant = ["a", "a", "a"]
    retrieved = [["a"], ["x", "y", "a"], ["x"]]
    assert mean_reciprocal_rank(relevant, retrieved) == pytest.approx(0.444444, abs=1e-6)
    assert mean_average_precision(relevant, retrieved) == pytest.approx(0.444444, abs=1e-6)
    assert mean_average_precision(relevant, retrieved, k=2) == pytest.approx(1 / 3)


@pytest.mark.parametrize("function", AT_K)
def test_an_empty_list_gives_zero(function: Callable[..., float]) -> None:
    assert function([], ["a"]) == function(["a"], []) == function([], []) == 0.0


@pytest.mark.parametrize("function", AT_K)
def test_a_string_is_one_id_and_relevant_ids_may_be_any_iterable(function: Callable[..., float]) -> None:
    assert function("a", "a") == function(["a"], ["a"]) == function({"a"}, ("a",)) == function(iter(["a"]), iter(["a"]))
    assert function("doc", ["d", "o", "c"]) == 0.0


@pytest.mark.parametrize("function", AT_K)
def test_k_may_be_larger_than_the_list(function: Callable[..., float]) -> None:
    assert 0 < function(["a"], ["b", "a"], 1000) <= 1


@pytest.mark.parametrize("function", AT_K)
@pytest.mark.parametrize("k", [0, -1, 1.5, True, "ten", [1, 3], math.inf])
def test_a_cutoff_must_be_a_whole_number_from_1(function: Callable[..., float], k: object) -> None:
    function(["a"], ["a"], 1)  # the measure cached for 1 is not used for True
    with pytest.raises(MeasureError, match="cutoff"):
        function(["a"], ["a"], k)


class Ranking(Sequence[str]):
    """A million ids, of which it counts those that are looked at."""

    def __init__(self) -> None:
        self.looked_at = 0

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, place: Any) -> Any:
        if place >= len(self):
            raise IndexError
        self.looked_at += 1
        return f"d{place}"


MILLION: dict[str, Callable[[Any, int], object]] = {
    **{function.__name__: partial(function, ["d1", "x"]) for function in AT_K},
    "count_hits": partial(count_hits, ["d1", "x"]),
    "mean_reciprocal_rank": lambda ranking, k: mean_reciprocal_rank([["d1"]], [ranking], k),
    "mean_average_precision": lambda ranking, k: mean_average_precision([["d1"]], [ranking], k),
    "graded": lambda ranking, k: ndcg_at_k(["d1"], ranking, k, {"d1": 2, "d2": 1}),
    "P of SPEC-003": lambda ranking, k: MetricsCalculator.precision_at_k(ranking, ["d1"], k),
    "R of SPEC-003": lambda ranking, k: MetricsCalculator.recall_at_k(ranking, ["d1"], k),
    "nDCG of SPEC-003": lambda ranking, k: MetricsCalculator.ndcg_at_k(ranking, ["d1"], k),
    **{
        f"suite {name}": partial(RetrievalMetricsSuite().evaluate, name, ["d1", "x"])
        for name in ("hit", "ndcg", "recall", "precision")
    },
    "suite map": partial(RetrievalMetricsSuite().evaluate, "map", [["d1", "x"]]),
}


@pytest.mark.parametrize("name", MILLION)
@pytest.mark.parametrize("k", [1, 10, 1000])
def test_only_the_first_k_ids_are_looked_at(name: str, k: int) -> None:
    ranking, several = Ranking(), name in ("suite map",)
    value = MILLION[name]([ranking] if several else ranking, k)
    assert ranking.looked_at == k
    first = [f"d{place}" for place in range(k)]
    assert value == MILLION[name]([first] if several else first, k)
    assert value or k == 1


@pytest.mark.parametrize("function", AT_K)
def test_a_generator_is_read_up_to_k_and_what_follows_is_not_checked(function: Callable[..., float]) -> None:
    ids = iter(["x", "a", "y", "z"])
    assert function(["a"], ids, 3) == function(["a"], ["x", "a", "y"], 3)
    assert list(ids) == ["z"]
    assert function(["a"], ["x", "a", None], 2) == function(["a"], ["x", "a"], 2)
    with pytest.raises(InputError, match="retrieved id must be a string, found NoneType"):
        function(["a"], ["x", "a", None], 3)


@given(st.lists(st.sampled_from("abcdef"), max_size=9), st.sets(st.sampled_from("abcdef")), st.integers(1, 10))
def test_what_follows_the_first_k_changes_nothing(retrieved: list[str], relevant: set[str], k: int) -> None:
    for function in AT_K:
        assert function(relevant, retrieved, k) == function(relevant, retrieved[:k], k)
    assert hit_at_k(relevant, retrieved, k) == float(any(doc in relevant for doc in retrieved[:k]))
    assert precision_at_k(relevant, retrieved, k) == sum(doc in relevant for doc in retrieved[:k]) / k
    found = len(relevant & set(retrieved[:k]))
    assert recall_at_k(relevant, retrieved, k) == (found / len(relevant) if relevant else 0.0)


def test_ids_are_compared_exactly() -> None:
    assert precision_at_k(["module_a", "module_B"], ["module_A", "module_b"], 2) == 0.0
    assert precision_at_k(["é"], ["e\u0301"], 1) == 0.0
    assert precision_at_k([" a"], ["a"], 1) == 0.0


def test_grades_and_relevant_ids_are_judgments_together() -> None:
    grades = {"doc1": 1.0, "doc2": 0.3, "doc3": 0.8, "doc4": 0.0, "doc5": 0.9}
    retrieved = ["doc1", "doc2", "doc3", "doc4", "doc5"]
    assert ndcg_at_k(["doc1", "doc3", "doc5"], retrieved, 5, grades) == pytest.approx(0.9239, abs=1e-4)
    assert ndcg_at_k([], ["a", "d", "b", "c"], 4, {"a": 3, "b": 2, "c": 1, "d": 0}) == pytest.approx(0.9305, abs=1e-4)
    assert ndcg_at_k(["a", "b"], ["a", "b"], 2, {"b": 3}) == pytest.approx(
        (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    )


def test_a_repeated_document_counts_for_precision_and_nothing_exceeds_1() -> None:
    relevant, retrieved = ["A"], ["A", "A", "B"]
    assert precision_at_k(relevant, retrieved, 3) == 2 / 3
    assert count_hits(relevant, retrieved) == 2
    assert recall_at_k(relevant, retrieved, 3) == 1.0
    assert ndcg_at_k(relevant, retrieved, 3) == 1.0
    assert average_precision_at_k(relevant, retrieved, 3) == 1.0
    assert f1_at_k(relevant, retrieved, 3) == pytest.approx(2 * (1 / 3) / (1 / 3 + 1))


def test_a_repeat_keeps_its_rank_and_adds_nothing() -> None:
    assert average_precision_at_k(["A", "B"], ["A", "A", "B"], 3) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision_at_k(["A", "B"], ["A", "X", "B"], 3) == pytest.approx((1 + 2 / 3) / 2)


def test_a_relevant_id_given_twice_is_one() -> None:
    assert recall_at_k(["A", "A"], ["A", "B"], 2) == 1.0
    assert average_precision_at_k(["A", "A"], ["A", "B"], 2) == 1.0


@pytest.mark.parametrize(
    ("relevant", "retrieved", "message"),
    [
        (["a"], [1, 2], "retrieved id must be a string, found int"),
        ([None], ["a"], "relevant id must be a string, found NoneType"),
        (["a"], ["a", ""], "retrieved id is empty"),
        (["a\0"], ["a"], "NUL"),
        (["a"], ["\ud800"], "surrogate"),
        (["a"], {"a", "b"}, "a set has no order"),
        ({"a": 2}, ["a"], "relevance_grades"),
        (5, ["a"], "relevant ids must be one id or a list of ids, found int"),
        (["a"], None, "found NoneType"),
    ],
)
def test_a_value_that_is_not_an_id_is_an_error(relevant: object, retrieved: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hit_at_k(relevant, retrieved)  # type: ignore[arg-type]  # refused at run time


def test_bytes_are_the_same_ids_as_text() -> None:
    assert hit_at_k([b"\xff"], ["\udcff"], 1) == hit_at_k([b"a"], ["a"], 1) == 1.0  # type: ignore[list-item]  # accepted at run time


def test_wrong_grades_are_errors() -> None:
    with pytest.raises(InputTypeError, match="must be a number, found str"):
        ndcg_at_k(["a"], ["a"], 5, {"a": "high"})  # type: ignore[dict-item]  # refused at run time
    with pytest.raises(InputError, match="from -127 to 127"):
        ndcg_at_k(["a"], ["a"], 5, {"a": math.nan})
    with pytest.raises(InputTypeError, match="must map ids to grades"):
        ndcg_at_k(["a"], ["a"], 5, [1])  # type: ignore[arg-type]  # refused at run time


@pytest.mark.parametrize("mean", [mean_reciprocal_rank, mean_average_precision])
@pytest.mark.parametrize("wrong", ["ab", b"ab", {"a": "b"}, {"a"}, None, 5])
def test_a_mean_needs_one_entry_per_query(mean: Callable[..., float], wrong: object) -> None:
    with pytest.raises(InputTypeError, match=r"^relevant_ids_list must be a list with one entry per query, found "):
        mean(wrong, [["a"]])
    with pytest.raises(InputTypeError, match=r"^predicted_ids_list must be a list with one entry per query, found "):
        mean([["a"]], wrong)
    assert mean(iter(["a", "b"]), (list(ids) for ids in ("a", "xb"))) == 0.75


def test_the_mean_of_lists_of_unequal_length_is_an_error_and_of_no_queries_zero() -> None:
    with pytest.raises(InputError, match="found 1 and 2"):
        mean_reciprocal_rank([["a"], ["b"]], [["a"]])
    for mean in (mean_reciprocal_rank([], []), mean_average_precision([], [], k=3)):
        assert (mean, type(mean)) == (0.0, float)
    assert RetrievalMetricsSuite().evaluate("mrr", [], []) == RetrievalMetricsSuite().evaluate("map", [], []) == 0.0
