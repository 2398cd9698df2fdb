"""What must hold of every measure, tested for every one."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.core.arrays import Floats
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.measures.names import parse_measure
from tests.measures.variants import ALL
from tests.strategies import FLOAT, Case, cases

NO_RANGE = {"YAAP", "Utility"}


def values_of(hits: Hits) -> dict[str, Floats]:
    return {measure.name: measure(hits) for measure in ALL}


def equal(one: dict[str, Floats], other: dict[str, Floats]) -> bool:
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


@pytest.mark.slow
@given(cases(grades=FLOAT))
def test_values_lie_in_the_declared_range(case: Case) -> None:
    hits = join(case.qrels, case.run)
    for measure in ALL:
        values = measure(hits)
        values = values[~np.isnan(values)]
        low, high = measure.definition.range
        assert (values >= low - 1e-12).all(), measure
        assert (values <= high + 1e-12).all(), measure


@pytest.mark.slow
@given(cases())
def test_a_larger_cutoff_never_lowers_a_measure_that_is_declared_monotone(case: Case) -> None:
    hits = join(case.qrels, case.run)
    for measure in ALL:
        if measure.definition.monotone and dict(measure.parameters).get("norm") != "min":
            series = [measure.but(cutoff=cutoff)(hits) for cutoff in range(1, 18)]
            for shallow, deep in pairwise(series):
                assert (deep >= shallow - 1e-12).all(), measure


@pytest.mark.slow
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case: Case, random: object) -> None:
    shuffled_results = {}
    for query, rows in case.results.items():
        again = list(rows)
        random.shuffle(again)  # type: ignore[attr-defined]  # Hypothesis gives a random.Random
        shuffled_results[query] = again
    judged = {query: dict(reversed(row.items())) for query, row in reversed(case.judged.items())}
    other = Case(judged, shuffled_results)
    assert equal(values_of(join(case.qrels, case.run)), values_of(join(other.qrels, other.run)))


@pytest.mark.slow
@given(cases(tied=False))
def test_renaming_unjudged_documents_does_not_matter_where_nothing_is_tied(case: Case) -> None:
    renamed = {
        query: [(doc if doc in case.judged[query] else f"other-{doc}", score) for doc, score in rows]
        for query, rows in case.results.items()
    }
    other = Case(case.judged, renamed)
    assert equal(values_of(join(case.qrels, case.run)), values_of(join(other.qrels, other.run)))


@pytest.mark.slow
@given(cases())
def test_a_strictly_increasing_change_of_scores_that_keeps_ties_does_not_matter(case: Case) -> None:
    # 1 and 1 + 1e-9 are tied as float32 and stay so under this change.
    changed = {query: [(doc, 3 * score + 7) for doc, score in rows] for query, rows in case.results.items()}
    other = Case(case.judged, changed)
    assert equal(values_of(join(case.qrels, case.run)), values_of(join(other.qrels, other.run)))


@pytest.mark.slow
@given(cases())
def test_calling_twice_gives_the_same_and_changes_no_input(case: Case) -> None:
    qrels, run = case.qrels, case.run
    before = (qrels.sha256, run.sha256)
    hits = join(qrels, run)
    first = values_of(hits)
    assert equal(first, values_of(hits))
    assert equal(first, values_of(join(qrels, run)))
    assert (Qrels.from_dict(case.judged).sha256, case.run.sha256) == before


@pytest.mark.slow
@given(cases(queries=6), st.integers(1, 3))
def test_parts_equal_the_whole(case: Case, parts: int) -> None:
    qrels, run = case.qrels, case.run
    whole = join(qrels, run)
    numbers = np.arange(len(qrels.queries))
    expected = values_of(whole)
    for part in range(parts):
        chosen = numbers[part::parts]
        joined, selected = join(qrels.select(chosen), run), whole.select(chosen)
        assert list(joined.queries) == list(selected.queries)
        for name in ("rank", "grade", "tie_first", "tie_last", "judged", "retrieved", "status", "ordinal"):
            assert np.array_equal(getattr(joined, name), getattr(selected, name)), name
        alone = {name: values[chosen] for name, values in expected.items()}
        assert equal(values_of(joined), alone)
        assert equal(values_of(selected), alone)


@pytest.mark.slow
@given(cases())
def test_a_missing_query_scores_what_the_measure_declares(case: Case) -> None:
    hits = join(case.qrels, Run.from_lists({"nothing": ["d1"]}))
    for measure in ALL:
        if measure.definition.missing is not None:
            assert np.array_equal(measure(hits), np.full(len(hits), measure.definition.missing), equal_nan=True), (
                measure
            )


@given(cases())
@settings(max_examples=50)
def test_tied_documents_stand_within_their_tie(case: Case) -> None:
    hits = join(case.qrels, case.run)
    for view in (hits, hits.judged_only(), hits.relevant(1)):
        assert (view.tie_first <= view.rank).all()
        assert (view.rank <= view.tie_last).all()


def test_the_best_ranking_scores_one_where_that_is_the_best() -> None:
    case = Case({"q": {"a": 3, "b": 2, "c": 1, "d": 0}}, {"q": [("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0)]})
    hits = join(case.qrels, case.run)
    for name in ("nDCG", "nDCG@2", "AP", "RR", "Rprec", "Bpref", "Q", "G", "BinG", "RnDCG", "nDCGRel", "R@3", "P@3"):
        assert math.isclose(parse_measure(name)(hits)[0], 1.0), name


def test_statuses_do_not_change_values_of_other_queries() -> None:
    case = Case({"a": {"d": 1}, "b": {"d": 1}}, {"a": [("d", 1.0)], "b": [("d", 1.0)]})
    hits = join(case.qrels, case.run)
    changed = replace(hits, status=np.array([2, 0], dtype=np.uint8))
    assert equal(values_of(hits), values_of(changed))
