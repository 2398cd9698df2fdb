from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import InputError, Qrels, UsageError, evaluate, evaluate_all
from rankgauge.config import apply
from rankgauge.config.apply import Plan, binary, default_cache_file
from rankgauge.config.statistics import statistics_of
from rankgauge.render.text.statistics import as_text
from rankgauge.stats.intervals import geometric_mean_interval, mean_interval
from rankgauge.stats.tests import paired_t

QRELS = {f"q{n}": {"a": 1 + n % 3, "b": 1, "c": 0, "d": -1} for n in range(6)}
GOOD = {f"q{n}": ["a", "b", "x"] if n % 2 else ["x", "a", "c"] for n in range(6)}
BAD = {f"q{n}": ["x", "c", "a"] if n % 3 else ["b", "x"] for n in range(6)}


def test_a_plan_that_says_nothing_is_evaluate() -> None:
    (scores,) = Plan().evaluate(QRELS, [GOOD])
    assert scores.to_dict(per_query=True) == evaluate(QRELS, GOOD).to_dict(per_query=True)


def test_a_plan_says_measures_level_and_conventions() -> None:
    plan = Plan(measures=("P@2", "RR"), level=2, queries="both", no_relevant="skip", compat="trec_eval-10")
    (scores,) = plan.evaluate(QRELS, [GOOD])
    wanted = evaluate(QRELS, GOOD, ["P@2", "RR"], rel=2, queries="both", no_relevant="skip", compat="trec_eval-10")
    assert scores.to_dict(per_query=True) == wanted.to_dict(per_query=True)
    assert scores.conventions == wanted.conventions


def test_what_a_user_gives_himself_wins() -> None:
    plan = Plan(measures=("P@2",), level=2).but(measures=("RR",), level=None, queries="both")
    assert plan == Plan(measures=("RR",), level=2, queries="both")
    assert Plan(measures=("P@2",)).but(measures=()) == Plan(measures=("P@2",))


def test_without_grades_every_measure_is_binary() -> None:
    names = ("nDCG@10", "ERR@10", "Q", "RBP", "AP", "Bpref", "G")
    plain: dict[str, Any] = {q: {d: 1 if g > 0 else g for d, g in row.items()} for q, row in QRELS.items()}
    (scores,) = Plan(measures=names, graded=False).evaluate(QRELS, [GOOD])
    wanted = evaluate(plain, GOOD, names)
    assert np.array_equal(scores.values, wanted.values)
    assert scores.qrels.endswith("(binary)")
    assert str(scores.conventions).startswith("binary judgments, relevant from grade 1; ")
    assert scores.conventions.to_dict()["grades"] == "binary: 1 from grade 1 on, else 0"


def test_without_grades_the_level_decides_what_is_relevant() -> None:
    (scores,) = Plan(measures=("nDCG@10", "RR"), graded=False, level=3).evaluate(QRELS, [GOOD])
    wanted = evaluate(QRELS, GOOD, "RR(rel=3)")
    assert list(scores.per_query("RR").values()) == list(wanted.per_query("RR(rel=3)").values())


def test_binary_judgments_keep_what_was_not_judged() -> None:
    made = binary(Qrels.from_dict({"q": {"a": 3, "b": 1, "c": 0.5, "d": 0, "e": -2}}))
    assert dict(zip(made.docs.to_text(), made.grades.tolist(), strict=True)) == {
        "a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": -2.0
    }  # fmt: skip


def test_without_grades_a_measure_of_grades_is_refused() -> None:
    with pytest.raises(UsageError, match=r"P\(rel=2\)@5 asks for grades from 2 on"):
        Plan(measures=("P(rel=2)@5",), graded=False).evaluate(QRELS, [GOOD])


def test_a_cache_changes_no_number_and_is_used(tmp_path: Path) -> None:
    plan = Plan(caching=True, cache_file=str(tmp_path / "c.sqlite"))
    wanted = [scores.to_dict(per_query=True) for scores in evaluate_all([QRELS], [GOOD, BAD])]
    for _ in range(2):
        found = plan.evaluate(QRELS, [GOOD, BAD])
        assert [scores.to_dict(per_query=True) for scores in found] == wanted
    from rankgauge import MetricsCache

    with MetricsCache(tmp_path / "c.sqlite") as cache:
        assert cache.info().entries == 2 * 7


def test_a_cache_reads_files_in_any_format(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q1 Q0 a 1 2 x\n")
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    plan = Plan(measures=("RR",), caching=True, cache_file=str(tmp_path / "c.sqlite"))
    (scores,) = plan.evaluate(tmp_path / "qrels", [str(tmp_path / "run")], fingerprint=True)
    (again,) = plan.evaluate(tmp_path / "qrels", [str(tmp_path / "run")], fingerprint=True)
    (plain,) = evaluate_all([tmp_path / "qrels"], [tmp_path / "run"], "RR", fingerprint=True)
    assert scores.to_dict() == again.to_dict() == plain.to_dict()


def test_the_cache_stands_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_file() == tmp_path / "rankgauge" / "metrics.sqlite"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache_file() == tmp_path / ".cache" / "rankgauge" / "metrics.sqlite"


@pytest.mark.parametrize(("parallel", "calls"), [(True, [2]), (False, [1, 1])])
def test_without_parallel_processing_runs_are_read_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch, parallel: bool, calls: list[int]
) -> None:
    seen = []

    def counting(qrels: Any, runs: Any, *rest: Any, **more: Any) -> Any:
        seen.append(len(runs))
        return evaluate_all(qrels, runs, *rest, **more)

    monkeypatch.setattr(apply, "evaluate_all", counting)
    found = Plan(parallel=parallel).evaluate(QRELS, [GOOD, BAD])
    assert seen == calls
    assert [scores.to_dict() for scores in found] == [scores.to_dict() for scores in evaluate_all([QRELS], [GOOD, BAD])]


def test_small_runs_start_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import subprocess

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a process was started")

    for name in ("one", "two"):
        (tmp_path / name).write_text("q1 Q0 a 1 2 x\n")
    monkeypatch.setattr(subprocess, "Popen", never)
    assert len(Plan(parallel=True).evaluate(QRELS, [tmp_path / "one", tmp_path / "two"])) == 2


def test_statistics_are_made_where_they_are_asked_for() -> None:
    plan = Plan(measures=("RR", "nDCG@3", "GMAP", "hits"), confidence_intervals=True, significance_testing=True)
    scores = plan.evaluate(QRELS, [GOOD, BAD])
    found = statistics_of(scores, plan)
    values = list(scores[1].per_query("RR").values())
    interval = found.intervals[1]["RR"]
    wanted = mean_interval([value for value in values if value is not None])
    assert (interval.low, interval.high) == (wanted.low, wanted.high)
    assert set(found.intervals[0]) == {"RR", "nDCG@3", "GMAP"}  # a sum has no interval
    maps = [value or 0.0 for value in scores[0].per_query("GMAP").values()]
    plain = geometric_mean_interval(maps)
    assert plain.high is not None
    assert plain.high > 1  # where no mean can be
    assert found.intervals[0]["GMAP"] == replace(plain, high=1.0)
    first = found.tests[0]
    ours, theirs = ([value or 0.0 for value in run.per_query("RR").values()] for run in (scores[1], scores[0]))
    assert first.p == paired_t(ours, theirs).p
    assert first.corrected is not None
    assert first.p is not None
    assert first.corrected >= first.p
    assert first.difference == pytest.approx(sum(ours) / 6 - sum(theirs) / 6)
    assert [test.measure for test in found.tests] == ["RR", "nDCG@3", "GMAP"]
    logs = [np.log(np.maximum(run.values[:, 2], 1e-5)) for run in (scores[1], scores[0])]
    assert found.tests[2].p == paired_t(*logs).p  # geometric means on the scale of logarithms
    assert found.tests[2].difference == pytest.approx((scores[1]["GMAP"] or 0) - (scores[0]["GMAP"] or 0))


def test_statistics_that_nobody_asked_for_are_not_there() -> None:
    plan = Plan(measures=("RR",))
    scores = plan.evaluate(QRELS, [GOOD, BAD])
    found = statistics_of(scores, plan)
    assert (found.intervals, found.tests) == ((), ())
    assert as_text(scores, found, colour=False) == ""


def test_statistics_print_and_go_to_json() -> None:
    plan = Plan(measures=("RR",), confidence_intervals=True, significance_testing=True, alpha=0.1)
    scores = plan.evaluate(QRELS, [GOOD, BAD])
    found = statistics_of(scores, plan)
    text = as_text(scores, found, colour=False)
    assert text.startswith("90% interval")
    assert "paired t test" in text
    made = found.to_dict()
    assert made["level"] == pytest.approx(0.9)
    assert set(made["intervals"][0]) == {"RR"}
    assert made["tests"][0]["measure"] == "RR"


def test_one_query_has_no_interval_and_a_reason() -> None:
    plan = Plan(measures=("RR",), confidence_intervals=True, significance_testing=True)
    one = {"q1": QRELS["q1"]}
    scores = plan.evaluate(one, [{"q1": ["a"]}, {"q1": ["x", "a"]}])
    found = statistics_of(scores, plan)
    assert found.intervals[0]["RR"].low is None
    assert "at least 2" in (found.intervals[0]["RR"].reason or "")
    assert found.tests[0].significant is None
    assert "–" in as_text(scores, found, colour=False)


def test_a_cache_file_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("no database at all, but some text that is long enough" * 20)
    with pytest.raises(InputError, match="cannot use"):
        Plan(caching=True, cache_file=str(tmp_path / "c")).evaluate(QRELS, [GOOD])
