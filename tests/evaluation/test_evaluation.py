from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rankgauge import Conventions, InputError, Qrels, Run, UsageError, evaluate, evaluate_runs

JUDGED = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}, "q3": {"d": 0}}
RESULTS = {"q1": {"b": 3.0, "a": 2.0, "z": 1.0}, "q3": {"d": 1.0}, "q9": {"x": 1.0}}


def codes(qrels: object, run: object, measures: str = "P@5") -> list[str]:
    return [note.code for note in evaluate(qrels, run, measures).notes]


def test_every_judged_query_is_averaged_and_a_missing_one_counts_zero() -> None:
    scores = evaluate(JUDGED, RESULTS, "RR")
    assert scores.per_query("RR") == {"q1": 0.5, "q2": 0.0, "q3": 0.0}
    assert scores["RR"] == pytest.approx(0.5 / 3)


def test_only_queries_in_both_may_be_averaged() -> None:
    scores = evaluate(JUDGED, RESULTS, "RR", conventions=Conventions(query_set="both"))
    assert scores.per_query("RR") == {"q1": 0.5, "q3": 0.0}
    assert scores["RR"] == 0.25


def test_queries_without_relevant_documents_may_be_skipped() -> None:
    scores = evaluate(JUDGED, RESULTS, "RR", conventions=Conventions(no_relevant="skip"))
    assert set(scores.per_query("RR")) == {"q1", "q2"}


def test_nothing_to_average_is_none_and_never_zero() -> None:
    skip = Conventions(no_relevant="skip")
    scores = evaluate({"q": {"a": 0}}, {"q": ["a"]}, "AP FirstRel NumQ", conventions=skip)
    assert scores["AP"] is None
    assert scores["FirstRel"] is None
    assert scores["NumQ"] == 0


def test_the_mean_of_a_value_that_may_be_null_is_over_those_that_are_not() -> None:
    scores = evaluate({"a": {"x": 1}, "b": {"x": 1}}, {"a": ["y", "x"], "b": ["y"]}, "FirstRel")
    assert scores.over_queries == {"FirstRel": (2.0, 1)}
    assert scores.per_query("FirstRel") == {"a": 2.0, "b": None}


def test_a_failed_query_is_not_scored_as_zero() -> None:
    run = Run.from_dict({"q1": {"a": 1.0}}, failed=["q2"])
    scores = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, run, "RR")
    assert scores["RR"] == 1.0
    assert scores.per_query("RR") == {"q1": 1.0}
    assert "queries-failed" in [note.code for note in scores.notes]
    assert scores.to_dict()["queries"] == {"averaged": 1, "missing": 0, "failed": 1, "without_relevant": 0}


def test_rel_applies_to_measures_that_do_not_name_their_own_grade() -> None:
    scores = evaluate(JUDGED, RESULTS, "AP RR(rel=3) nDCG RBP(rel=3)", conventions=Conventions(rel=2))
    assert [str(m) for m in scores.measures] == ["AP(rel=2)", "RR(rel=3)", "nDCG", "RBP(rel=3)"]


def test_no_query_in_common_is_an_error_with_samples() -> None:
    with pytest.raises(InputError, match="no query in common: 'x' and 'q1', 'q2', 'q3'"):
        evaluate(JUDGED, {"x": ["a"]})


@pytest.mark.parametrize("run", [{}, Run.from_dict({})])
def test_a_run_without_any_query_is_empty_and_not_one_with_other_ids(run: object) -> None:
    with pytest.raises(InputError, match="run 'run' is empty"):
        evaluate(JUDGED, run, "AP")


@pytest.mark.parametrize(
    ("qrels", "run", "measures", "code"),
    [
        (JUDGED, RESULTS, "AP", "queries-missing"),
        (JUDGED, RESULTS, "AP", "queries-unjudged"),
        (JUDGED, RESULTS, "AP", "no-relevant"),
        (JUDGED, RESULTS, "AP", "unjudged"),
        (JUDGED, RESULTS, "P@5", "shallow-run"),
        (JUDGED, {"q1": {"a": 1.0, "b": 1.0}}, "P@1", "tie-at-cutoff"),
        (JUDGED, {"q1": {"A": 1.0, "B": 0.5}}, "P@1", "nothing-judged"),
    ],
)
def test_what_a_reader_should_know_gets_a_note(qrels: object, run: object, measures: str, code: str) -> None:
    assert code in codes(qrels, run, measures)


def pools(judged: int, retrieved: int, queries: int = 4) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Queries with some judged documents, of which the first is relevant; all retrieved documents are judged first."""
    names = [f"d{number}" for number in range(max(judged, retrieved))]
    return (
        {f"q{query}": {name: int(name == "d0") for name in names[:judged]} for query in range(queries)},
        {f"q{query}": names[:retrieved] for query in range(queries)},
    )


@pytest.mark.parametrize(
    ("judged", "retrieved", "incomplete"),
    [(100, 100, ""), (99, 100, "R@100"), (50, 100, "R@100"), (49, 100, "R@50 R@100"), (20, 20, "R@50 R@100")],
)
def test_values_beyond_the_depth_of_run_or_pools_are_incomplete(judged: int, retrieved: int, incomplete: str) -> None:
    scores = evaluate(*pools(judged, retrieved), "R@10 R@50 R@100 AP")
    assert list(scores.incomplete) == incomplete.split()
    assert [name for name, value in scores.to_dict()["measures"].items() if "incomplete" in value] == incomplete.split()


def test_a_short_ranking_that_is_judged_as_a_whole_needs_no_deeper_pool() -> None:
    qrels, run = pools(60, 100)
    for query in list(run)[:2]:
        run[query] = run[query][:60]
    assert "shallow-pool" not in codes(qrels, run, "R@100")  # of half of the queries
    run["q0"] = [*qrels["q0"], "x"]
    assert "shallow-pool" in codes(qrels, run, "R@100")


def test_labels_without_negatives_have_no_pool_to_be_shallow() -> None:
    qrels, run = pools(1, 100)
    assert "shallow-pool" not in codes(qrels, run, "R@100")


def test_a_clean_evaluation_has_no_notes() -> None:
    assert codes({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}, "P@2") == []


def test_several_runs_are_scored_on_each_of_several_judgments() -> None:
    strict = Qrels.from_dict({"q": {"a": 1}}, name="strict")
    kind = Qrels.from_dict({"q": {"a": 1, "b": 1}}, name="kind")
    runs = [Run.from_lists({"q": ["b", "a"]}, name="one"), Run.from_lists({"q": ["a"]}, name="two")]
    scores = [run for qrels in (strict, kind) for run in evaluate_runs(qrels, runs, "P@1").scores]
    assert [(s.qrels, s.run, s["P@1"]) for s in scores] == [
        ("strict", "one", 0.0), ("strict", "two", 1.0), ("kind", "one", 1.0), ("kind", "two", 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["compat", "query_set", "no_relevant"])
def test_an_unknown_convention_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name}: expected one of"):
        Conventions(**{name: "other"})  # type: ignore[arg-type]  # refused at run time


def test_scores_say_what_they_are() -> None:
    scores = evaluate(JUDGED, RESULTS, "RR")
    assert repr(scores) == "Scores('run' on 'qrels', 3 queries: RR=0.1667)"
    assert len(scores) == 3
    assert "float32" in str(scores.conventions)
    assert "float64" in str(Conventions("trec_eval-10"))


def test_values_are_not_rounded() -> None:
    value = evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a"]}, "R@5")["R@5"]
    assert value == 1 / 3
    assert not math.isclose(value, 0.3333, rel_tol=1e-9)


def test_version_10_compares_scores_as_float64() -> None:
    run = {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    assert evaluate({"q": {"a": 1}}, run, "RR")["RR"] == 0.5
    assert evaluate({"q": {"a": 1}}, run, "RR", conventions=Conventions("trec_eval-10"))["RR"] == 1.0


def test_lists_of_pairs_and_of_ids() -> None:
    one = evaluate({"q": ["a"]}, {"q": [("a", 2.0), ("b", 1.0)]}, "RR")["RR"]
    other = evaluate({"q": ["a"]}, {"q": ["a", "b"]}, "RR")["RR"]
    assert one == other == 1.0


def test_columns_come_along() -> None:
    qrels = Qrels.from_dict(JUDGED, columns={"category": {"q1": "x", "q2": "y", "q3": "x"}})
    assert evaluate(qrels, RESULTS, "RR").columns["category"].tolist() == ["x", "y", "x"]
    assert np.array_equal(evaluate(qrels, RESULTS, "RR").averaged, [True] * 3)


def test_an_interval_has_any_confidence_and_side() -> None:
    from rankgauge.stats.intervals import geometric_mean_interval, mean_interval

    judged = {f"q{n}": {"a": 1, "b": 1} for n in range(6)}
    scores = evaluate(judged, {f"q{n}": ["x", "a", "b"][n % 2 :] for n in range(6)}, "AP GMAP Success@1")
    values, hits = scores.values[:, 0], scores.values[:, 2]
    for side in ("two-sided", "less", "greater"):
        assert scores.interval("AP", confidence=0.8, alternative=side) == mean_interval(
            values, method="bootstrap-t", confidence=0.8, alternative=side
        )
        geometric = geometric_mean_interval(values, method="bootstrap-t", alternative=side)
        cut = geometric if side == "greater" else replace(geometric, high=min(geometric.high or 0.0, 1.0))
        assert scores.interval("GMAP", alternative=side) == cut
        assert scores.interval("Success@1", alternative=side) == mean_interval(hits, method="wilson", alternative=side)


def test_intervals_of_several_runs_are_those_of_each_alone() -> None:
    from rankgauge.evaluation.mean_intervals import intervals_of_scores

    judged = {f"q{n}": {"a": 1, "b": 2, "c": n % 3} for n in range(20)}
    rankings = [{f"q{n}": ["x", "a", "y", "b", "c"][n % m :] for n in range(20 - m)} for m in (2, 3, 4)]
    runs = [
        evaluate(judged, ranking, "nDCG@5 AP GMAP Success@1 NumRet RR", conventions=Conventions(query_set="both"))
        for ranking in rankings
    ]
    for scores, intervals in zip(runs, intervals_of_scores(runs, 0.9), strict=True):
        assert intervals == {measure.name: scores.interval(measure, confidence=0.9) for measure in scores.measures}


def test_a_grade_that_a_name_says_itself_stays() -> None:
    judged = {"q": {"a": 1, "b": 2}}
    run = {"q": ["a", "b"]}
    found = evaluate(judged, run, "AP(rel=1) AP P(rel=2)@1", conventions=Conventions(rel=2))
    assert [str(measure) for measure in found.measures] == ["AP", "AP(rel=2)", "P(rel=2)@1"]
    assert (found["AP"], found["AP(rel=2)"]) == (1.0, 0.5)


def test_an_interval_does_not_leave_the_range_of_its_measure() -> None:
    judged = {f"q{number}": {"a": 1} for number in range(3)}
    run = {"q0": ["a"], "q1": ["x", "a"], "q2": ["a"]}
    found = evaluate(judged, run, "RR").interval("RR")
    # One of three values differs from 1: at most 90.6% of all do (Clopper and Pearson), and those are at least 0.
    assert found.low == pytest.approx(1 - 0.9057, abs=1e-4)
    assert found.high == 1
    for n, share in ((2, 0.842), (20, 0.168)):
        equal = evaluate({f"q{i}": {"a": 1} for i in range(n)}, {f"q{i}": ["x", "a"] for i in range(n)}, "RR")
        interval = equal.interval("RR")
        assert interval.method == "range"
        assert (interval.low, interval.high) == pytest.approx((0.5 - share / 2, 0.5 + share / 2), abs=1e-3)


def test_a_value_is_found_under_the_name_it_was_asked_for_by() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}
    scores = evaluate(qrels, run, "AP RR(rel=1)", conventions=Conventions(rel=2))
    assert scores["AP"] == scores["AP(rel=2)"] == 0.5
    assert scores["RR(rel=1)"] == scores["RR"] == 1
    with pytest.raises(KeyError):
        evaluate(qrels, run, "AP", conventions=Conventions(rel=2))["AP(rel=1)"]
