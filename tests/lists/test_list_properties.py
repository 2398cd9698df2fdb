"""Lists give the numbers that ``evaluate`` gives, for every measure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Conventions, batch_evaluate_metrics, evaluate, evaluate_retrieval_batch
from rankgauge.lists.list_join import join_lists
from tests.measures.variants import ALL

DOCS = st.sampled_from([f"d{number}" for number in range(12)])
GRADES = st.dictionaries(DOCS, st.integers(-1, 3), max_size=8)
RANKING = st.lists(DOCS, unique=True, max_size=10)
REPEATING = st.lists(DOCS, max_size=10)
NAMES = [measure.name for measure in ALL]


def batch(judged: list[dict[str, int]], rankings: list[list[str]]) -> tuple[list[dict[str, Any]], list[Any]]:
    queries = [
        {"relevant_docs": [doc for doc, grade in row.items() if grade >= 1], "relevance_grades": row} for row in judged
    ]
    return queries, [[{"id": doc, "score": 1.0} for doc in ranking] for ranking in rankings]


@pytest.mark.slow
@given(st.lists(st.tuples(GRADES, RANKING), min_size=1, max_size=4))
def test_a_batch_has_the_values_of_evaluate(case: list[tuple[dict[str, int], list[str]]]) -> None:
    judged, rankings = [row for row, _ in case], [ranking for _, ranking in case]
    names = [f"q{number}" for number in range(len(case))]
    labels, results = dict(zip(names, judged, strict=True)), dict(zip(names, rankings, strict=True))
    scores = evaluate(labels, results, ALL, conventions=Conventions(no_relevant="zero"))
    found = evaluate_retrieval_batch(*batch(judged, rankings), NAMES)
    assert found == {name: scores[name] for name in NAMES}


@pytest.mark.slow
@given(st.lists(st.tuples(GRADES, RANKING), max_size=7), st.integers(1, 8))
def test_batches_of_any_size_give_the_same_digits(case: list[tuple[dict[str, int], list[str]]], size: int) -> None:
    queries, results = batch([row for row, _ in case], [ranking for _, ranking in case])
    at_once = evaluate_retrieval_batch(queries, results, NAMES)
    assert batch_evaluate_metrics(iter(queries), size, retrieval_results=iter(results), metrics=NAMES) == at_once


@pytest.mark.slow
@given(st.tuples(GRADES, REPEATING))
def test_repeated_documents_leave_every_value_in_its_range(case: tuple[dict[str, int], list[str]]) -> None:
    judged, ranking = case
    joined = join_lists([[doc for doc, grade in judged.items() if grade >= 1]], [ranking], [judged])
    for measure in ALL:
        value = float(joined(measure)[0])
        low, high = measure.definition.range
        assert math.isnan(value) or low - 1e-12 <= value <= high + 1e-12, measure


@pytest.mark.slow
@given(st.tuples(GRADES, REPEATING))
def test_all_but_precision_and_counts_see_only_the_first_occurrence(case: tuple[dict[str, int], list[str]]) -> None:
    judged, ranking = case
    relevant = [doc for doc, grade in judged.items() if grade >= 1]
    # A repeat is like an unjudged document.
    replaced = [doc if doc not in ranking[:index] else f"new{index}" for index, doc in enumerate(ranking)]
    repeating, unique = join_lists([relevant], [ranking], [judged]), join_lists([relevant], [replaced], [judged])
    for measure in ALL:
        if measure.definition.name not in ("P", "NumRet"):
            assert np.array_equal(repeating(measure), unique(measure), equal_nan=True), measure


@pytest.mark.parametrize("name", ["ERR@10", "RBP@10"])
def test_what_depends_on_the_largest_grade_takes_it_from_the_whole_batch(name: str) -> None:
    judged = [{"a": 3, "b": 1}, {"c": 1}]
    rankings = [["b", "a"], ["c"]]
    queries, results = batch(judged, rankings)
    scores = evaluate({"1": judged[0], "2": judged[1]}, {"1": rankings[0], "2": rankings[1]}, name)
    assert evaluate_retrieval_batch(queries, results, [name]) == {name: scores[name]}
