"""ir_measures' own names and values, where it computes them itself or through trec_eval."""

from __future__ import annotations

import random

import pytest

from rankgauge import evaluate, parse_measure
from tests.needs import working_library

# It parses values with parts of `ast` that Python 3.14 no longer has.
ir_measures = working_library("ir_measures", lambda library: library.parse_measure("P(rel=2)@5"))

NAMES = [
    "P@5", "P(rel=2)@5", "P(judged_only=True)@5", "R@10", "AP", "AP@10", "AP(rel=2)@100", "nDCG", "nDCG@10",
    "nDCG(judged_only=True)@5", "nDCG(gains={1:3,2:9})", "RR", "RR(rel=2)", "RR(judged_only=True)", "Success@5",
    "Rprec", "Rprec(rel=2)", "Bpref", "infAP", "IPrec@0.1", "IPrec(rel=2)@0.5", "SetP", "SetRelP", "SetR", "SetF",
    "SetAP", "NumRet", "NumRel", "NumRelRet", "NumQ", "Judged@10", "Accuracy",
]  # fmt: skip


OWN = {"Judged@10", "Accuracy"}  # not through trec_eval: these break ties in another order


def data(*, tied: bool = True) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    rng = random.Random(4)
    docs = [f"d{n}" for n in range(40)]
    judged = {f"q{q}": {doc: rng.randrange(4) for doc in rng.sample(docs, 25)} for q in range(20)}
    results = {
        f"q{q}": {doc: (rng.randrange(30) if tied else place) / 7 for place, doc in enumerate(rng.sample(docs, 30))}
        for q in range(20)
    }
    return judged, results


@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_canonical_in_both_and_the_value_the_same(name: str) -> None:
    judged, results = data(tied=name not in OWN)
    theirs = ir_measures.parse_measure(name)
    assert str(parse_measure(str(theirs))) == str(parse_measure(name))
    wanted = ir_measures.calc_aggregate([theirs], judged, results)[theirs]
    assert evaluate(judged, results, name)[name] == pytest.approx(wanted, abs=1e-12)


def test_exponential_gain_is_read_from_its_notation() -> None:
    assert str(parse_measure(str(ir_measures.parse_measure("nDCG(dcg='exp-log2')@10")))) == "nDCG(gain='exp')@10"


def test_rr_with_a_cutoff_breaks_ties_by_ascending_id_there_and_as_all_measures_do_here() -> None:
    judged, results = data()
    name = ir_measures.parse_measure("RR@10")
    theirs = ir_measures.calc_aggregate([name], judged, results)[name]
    ranked = {query: sorted(scores, key=lambda doc: (-scores[doc], doc)) for query, scores in results.items()}
    untied = {query: {doc: -float(rank) for rank, doc in enumerate(docs)} for query, docs in ranked.items()}
    assert evaluate(judged, untied, "RR@10")["RR@10"] == pytest.approx(theirs, abs=1e-12)
    few_judged, tied = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    assert ir_measures.calc_aggregate([name], few_judged, tied)[name] == 1.0
    ours = evaluate(few_judged, tied, ["RR", "RR@10"])
    assert (ours["RR"], ours["RR@10"]) == (1 / 3, 1 / 3)


def test_where_the_two_differ_on_purpose() -> None:
    # There beta is trec_eval's weight, and a negative grade is a judgment.
    judged, results = data()
    theirs = ir_measures.parse_measure("SetF(beta=2.)")
    wanted = ir_measures.calc_aggregate([theirs], judged, results)[theirs]
    assert evaluate(judged, results, "SetF(weight=2)")["SetF(weight=2)"] == pytest.approx(wanted, abs=1e-12)
    assert evaluate(judged, results, "SetF(beta=2)")["SetF(beta=2)"] != pytest.approx(wanted, abs=1e-6)
