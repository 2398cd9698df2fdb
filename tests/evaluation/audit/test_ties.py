from __future__ import annotations

import dataclasses
import itertools
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings

from rankgauge import Conventions, Qrels, Run, UsageError, evaluate, parse_measure
from rankgauge.core.hits import Hits, PerQuery
from rankgauge.core.hits_builder import join
from rankgauge.evaluation.audit import tie_orders
from rankgauge.evaluation.audit.tie_orders import extreme_orders, has_extreme_orders
from rankgauge.evaluation.audit.ties import TieAudit, TieRange, audit_ties, first_relevant_at
from rankgauge.measures.measure import Measure
from rankgauge.measures.registry import measure as declare
from rankgauge.measures.registry import unregister
from tests.evaluation.audit.brute_force import Tied, close, tied
from tests.measures.variants import ALL
from tests.strategies import Case, cases

CLOSED = {"P", "R", "F", "AP", "GMAP", "RR", "nDCG", "Success", "RBP", "NumRet", "FirstRel"}
EXTREME = [one for one in ALL if has_extreme_orders(one)]
ODD = [
    parse_measure(name) for name in ("nDCG(gains={0:1,1:-2,2:5})@3", "nDCG(gains={1:-2})", "P(rel=0)@2", "AP(rel=0)")
]


def one(case: Tied, measure: Measure, **options: int) -> TieRange:
    return audit_ties(case.qrels, case.run, [measure], **options).measures[0]  # type: ignore[arg-type]  # samples and seed


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


@pytest.mark.slow
@given(tied())
@settings(max_examples=50)
def test_closed_forms_equal_the_mean_over_all_orders(case: Tied) -> None:
    measures = [m for m in [*EXTREME, *ODD] if m.definition.name in CLOSED and "-2" not in m.name]
    for found in audit_ties(case.qrels, case.run, measures):
        assert found.method != "Monte Carlo"
        values = case.values(found.measure)
        if values:
            assert close(float(found.expected.values[0]), sum(values) / len(values)), (found.measure, case)


def test_every_measure_with_a_closed_form_is_tested() -> None:
    case = Tied([[1.0, None, 0.0, 2.0]], [])
    found = {one(case, measure, samples=1).measure.definition.name for measure in EXTREME}
    closed = {m.definition.name for m in EXTREME if one(case, m, samples=1).method == "closed form"}
    assert closed <= CLOSED <= found


@given(tied())
@settings(max_examples=15)
def test_a_sample_stays_within_all_orders_and_near_their_mean(case: Tied) -> None:
    names = ("ERR(max_rel=3)@3", "Q", "Accuracy@3", "infAP", "G", "FirstRel@2", "Bpref", "nDCG(gains={1:-2})@2")
    for measure in map(parse_measure, names):
        found, values = one(case, measure, samples=400), case.values(measure)
        if not values:
            assert np.isnan(found.best.values[0])
            continue
        low, high = sorted((float(found.worst.values[0]), float(found.best.values[0])))
        assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12
        # Hoeffding: further off than this in one of 10^10 tests.
        slack = (max(values) - min(values)) * np.sqrt(np.log(2e10) / 800)
        if len(values) == len(list(case.orders())):
            assert abs(found.expected.values[0] - sum(values) / len(values)) <= slack + 1e-12, measure


def test_a_custom_measure_is_sampled_and_says_so() -> None:
    @declare("ThirdIsRelevant")
    def third(hits: Hits) -> PerQuery:
        """1 if the third document is relevant."""
        found = hits.where((hits.rank == 3) & (hits.grade > 0))
        return found.count.astype(float)

    try:
        found = one(Tied([[1.0, None, None, None]], []), parse_measure("ThirdIsRelevant"), samples=2000)
    finally:
        unregister("ThirdIsRelevant")
    assert (found.method, found.range) == ("Monte Carlo", "sampled")
    assert (found.worst.over_queries, found.best.over_queries) == (0.0, 1.0)
    assert found.expected.over_queries == pytest.approx(0.25, abs=5 * 0.01)
    assert found.standard_error == pytest.approx(np.sqrt(0.25 * 0.75 / 2000), rel=0.1)


def test_the_rank_of_the_first_relevant_document_of_a_tie_has_the_counted_probability() -> None:
    for size, relevant in itertools.product(range(1, 12), range(1, 6)):
        if relevant <= size:
            found = first_relevant_at(size, relevant, size - relevant + 1)
            wanted = [comb(size - place, relevant - 1) / comb(size, relevant) for place in range(1, len(found) + 1)]
            assert np.allclose(found, wanted, rtol=1e-12)


@pytest.mark.slow
@given(cases())
@settings(max_examples=60)
def test_the_reported_value_is_between_worst_and_best(case: Case) -> None:
    measures = [one for one in EXTREME if one.definition.better != "lower" and one.definition.name != "Unjudged"]
    if any(case.results.get(query) is not None for query in case.judged):
        audit = audit_ties(case.qrels, case.run, measures, samples=3)
        scores = evaluate(case.qrels, case.run, measures)
        for place, found in enumerate(audit):
            known = ~np.isnan(found.reported.values)
            assert np.array_equal(found.reported.values, scores.values[:, place], equal_nan=True)
            assert (found.worst.values <= found.reported.values + 1e-12)[known].all()
            assert (found.reported.values <= found.best.values + 1e-12)[known].all()
            assert (found.expected.values <= found.best.values + 1e-12)[known].all()
            assert (found.worst.values <= found.expected.values + 1e-12)[known].all()


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
    assert found.expected.over_queries == pytest.approx(((1 + 1 / 2 + 1 / 3) / 3 + 1) / 3)
    skipped = audit_ties(
        {**QRELS, "4": {"a": 0}}, RUN, "RR", conventions=Conventions(query_set="both", no_relevant="skip")
    )["mrr"]
    assert skipped.best.over_queries == found.best.over_queries


def test_without_ties_every_value_is_the_reported_one() -> None:
    audit = audit_ties(QRELS, {"1": ["x", "a"], "2": ["a"]}, [m.name for m in ALL if m.definition.name != "NumQ"])
    for found in audit:
        assert found.method == "ties have no effect"
        assert found.best is not found.worst
        assert np.array_equal(found.best.values, found.worst.values, equal_nan=True)
        assert np.array_equal(found.expected.values, found.reported.values, equal_nan=True)


def test_a_cutoff_may_be_a_column_of_the_queries() -> None:
    qrels = Qrels.from_dict(QRELS).with_columns({"k": {"1": 1, "2": 1, "3": 1}})
    found, plain = audit_ties(qrels, RUN, "P@k R@k"), audit_ties(QRELS, RUN, "P@1 R@1")
    for ours, theirs in zip(found, plain, strict=True):
        assert ours.expected.values.tolist() == theirs.expected.values.tolist()
        assert ours.straddling == theirs.straddling


def test_a_geometric_mean_has_no_expected_value_over_queries() -> None:
    found = audit_ties(QRELS, RUN, "GMAP")["GMAP"]
    assert found.expected.over_queries is None
    assert found.expected.at(0) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert found.best.over_queries is not None


def test_a_measure_is_found_by_the_requested_name() -> None:
    audit = audit_ties(QRELS, RUN, "ERR@3")
    assert audit["ERR@3"] is audit["ERR(max_rel=2)@3"]
    with pytest.raises(KeyError, match="P@3 was not audited; available: ERR"):
        audit["P@3"]


def drawn(audit: TieAudit) -> list[float]:
    return [float(value) for found in audit for value in found.expected.values]


def test_the_same_seed_gives_the_same_numbers_whatever_else_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels = {query: {"a": 1, "b": 2, "c": 0} for query in "12"}
    run = {query: dict.fromkeys("abcdxyz", 1.0) for query in "12"}
    first = audit_ties(qrels, run, "ERR@3 Q", samples=50)
    assert drawn(first) == drawn(audit_ties(qrels, run, "ERR@3 Q", samples=50))
    assert drawn(first) != drawn(audit_ties(qrels, run, "ERR@3 Q", samples=50, seed=1))
    assert drawn(first)[2:] == drawn(audit_ties(qrels, run, "Q", samples=50))
    alone = audit_ties({"2": qrels["2"]}, {"2": run["2"]}, "ERR@3", samples=50)
    assert drawn(alone) == [drawn(first)[1]]
    assert drawn(first)[0] != drawn(first)[1]
    monkeypatch.setattr(tie_orders, "SHUFFLED_AT_ONCE", 30)
    assert drawn(first) == drawn(audit_ties(qrels, run, "ERR@3 Q", samples=50))


def test_sampled_numbers_do_not_change_between_versions() -> None:
    run = {"q": dict.fromkeys("abcdxyz", 1.0)}
    found = audit_ties({"q": {"a": 1, "b": 2, "c": 0}}, run, "Q", samples=100, seed=7)["Q"]
    assert found.expected.over_queries == pytest.approx(0.5704384920634921, rel=1e-12)


@pytest.mark.parametrize("samples", [0, -1, 1.5, True])
def test_a_sample_has_at_least_one_order(samples: int) -> None:
    with pytest.raises(UsageError, match="samples must be a whole number of at least 1"):
        audit_ties(QRELS, RUN, "Q", samples=samples)


def test_a_large_tie_costs_no_orders() -> None:
    size = 200_000
    judged = {f"{place:06d}": place % 2 for place in range(0, size, 10)} | {"000001": 1}
    qrels = Qrels.from_dict({"q": judged})
    hits = join(qrels, Run.from_lists({"q": [(f"{place:06d}", 1.0) for place in range(size)]}))
    assert hits.tie_last.max() == size
    audit = audit_ties(
        qrels, {"q": {f"{place:06d}": 1.0 for place in range(size)}}, "AP RR P@10 nDCG@10 Success@10 RBP"
    )
    assert all(found.method == "closed form" for found in audit)
    assert audit["P@10"].expected.over_queries == pytest.approx(1 / size)
    assert audit["Success@10"].expected.over_queries == pytest.approx(10 / size)
    harmonic = float(np.sum(1 / np.arange(1, size + 1)))
    assert audit["RR"].expected.over_queries == pytest.approx(harmonic / size)


def test_results_are_frozen() -> None:
    audit = audit_ties(QRELS, RUN, "P@1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        audit.tied = 2  # type: ignore[misc]  # refused at run time
