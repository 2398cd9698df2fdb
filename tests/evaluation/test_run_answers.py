"""Questions that have no answer: five outcomes, thresholds, and how well scores separate the two classes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Conventions, InputError, compare, evaluate, gate
from rankgauge.evaluation.run_answers import threshold_curve
from rankgauge.history import History
from rankgauge.stats.proportions import auroc
from tests.conftest import Outcome

Row = dict[str, Any]
Command = Callable[..., Outcome]
MEASURES = "RightAnswer@2 WrongRefusal FalseAnswer RightRefusal"
AREAS = json.loads((Path(__file__).parents[1] / "data" / "scikit_learn" / "auroc.json").read_text())


def scored(*docs: str, top: float = 1.0) -> list[Row]:
    return [{"id": doc, "score": top - place / 100} for place, doc in enumerate(docs)]


def log(folder: Path, *rows: Row, name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


OUTCOMES: list[Row] = [
    {"query": "right answer", "retrieved": ["x", "a"], "relevant": ["a"]},
    {"query": "wrong answer", "retrieved": ["x", "y", "a"], "relevant": ["a"]},
    {"query": "wrong refusal", "retrieved": [], "relevant": ["a"]},
    {"query": "false answer", "retrieved": ["x"], "relevant": []},
    {"query": "right refusal", "retrieved": [], "relevant": None},
    {"query": "failed", "error": "timeout", "relevant": []},
]


def test_there_are_five_outcomes_and_failed_queries_have_none(tmp_path: Path) -> None:
    scores = evaluate(log(tmp_path, *OUTCOMES), measures=f"{MEASURES} R@2")
    table = {query: {str(m): scores.per_query(m).get(query) for m in scores.measures} for query in scores.queries}
    none = {"RightAnswer@2": None, "WrongRefusal": None, "FalseAnswer": None, "RightRefusal": None, "R@2": None}
    assert table == {
        "right answer": none | {"RightAnswer@2": 1, "WrongRefusal": 0, "R@2": 1},
        "wrong answer": none | {"RightAnswer@2": 0, "WrongRefusal": 0, "R@2": 0},
        "wrong refusal": none | {"RightAnswer@2": 0, "WrongRefusal": 1, "R@2": 0},
        "false answer": none | {"FalseAnswer": 1, "RightRefusal": 0},
        "right refusal": none | {"FalseAnswer": 0, "RightRefusal": 1},
        "failed": none,
    }
    assert scores["R@2"] == pytest.approx(1 / 3)
    assert scores.over_queries["R@2"][1] == 3
    assert scores.over_queries["FalseAnswer"] == (0.5, 2)


def test_a_flag_says_that_no_answer_exists_and_true_contradicts_an_empty_list(tmp_path: Path) -> None:
    rows = [
        {"query": "q1", "retrieved": ["x"], "relevant": ["a"], "answerable": True},
        {"query": "q2", "retrieved": ["x"], "answerable": False, "relevant": []},
        {"query": "q3", "retrieved": [], "relevant": ["b"], "answerable": True},
    ]
    scores = evaluate(log(tmp_path, *rows), measures="FalseAnswer WrongRefusal")
    assert scores.per_query("FalseAnswer") == {"q1": None, "q2": 1, "q3": None}
    assert scores.per_query("WrongRefusal") == {"q1": 0, "q2": None, "q3": 1}
    rows[2]["relevant"] = []
    with pytest.raises(InputError, match=r":3: expected relevant documents for query 'q3', which has an answer"):
        evaluate(log(tmp_path, *rows), measures="FalseAnswer")


def test_a_log_that_says_whether_it_refused_is_believed(tmp_path: Path) -> None:
    rows = [
        {"query": "q1", "retrieved": ["a"], "relevant": ["a"], "refused": True},
        {"query": "q2", "retrieved": ["x"], "relevant": [], "refused": True},
        {"query": "q3", "retrieved": ["x"], "relevant": [], "refused": False},
    ]
    scores = evaluate(log(tmp_path, *rows), measures="RightAnswer@1 WrongRefusal FalseAnswer")
    assert scores.per_query("RightAnswer@1")["q1"] == 0
    assert scores.per_query("WrongRefusal")["q1"] == 1
    assert scores["FalseAnswer"] == 0.5


def test_a_result_below_the_minimum_score_is_a_refusal(tmp_path: Path) -> None:
    rows = [
        {"query": "q1", "retrieved": scored("a", top=0.9), "relevant": ["a"]},
        {"query": "q2", "retrieved": scored("x", top=0.5), "relevant": []},
        {"query": "q3", "retrieved": scored("x", top=0.4), "relevant": []},
    ]
    path = log(tmp_path, *rows)
    for least, false_answers in ((0.4, 1), (0.5, 0.5), (0.51, 0)):
        scores = evaluate(path, measures="FalseAnswer", conventions=Conventions(min_score=least))
        assert scores["FalseAnswer"] == false_answers
    with pytest.raises(InputError, match=r"measures\.min_score needs scores"):
        evaluate(
            log(tmp_path, {"query": "q", "retrieved": ["a"], "relevant": []}),
            measures="FalseAnswer",
            conventions=Conventions(min_score=0.5),
        )


def test_a_retriever_that_always_returns_something_refuses_nothing(tmp_path: Path) -> None:
    rows = [{"query": f"q{n}", "retrieved": ["x"], "relevant": [] if n else ["x"]} for n in range(3)]
    scores = evaluate(log(tmp_path, *rows), measures=f"{MEASURES} R@1")
    assert (scores["FalseAnswer"], scores["RightRefusal"], scores["WrongRefusal"]) == (1, 0, 0)
    assert (scores["RightAnswer@2"], scores["R@1"]) == (1, 1)
    (note,) = [note.message for note in scores.notes if note.code == "always-answers"]
    assert note.endswith(
        "every query was answered, those without an answer, too; --set measures.min_score=SCORE refuses"
    )


def test_a_retriever_that_returns_nothing_refuses_everything(tmp_path: Path) -> None:
    rows = [{"query": f"q{n}", "retrieved": [], "relevant": [] if n % 2 else ["x"]} for n in range(4)]
    scores = evaluate(log(tmp_path, *rows), measures=MEASURES)
    assert (scores["FalseAnswer"], scores["WrongRefusal"]) == (0, 1)


def test_a_query_that_a_pipeline_rightly_skipped_is_in_no_class(tmp_path: Path) -> None:
    rows = [
        {"query": "q1", "retrieved": [], "relevant": [], "skipped": True},
        {"query": "q2", "retrieved": [], "relevant": ["a"], "skipped": True},
        {"query": "q3", "retrieved": ["x"], "relevant": [], "skipped": False},
    ]
    scores = evaluate(log(tmp_path, *rows), measures="FalseAnswer WrongRefusal")
    assert scores.per_query("FalseAnswer") == {"q1": None, "q2": None, "q3": 1}
    assert scores.per_query("WrongRefusal") == {"q1": None, "q2": 1, "q3": None}


def test_the_default_measures_of_labels_with_unanswerable_queries_include_refusals(tmp_path: Path) -> None:
    names = [*map(str, evaluate(log(tmp_path, *OUTCOMES)).measures)]
    assert names == ["nDCG@10", "RR@10", "R@10", "RightAnswer@10", "WrongRefusal", "FalseAnswer"]


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=8), st.integers(0, 7))
@settings(max_examples=40)
def test_outcomes_equal_a_plain_loop_and_duplicating_an_unanswerable_query_changes_no_ranking_measure(
    cases: list[tuple[bool, bool, bool]], again: int
) -> None:
    rows: list[Row] = [
        {
            "query": f"q{number}",
            "retrieved": [] if is_refused else ["a" if is_right else "x"],
            "relevant": ["a"] if has_answer else [],
            "refused": is_refused,
        }
        for number, (has_answer, is_refused, is_right) in enumerate(cases)
    ]
    judged = [row for row in rows if row["relevant"]]
    others = [row for row in rows if not row["relevant"]]
    if not judged:
        return
    scores = _evaluated(rows)
    assert scores["RightAnswer@1"] == pytest.approx(sum(row["retrieved"] == ["a"] for row in judged) / len(judged))
    assert scores["WrongRefusal"] == pytest.approx(sum(row["refused"] for row in judged) / len(judged))
    if others:
        expected = sum(not row["refused"] for row in others) / len(others)
        assert scores["FalseAnswer"] == pytest.approx(expected)
        assert scores["RightRefusal"] == pytest.approx(1 - expected)
        twice = _evaluated([*rows, {**others[again % len(others)], "query": "once more"}])
        for name in ("R@1", "RR", "nDCG@1", "RightAnswer@1", "WrongRefusal"):
            assert twice[name] == scores[name]


def _evaluated(rows: list[Row]) -> Any:
    from rankgauge.core.qrels import Qrels
    from rankgauge.core.run import Run, RunExtras

    columns = {"answerable": {row["query"]: bool(row["relevant"]) for row in rows}}
    qrels = Qrels.from_lists({row["query"]: row["relevant"] for row in rows}, columns=columns)
    run = Run.from_lists({row["query"]: row["retrieved"] for row in rows})
    refused = {row["query"]: row["refused"] for row in rows}
    from dataclasses import replace

    measures = "RightAnswer@1 WrongRefusal FalseAnswer RightRefusal R@1 RR nDCG@1"
    return evaluate(qrels, replace(run, extras=RunExtras(refused=refused)), measures)


# -- which threshold? ----------------------------------------------------------------------------------------


def test_areas_are_those_of_scikit_learn() -> None:
    assert AREAS["computed_with"].startswith("scikit-learn ")
    for case in AREAS["cases"]:
        value, _ = auroc(np.array(case["answerable"]), np.array(case["unanswerable"]))
        assert value == pytest.approx(case["auroc"], abs=1e-12)


@given(
    st.lists(st.sampled_from([-math.inf, 0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=8),
    st.lists(st.sampled_from([-math.inf, 0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=8),
)
@settings(max_examples=30, deadline=None)
def test_the_area_is_the_share_of_pairs_in_the_right_order_and_no_interval_has_the_width_0(
    positive: list[float], negative: list[float]
) -> None:
    value, interval = auroc(np.array(positive), np.array(negative))
    pairs = [(1.0 if p > n else 0.5 if p == n else 0.0) for p in positive for n in negative]
    assert value == pytest.approx(sum(pairs) / len(pairs))
    assert interval.low is not None
    assert interval.high is not None
    assert 0 <= interval.low <= value <= interval.high <= 1
    assert interval.low < interval.high


def test_the_curve_has_the_values_at_each_threshold(tmp_path: Path, command: Command) -> None:
    rows: list[Row] = [
        {"query": "q1", "retrieved": scored("a", top=0.9), "relevant": ["a"]},
        {"query": "q2", "retrieved": scored("x", top=0.7), "relevant": ["a"]},
        {"query": "q3", "retrieved": scored("a", top=0.3), "relevant": ["a"]},
        {"query": "q4", "retrieved": scored("x", top=0.7), "relevant": []},
        {"query": "q5", "retrieved": [], "relevant": []},
    ]
    path = log(tmp_path, *rows)
    curve = threshold_curve(evaluate(path))
    assert curve is not None
    found = [value for row in curve.thresholds for value in (row.score, row.right_answers, row.false_answers)]
    assert found == pytest.approx([0.3, 2 / 3, 0.5, 0.7, 1 / 3, 0.5, 0.9, 1 / 3, 0])
    assert curve.auroc == pytest.approx((1 + 1 + 0.5 + 1 + 0 + 1) / 6)
    told = command("evaluate", path)
    assert "min score  right answers @10  false answers" in told.out
    assert "3 queries that have an answer from 2 that have none: AUROC 0.75" in told.out
    data = json.loads(command("evaluate", path, "--format", "json").out)["runs"][0]["thresholds"]
    assert data["auroc"] == curve.auroc
    assert len(data["thresholds"]) == 3


def test_scores_that_are_ranks_in_disguise_are_a_warning(tmp_path: Path) -> None:
    rows = [
        {"query": f"q{n}", "retrieved": [{"id": "x", "score": 0.5}], "relevant": [] if n else ["x"]} for n in range(6)
    ]
    scores = evaluate(log(tmp_path, *rows), measures="FalseAnswer", conventions=Conventions(min_score=0.2))
    assert [note.code for note in scores.notes if note.code == "scores-are-ranks"] == ["scores-are-ranks"]


# -- comparisons ---------------------------------------------------------------------------------------------


def _rows(false_answers: int) -> list[Row]:
    return [
        {
            "query": f"q{n:02}",
            "retrieved": (["a"] if n % 2 else ["x"]) if n < 30 or n < 30 + false_answers else [],
            "relevant": ["a"] if n < 30 else [],
        }
        for n in range(60)
    ]


def test_more_false_answers_are_worse_and_fail_a_gate(tmp_path: Path) -> None:
    before, now = (log(tmp_path, *_rows(count), name=f"{count}.jsonl") for count in (3, 20))
    result = gate(now, baseline=before)
    row = next(row for row in result.compared if row.measure == "FalseAnswer")
    assert (row.decision.outcome, row.decision.n) == ("worse", 30)
    assert row.change == pytest.approx(17 / 30)
    assert next(row for row in result.compared if row.measure == "R@10").decision.outcome == "unchanged"
    comparison = compare(before, [before, now], "R@10 FalseAnswer")
    assert comparison[comparison.names[1], "FalseAnswer"].outcome(0.05) == "worse"
    assert comparison[comparison.names[1], "FalseAnswer"].n == 30


SCORED = ("-m", "FalseAnswer", "-m", "RightAnswer@10", "-m", "R@10")


def scores_file(tmp_path: Path, command: Command, path: Path) -> Path:
    """The scores of a log, as a file."""
    done = command("evaluate", path, *SCORED, "-q", "--format", "json")
    assert done.code == 0, done.err
    (tmp_path / "scores.json").write_text(done.out)
    return tmp_path / "scores.json"


@pytest.mark.parametrize("forbidden", [{}, {"forbidden": ["z"]}])
def test_scores_know_the_classes_and_a_log_is_scored_with_the_labels_of_the_new_one(
    tmp_path: Path, command: Command, forbidden: Row
) -> None:
    rows = [{**row, **forbidden} for row in _rows(3)]
    path = log(tmp_path, *rows)
    before = scores_file(tmp_path, command, path)
    for baseline in (path, before):
        same = command("gate", log(tmp_path, *rows, name="same.jsonl"), "--baseline", baseline, *SCORED)
        assert same.code == 0, same.err
        assert "has the same values as" in same.out
        assert "left out" not in same.out + same.err
    relabeled = [{**row, "relevant": ["a", "b"]} if row["query"] == "q03" else row for row in rows]
    now = log(tmp_path, *relabeled, name="now.jsonl")
    again = command("gate", now, "--baseline", path, *SCORED)  # both with the labels of today
    assert again.code == 0, again.err
    assert "has the same values as" in again.out
    given = command("gate", now, "--baseline", before, *SCORED)
    assert given.code == 0, given.err
    assert "1 query has other labels than in" in given.out
    assert "left out ('q03')" in given.out


@pytest.mark.parametrize("forbidden", [{}, {"forbidden": ["z"]}])
@pytest.mark.parametrize(("query", "relevant"), [("q59", ["a"]), ("q01", [])])
def test_a_query_that_changed_its_class_is_not_compared_with_its_scores(
    tmp_path: Path, command: Command, query: str, relevant: list[str], forbidden: Row
) -> None:
    rows = [{**row, **forbidden} for row in _rows(3)]
    before = scores_file(tmp_path, command, log(tmp_path, *rows))
    changed = [{**row, "relevant": relevant} if row["query"] == query else row for row in rows]
    now = log(tmp_path, *changed, name="now.jsonl")
    has_answer = bool(relevant)  # now, and had none before; or the other way around
    for measure, others in (("FalseAnswer", 29 if has_answer else 30), ("R@10", 30 if has_answer else 29)):
        outcome = command("gate", now, "--baseline", before, "-m", measure, "--format", "json")
        data = json.loads(outcome.out)["gate"]
        assert [row["n"] for row in data["compared"]] == [others]
        assert data["compared"][0]["change"] == 0
        notes = {note["code"]: note["message"] for note in data["notes"]}
        assert notes["labels-changed"].endswith(f"left out ('{query}')")


@pytest.mark.parametrize("forbidden", [{}, {"forbidden": ["z"]}])
def test_the_history_keeps_the_classes_and_what_is_forbidden(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, forbidden: Row
) -> None:
    monkeypatch.chdir(tmp_path)
    path = log(tmp_path, *({**row, **forbidden} for row in _rows(3)))
    expected = command("evaluate", path, "--save", "--save-run", "--format", "json", "-q")
    (entry,) = History.open(create=False).entries()
    again = command("evaluate", entry.log, "--format", "json", "-q")
    assert again.code == expected.code == 0, again.err
    runs = [json.loads(outcome.out)["runs"][0] for outcome in (expected, again)]
    assert runs[0]["per_query"] == runs[1]["per_query"]
    scores = json.loads(command("evaluate", entry.path, "--format", "json", "-q").out)["runs"][0]
    assert scores["per_query"] == runs[0]["per_query"]
    assert {name: row["value"] for name, row in scores["measures"].items()} == {
        name: row["value"] for name, row in runs[0]["measures"].items()
    }


def test_answers_and_leaks_ask_a_live_retriever_for_no_more_than_other_measures_do() -> None:
    from rankgauge.evaluation.evaluate import DEFAULT_DEPTH, needed_depth
    from rankgauge.measures.names import parse_measures

    assert needed_depth(parse_measures("R@10 Leak FalseAnswer")) == 10
    assert needed_depth(parse_measures("Leak@20 R@10")) == 20
    assert needed_depth(parse_measures("Rprec Leak")) == DEFAULT_DEPTH
    assert needed_depth(parse_measures("Leak")) == DEFAULT_DEPTH
