from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings

from rankgauge import Conventions, Qrels, Run, evaluate, parse_measure
from rankgauge.core.hits_builder import join
from rankgauge.evaluation.audit.ties import audit_ties, extreme_orders, has_extreme_orders
from tests.evaluation.audit.brute_force import Tied, tied
from tests.measures.variants import ALL
from tests.strategies import Case, cases

EXTREME = [one for one in ALL if has_extreme_orders(one)]
ODD = [
    parse_measure(name) for name in ("nDCG(gains={0:1,1:-2,2:5})@3", "nDCG(gains={1:-2})", "P(rel=0)@2", "AP(rel=0)")
]


@pytest.mark.slow
@given(tied())
@settings(max_examples=50)
def test_worst_and_best_are_those_of_all_orders(case: Tied) -> None:
    for measure in [*EXTREME, *ODD]:
        values = case.values(measure)
        best, worst = (float(measure(order)[0]) for order in extreme_orders(case.hits, measure))
        high, low = max(values, default=np.nan), min(values, default=np.nan)
        if measure.definition.better == "lower" or measure.definition.name == "Unjudged":
            high, low = low, high
        assert np.isclose(best, high, rtol=1e-12, atol=1e-12, equal_nan=True), (measure, case)
        assert np.isclose(worst, low, rtol=1e-12, atol=1e-12, equal_nan=True), (measure, case)


def test_the_extreme_orders_of_some_measures_are_not_known_and_the_audit_says_so() -> None:
    case = Tied([[1.0, None, 0.0, 2.0]], [])
    found = audit_ties(case.qrels, case.run, "G Accuracy@3 AP")
    assert [row.is_known for row in found] == [False, False, True]
    assert (found["G"].worst.over_queries, found["G"].best.over_queries) == (None, None)
    assert found["G"].changed_queries is None
    assert found["G"].reported.over_queries == evaluate(case.qrels, case.run, "G")["G"]


@pytest.mark.slow
@given(cases())
@settings(max_examples=60)
def test_the_reported_value_is_between_worst_and_best(case: Case) -> None:
    measures = [one for one in EXTREME if one.definition.better != "lower" and one.definition.name != "Unjudged"]
    if any(case.results.get(query) is not None for query in case.judged):
        audit = audit_ties(case.qrels, case.run, measures)
        scores = evaluate(case.qrels, case.run, measures)
        for place, found in enumerate(audit):
            known = ~np.isnan(found.reported.values)
            assert np.array_equal(found.reported.values, scores.values[:, place], equal_nan=True)
            assert (found.worst.values <= found.reported.values + 1e-12)[known].all()
            assert (found.reported.values <= found.best.values + 1e-12)[known].all()


QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 2}, "3": {"z": 1}}
RUN = {"1": {"a": 1.0, "b": 1.0, "x": 1.0}, "2": {"a": 2.0, "b": 1.0}, "3": {"x": 1.0, "y": 1.0}}


def test_queries_where_a_tie_straddles_the_cutoff_are_listed() -> None:
    audit = audit_ties(QRELS, RUN, "P@1 P@3 RR P(judged_only=True)@1")
    assert [found.straddling for found in audit] == [("1",), (), (), ("1",)]
    assert [found.changed_queries for found in audit] == [1, 0, 1, 1]
    assert audit.tied == 1


def test_an_audit_averages_over_queries_as_scores_do() -> None:
    found = audit_ties(QRELS, RUN, "RR")["RR"]
    assert (found.worst.over_queries, found.best.over_queries) == ((1 / 3 + 1) / 3, 2 / 3)
    skipped = audit_ties(
        {**QRELS, "4": {"a": 0}}, RUN, "RR", conventions=Conventions(query_set="both", no_relevant="skip")
    )["mrr"]
    assert skipped.best.over_queries == found.best.over_queries


def test_without_ties_every_value_is_the_reported_one() -> None:
    audit = audit_ties(QRELS, {"1": ["x", "a"], "2": ["a"]}, [m.name for m in ALL if m.definition.name != "NumQ"])
    for found in audit:
        assert found.is_known
        assert np.array_equal(found.best.values, found.worst.values, equal_nan=True)
        assert np.array_equal(found.best.values, found.reported.values, equal_nan=True)


def test_a_cutoff_may_be_a_column_of_the_queries() -> None:
    qrels = Qrels.from_dict(QRELS).with_columns({"k": {"1": 1, "2": 1, "3": 1}})
    found, plain = audit_ties(qrels, RUN, "P@k R@k"), audit_ties(QRELS, RUN, "P@1 R@1")
    for ours, theirs in zip(found, plain, strict=True):
        assert ours.best.values.tolist() == theirs.best.values.tolist()
        assert ours.straddling == theirs.straddling


def test_a_measure_is_found_by_the_requested_name() -> None:
    audit = audit_ties(QRELS, RUN, "ERR@3")
    assert audit["ERR@3"] is audit["ERR(max_rel=2)@3"]
    with pytest.raises(KeyError, match="P@3 was not audited; available: ERR"):
        audit["P@3"]


def test_a_large_tie_costs_no_orders() -> None:
    size = 200_000
    judged = {f"{place:06d}": place % 2 for place in range(0, size, 10)} | {"000001": 1}
    qrels = Qrels.from_dict({"q": judged})
    hits = join(qrels, Run.from_dict({"q": {f"{place:06d}": 1.0 for place in range(size)}}))
    assert hits.tie_last.max() == size
    audit = audit_ties(
        qrels, {"q": {f"{place:06d}": 1.0 for place in range(size)}}, "AP RR P@10 nDCG@10 Success@10 RBP"
    )
    assert all(found.is_known for found in audit)
    assert [audit["P@10"].worst.over_queries, audit["P@10"].best.over_queries] == pytest.approx([0, 1 / 10])
    assert [audit["RR"].worst.over_queries, audit["RR"].best.over_queries] == pytest.approx([1 / size, 1])


def test_results_are_frozen() -> None:
    audit = audit_ties(QRELS, RUN, "P@1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        audit.tied = 2  # type: ignore[misc]  # refused at run time
