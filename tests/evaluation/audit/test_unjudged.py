from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings

from rankgauge import InputError, MeasureError, Qrels, Run, evaluate, parse_measure
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.evaluation.audit import unjudged
from rankgauge.evaluation.audit.unjudged import audit_unjudged, completed, has_bounds
from tests.evaluation.audit.brute_force import Tied, tied
from tests.measures.variants import ALL
from tests.strategies import Case, cases

BOUNDED = [measure for measure in ALL if has_bounds(measure)]
GRADES = (0.0, 1.0, 3.0)


def filled(case: Tied, grades: tuple[float, ...]) -> Qrels:
    """The judgments of a query with these grades for its unjudged documents."""
    new_grades = iter(grades)
    retrieved = {
        f"d{number}": next(new_grades) if label is None or label < 0 else label
        for number, label in enumerate(case.labels)
    }
    return Qrels.from_dict({"q": {**retrieved, **{f"m{number}": grade for number, grade in enumerate(case.missed)}}})


@pytest.mark.slow
@given(tied())
@settings(max_examples=40)
def test_the_value_is_within_the_bounds_for_any_grades_of_the_unjudged(case: Tied) -> None:
    unknown = sum(label is None or label < 0 for label in case.labels)
    audit = audit_unjudged(case.qrels, case.run, BOUNDED, grade=3)
    for grades in itertools.islice(itertools.product(GRADES, repeat=unknown), 243):
        hits = join(filled(case, grades), case.run)
        for found in audit:
            value = float(found.measure.but(judged_only=False)(hits)[0])
            assert found.irrelevant.values[0] - 1e-12 <= value <= found.relevant.values[0] + 1e-12, found.measure


@pytest.mark.parametrize("name", ["AP", "R@3", "nDCG@3", "RBP(p=0.9,max_rel='query')", "SetRelP", "Rprec", "F1@3"])
def test_a_measure_without_bounds_says_so(name: str) -> None:
    found = audit_unjudged({"q": {"a": 1, "z": 2}}, {"q": ["a", *"uvwxy"]}, name).measures[0]
    assert not found.bounds
    assert "scenarios, not bounds" in found.to_dict()["why"]


@pytest.mark.parametrize("name", ["AP", "R@2", "nDCG@2"])
def test_more_relevant_documents_can_lower_the_value(name: str) -> None:
    found = audit_unjudged({"q": {"a": 1}}, {"q": ["a", "b", "c", "d"]}, name).measures[0]
    ranked_below = audit_unjudged({"q": {"a": 1, "b": 0}}, {"q": ["a", "b", "c", "d"]}, name).measures[0]
    assert found.relevant.over_queries is not None
    assert ranked_below.relevant.over_queries is not None
    assert ranked_below.irrelevant.over_queries == 1
    assert ranked_below.relevant.over_queries < 1


def columns(hits: Hits) -> list[object]:
    """Everything that a measure or an audit of ties may read."""
    graded = sorted(zip(hits.judged_query.tolist(), hits.judged.tolist(), strict=True))
    names = ("retrieved", "offsets", "rank", "grade", "judged_offsets")
    return [getattr(hits, name).tolist() for name in names] + [graded, hits.judged[hits.ordinal].tolist()]


@pytest.mark.slow
@given(cases())
def test_a_completed_join_is_the_join_with_completed_judgments(case: Case) -> None:
    judged = {query: dict(grades) for query, grades in case.judged.items()}
    for query, ranked in case.results.items():
        for doc, _ in ranked:
            if judged[query].get(doc, -1) < 0:
                judged[query][doc] = 3
    wanted = join(Qrels.from_dict(judged), case.run)
    found = completed(join(case.qrels, case.run), 3)
    assert columns(found) == columns(wanted)
    listed = join(case.qrels, case.run)
    shared = np.isin(found.query * 1000 + found.tie_first, listed.query * 1000 + listed.tie_first)
    assert found.tie_first[shared].tolist() == wanted.tie_first[shared].tolist()
    assert found.tie_last[shared].tolist() == wanted.tie_last[shared].tolist()


@pytest.mark.slow
@given(cases())
@settings(max_examples=30)
def test_queries_in_memory_one_at_a_time_have_the_values_of_all_together(case: Case) -> None:
    assume(set(case.judged) & set(case.results))
    measures = [measure for measure in ALL if measure.definition.accepts("grades")]
    together = audit_unjudged(case.qrels, case.run, measures)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unjudged, "MAX_DOCUMENTS_IN_MEMORY", 1)
        alone = audit_unjudged(case.qrels, case.run, measures)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.relevant.values, other.relevant.values)


QRELS = {"1": {"a": 2, "b": 0, "n": -1}, "2": {"c": 1}}
RUN = {"1": ["x", "n", "a", "b"], "2": ["y", "c"]}


def test_the_three_scenarios_of_a_small_run() -> None:
    audit = audit_unjudged(QRELS, RUN, "P@2 RR nDCG@2")
    assert (audit.grade, audit.unjudged, audit.retrieved) == (2.0, 3, 6)
    p = audit["P@2"]
    assert (p.irrelevant.values.tolist(), p.relevant.values.tolist()) == ([0.0, 0.5], [1.0, 1.0])
    assert p.condensed.values.tolist() == [0.5, 0.5]
    assert p.judged.values.tolist() == [0.0, 0.5]
    assert [found.bounds for found in audit] == [True, True, False]
    plain = evaluate(QRELS, RUN, "P@2 RR nDCG@2")
    assert [found.irrelevant.over_queries for found in audit] == [plain["P@2"], plain["RR"], plain["nDCG@2"]]
    condensed = evaluate(QRELS, RUN, "nDCG(judged_only=True)@2")
    assert audit["nDCG@2"].condensed.over_queries == condensed["nDCG(judged_only=True)@2"]


def test_a_condensed_measure_is_computed_on_the_whole_list_too() -> None:
    found = audit_unjudged(QRELS, RUN, "P(judged_only=True)@2")["P(judged_only=True)@2"]
    assert found.irrelevant.values.tolist() == [0.0, 0.5]
    assert found.condensed.values.tolist() == [0.5, 0.5]


def test_the_scenarios_are_equal_if_everything_is_judged() -> None:
    measures = [measure for measure in ALL if measure.definition.name not in ("ERR", "RBP")]
    audit = audit_unjudged({"q": {"a": 1, "b": 0, "c": 2}}, {"q": ["b", "a", "c"]}, measures)
    assert audit.unjudged == 0
    for found in audit:
        assert np.array_equal(found.irrelevant.values, found.relevant.values, equal_nan=True), found.measure
        assert np.array_equal(found.irrelevant.values, found.condensed.values, equal_nan=True), found.measure


def test_judgments_without_a_positive_grade_still_have_a_top_grade() -> None:
    audit = audit_unjudged({"q": {"a": 0}}, {"q": ["x", "a"]}, "ERR RR")
    assert audit.grade == 1
    assert audit["RR"].relevant.over_queries == 1


def test_a_run_without_results_has_nothing_unjudged() -> None:
    audit = audit_unjudged({"1": {"a": 1}, "2": {"a": 1}}, Run.from_lists({"1": []}), "P@2 AP")
    assert (audit.unjudged, audit.retrieved) == (0, 0)
    assert audit["P@2"].relevant.over_queries == 0


def test_an_invalid_grade_is_refused() -> None:
    for grade in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="must be a number above 0"):
            audit_unjudged(QRELS, RUN, "P@2", grade=grade)
    with pytest.raises(MeasureError, match="max_rel of ERR is 2"):
        audit_unjudged(QRELS, RUN, "ERR", grade=5)


def test_only_the_measures_of_the_argument_have_bounds() -> None:
    assert {measure.definition.name for measure in BOUNDED} == {"P", "RR", "Success", "RBP", "ERR", "SetP", "NumRet"}
    assert not has_bounds(parse_measure("RBP(max_rel='query')"))
