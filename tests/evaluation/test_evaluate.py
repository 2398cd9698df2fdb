"""Scores that were computed elsewhere are compared and gated as runs are."""

from __future__ import annotations

import numpy as np
import pytest

from rankgauge import Conventions, InputError, Qrels, Run, Scores, compare, evaluate, evaluate_runs, gate

JUDGED = {f"q{n}": {"a": 2, "b": 1, "c": 0} for n in range(12)}
GOOD = {f"q{n}": {"a": 3.0, "b": 2.0, "c": 1.0} for n in range(12)}
BAD = {f"q{n}": {"c": 3.0, "b": 2.0, "a": 1.0 + 1.5 * (n % 2)} for n in range(12)}
QRELS, NAMES = Qrels.from_dict(JUDGED), ["nDCG@10", "ERR", "RR"]


def scored(results: dict[str, dict[str, float]], name: str) -> Scores:
    return evaluate(QRELS, Run.from_dict(results, name=name), NAMES)


def test_a_comparison_of_scores_is_that_of_their_runs() -> None:
    runs = [Run.from_dict(GOOD, name="good"), Run.from_dict(BAD, name="bad")]
    for given in ([scored(GOOD, "good"), scored(BAD, "bad")], [scored(GOOD, "good"), runs[1]]):
        ours, theirs = compare(QRELS, given, NAMES), compare(QRELS, runs, NAMES)
        assert ours.differences == theirs.differences
        assert [run.notes for run in ours.scores] == [run.notes for run in theirs.scores]


def test_a_gate_on_scores_decides_as_one_on_runs() -> None:
    for now, before in ((GOOD, BAD), (BAD, GOOD)):
        result = gate(QRELS, scored(now, "now"), NAMES, baseline=scored(before, "before"))
        expected = gate(QRELS, Run.from_dict(now, name="now"), NAMES, baseline=Run.from_dict(before, name="before"))
        assert (result.verdict, result.compared) == (expected.verdict, expected.compared)
        assert result.baseline is not None
        assert expected.baseline is not None
        assert np.array_equal(result.baseline.values, expected.baseline.values)


def test_a_drop_of_scores_is_not_blamed_on_documents_that_nobody_knows() -> None:
    result = gate(QRELS, scored(BAD, "now"), NAMES, baseline=Run.from_dict(GOOD, name="before"))
    assert result.verdict == "fail"
    assert result.lost is None


def test_scores_need_the_measure_and_say_if_they_may_have_been_made_in_another_way() -> None:
    scores = scored(GOOD, "good")
    with pytest.raises(InputError, match=r"'good' has no values of AP; it has 'nDCG@10', 'ERR', 'RR'"):
        evaluate_runs(QRELS, [scores], "AP")
    other = evaluate_runs(QRELS, [scores], "RR", conventions=Conventions(no_relevant="skip")).scores[0]
    assert [note.code for note in other.notes][-1] == "scored-elsewhere"
    with pytest.raises(InputError, match="may have been scored in another way"):
        gate(QRELS, BAD, "RR", baseline=scores, conventions=Conventions(no_relevant="skip"))
    changed = evaluate_runs({"q1": {"a": 1}}, [scores], "RR").scores[0]
    assert [note.code for note in changed.notes][-1] == "labels-changed"
    assert changed["RR"] is None
    assert evaluate_runs(QRELS, [scores], "ERR").scores[0]["ERR"] == scores["ERR"]


def test_a_number_that_no_array_holds_is_a_label() -> None:
    judged = {"q1": {"a": 1}, "q2": {"a": 1}}
    qrels = Qrels.from_dict(judged, columns={"kind": {"q1": 10**400, "q2": 2**64}})
    groups = evaluate(qrels, {"q1": ["a"], "q2": ["x"]}, "RR").by("kind")
    assert [group.label for group in groups] == [str(10**400), str(2**64)]
