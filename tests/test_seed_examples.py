"""Worked examples from published descriptions of these measures; docs/errata.md says which of those were wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import pytest

from rankgauge import (
    MetricsCalculator,
    RetrievalEvaluator,
    evaluate,
    evaluate_retrieval_batch,
    hit_at_k,
    parse_measure,
)
from rankgauge.errors import RankgaugeError

Judged = Mapping[str, float]


def value(judged: Judged | list[str], retrieved: list[str], measure: str) -> float | None:
    qrels = {"q": dict.fromkeys(judged, 1.0) if isinstance(judged, list) else judged}
    return evaluate(qrels, {"q": retrieved}, measure)[measure]


@pytest.mark.parametrize(
    ("judged", "retrieved", "measure", "expected"),
    [
        # Hit@3: the second of three is relevant.
        (["doc1", "doc3", "doc5"], ["doc2", "doc1", "doc4"], "hit@3", 1.0),
        # AP@5 of [1, 0, 1, 0, 1] with three relevant.
        (["a", "c", "e"], ["a", "b", "c", "d", "e"], "map@5", 0.755556),
        # Perfect, no, and partial retrieval.
        (["doc1", "doc2"], ["doc1", "doc2", "doc3", "doc4"], "hit@1", 1.0),
        (["doc1", "doc2"], ["doc1", "doc2", "doc3", "doc4"], "ndcg@2", 1.0),
        (["doc1", "doc2"], ["doc1", "doc2", "doc3", "doc4"], "mrr", 1.0),
        (["doc1", "doc2"], ["doc3", "doc4", "doc5", "doc6"], "hit@10", 0.0),
        (["doc1", "doc2"], ["doc3", "doc4", "doc5", "doc6"], "ndcg@10", 0.0),
        (["doc1", "doc2"], ["doc3", "doc4", "doc5", "doc6"], "mrr", 0.0),
        (["doc1", "doc2", "doc3"], ["doc4", "doc1", "doc5", "doc2"], "hit@2", 1.0),
        (["doc1", "doc2", "doc3"], ["doc4", "doc1", "doc5", "doc2"], "hit@1", 0.0),
        (["doc1", "doc2", "doc3"], ["doc4", "doc1", "doc5", "doc2"], "mrr", 0.5),
        # Scene search: two of three relevant scenes in the top five.
        (["s3", "s4", "s7"], ["s4", "s8", "s3", "s1", "s2"], "recall@5", 0.666667),
        # Precision divides by k.
        (["A", "C", "F"], ["A", "B", "C", "D", "E"], "precision@3", 0.666667),
        (["A", "C", "F"], ["A", "B", "C", "D", "E"], "precision@5", 0.4),
        (["A", "C", "F"], ["A", "B", "C", "D", "E"], "recall@5", 0.666667),
        (["A"], ["A", "B"], "precision@5", 0.2),
        (["C"], ["A", "B", "C", "D"], "mrr", 0.333333),
        (["D"], ["A", "B", "C"], "mrr", 0.0),
        (["A", "C", "F", "K"], list("ABCDEFGHIJ"), "recall@10", 0.75),
        (["A", "C", "F", "K"], list("ABCDEFGHIJ"), "hits@3", 2.0),
        (["A", "C", "F", "K"], list("ABCDEFGHIJ"), "FirstRel", 1.0),
        (["D", "E"], ["A", "B", "C"], "FirstRel", None),
        (["module_a", "module_B"], ["module_A", "module_b"], "precision@2", 0.0),
        # Three of five, all found.
        (["doc1", "doc3", "doc5"], ["doc1", "doc2", "doc3", "doc4", "doc5"], "P@5", 0.6),
        (["doc1", "doc3", "doc5"], ["doc1", "doc2", "doc3", "doc4", "doc5"], "R@5", 1.0),
        (["doc1", "doc3", "doc5"], ["doc1", "doc2", "doc3", "doc4", "doc5"], "F1@5", 0.75),
        (["doc1", "doc3", "doc5"], ["doc1", "doc2", "doc3", "doc4", "doc5"], "AP@5", 0.755556),
        (["doc1", "doc3", "doc5"], ["doc1", "doc2", "doc3", "doc4", "doc5"], "nDCG@5", 0.885460),
    ],
)
def test_examples_that_are_right(judged: list[str], retrieved: list[str], measure: str, expected: float | None) -> None:
    found = value(judged, retrieved, measure)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))


@pytest.mark.parametrize(
    ("judged", "retrieved", "measure", "wrong", "right"),
    [
        # Discounts of ranks 2 and 3 were swapped.
        ({"a": 3, "b": 2, "c": 1, "d": 0}, ["a", "d", "b", "c"], "nDCG@4", 0.985, 0.930451),
        # A judged document of grade 0 is not relevant.
        ({"a": 3, "b": 2, "c": 1, "d": 0}, ["a", "d", "b", "c"], "NumRel", 4.0, 3.0),
        # No common form of nDCG gives the published value.
        (dict.fromkeys(["doc1", "doc2", "doc3"], 1.0), ["doc4", "doc1", "doc5", "doc2"], "nDCG@4", 0.693, 0.498189),
        # Precision is below 1 if fewer than k documents are returned, even if all are relevant.
        (dict.fromkeys(["doc1", "doc2"], 1.0), ["doc1", "doc2"], "P@5", 1.0, 0.4),
    ],
)
def test_examples_that_were_wrong_have_the_right_value(
    judged: Judged, retrieved: list[str], measure: str, wrong: float, right: float
) -> None:
    found = value(judged, retrieved, measure)
    assert found == pytest.approx(right, abs=1e-6)
    assert found != pytest.approx(wrong, abs=1e-3)


def test_exponential_gain_is_a_parameter() -> None:
    judged, retrieved = {"a": 3, "b": 2, "c": 1, "d": 0}, ["a", "d", "b", "c"]
    assert value(judged, retrieved, "nDCG(gain='exp')@4") == pytest.approx(0.950800, abs=1e-4)
    two = {"x": 1, "y": 3}
    assert value(two, ["x", "y"], "nDCG@2") == pytest.approx(0.7967, abs=1e-4)
    assert value(two, ["x", "y"], "nDCG(gain='exp')@2") == pytest.approx(0.7098, abs=1e-4)


def test_average_precision_over_all_relevant_or_over_what_fits() -> None:
    judged = {f"d{n}": 1.0 for n in range(150)}
    retrieved = [f"d{n}" for n in range(100)]
    assert value(judged, retrieved, "AP@100") == pytest.approx(2 / 3)
    assert value(judged, retrieved, "AP(norm='min')@100") == pytest.approx(1.0)


def test_a_hit_at_rank_11_does_not_count_for_a_cutoff_of_10() -> None:
    retrieved = [f"x{n}" for n in range(10)] + ["a"]
    assert value(["a"], retrieved, "MRR@10") == 0.0
    assert value(["a"], retrieved, "recip_rank") == pytest.approx(1 / 11)


def test_graded_floats_use_one_table_of_judgments() -> None:
    judged = {"doc1": 1.0, "doc2": 0.3, "doc3": 0.8, "doc4": 0.0, "doc5": 0.9}
    retrieved = ["doc1", "doc2", "doc3", "doc4", "doc5"]
    assert value(judged, retrieved, "nDCG@5") == pytest.approx(0.9239, abs=1e-4)
    assert value(judged, retrieved, "nDCG(gain='exp')@5") == pytest.approx(0.9181, abs=1e-4)


def test_the_mean_of_three_queries() -> None:
    judged = {name: {"a": 1} for name in ("q1", "q2", "q3")}
    results = {"q1": ["a"], "q2": ["x", "y", "a"], "q3": ["x"]}
    assert evaluate(judged, results, "mrr")["mrr"] == pytest.approx(0.444444, abs=1e-6)


def test_precision_of_a_batch_divides_by_k_or_by_what_was_returned() -> None:
    judged = {"1": ["doc1", "doc2", "doc7"], "2": ["doc3", "doc8"], "3": ["doc5", "doc9", "doc10"]}
    results = {"1": ["doc1", "doc2"], "2": ["doc3", "doc4"], "3": ["doc5", "doc6"]}
    assert evaluate(judged, results, "P@5")["P@5"] == pytest.approx(0.266667, abs=1e-6)
    other = "P(norm='retrieved')@5"
    assert list(evaluate(judged, results, other).per_query(other).values()) == [1.0, 0.5, 0.5]


def test_common_names_of_measures_are_accepted() -> None:
    names = {"HitRate@10": "Success@10", "MRR@10": "RR@10", "MAP@100": "AP@100", "Recall@50": "R@50"}
    assert {name: str(parse_measure(name)) for name in names} == names


@pytest.mark.parametrize("k", [0, -1])
@pytest.mark.parametrize(
    "call",
    [
        lambda k: hit_at_k(["a"], ["a"], k),
        lambda k: evaluate_retrieval_batch([{"relevant_docs": ["a"]}], [["a"]], [f"hit@{k}"]),
        lambda k: MetricsCalculator.precision_at_k(["a"], ["a"], k),
        lambda k: RetrievalEvaluator().evaluate_single(["a"], ["a"], k=k),
    ],
)
def test_a_cutoff_below_1_is_an_error(call: Callable[[int], object], k: int) -> None:
    with pytest.raises(RankgaugeError, match="whole number"):
        call(k)


@pytest.mark.parametrize(
    "call",
    [
        lambda: hit_at_k([7], [7]),  # type: ignore[list-item]  # refused
        lambda: evaluate_retrieval_batch([{"relevant_docs": ["7"]}], [[{"id": 7}]]),
        lambda: MetricsCalculator.mrr([7], [7]),  # type: ignore[list-item]  # refused
    ],
)
def test_whole_numbers_are_not_ids_of_lists(call: Callable[[], object]) -> None:
    with pytest.raises(RankgaugeError, match=r"must be a string, found int: '7'(\n|.)*str\(\)"):
        call()


def test_the_class_for_documents_converts_whole_numbers() -> None:
    assert RetrievalEvaluator().evaluate_single([7], ["7"], k=1).mrr == 1.0


def test_metrics_of_a_query_are_frozen_and_can_be_replaced() -> None:
    metrics = MetricsCalculator.calculate_all(["a"], ["a"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        metrics.mrr = 0.5  # type: ignore[misc]  # frozen
    assert dataclasses.replace(metrics, mrr=0.5).mrr == 0.5
