"""One ``Settings`` from a file, options and Python, and what each setting does to the numbers."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import (
    Conventions,
    Qrels,
    Settings,
    Statistics,
    UsageError,
    evaluate,
    evaluate_runs,
    load_settings,
)
from rankgauge.cli.commands.evaluate import compared
from rankgauge.cli.process import MEMORY_HINT
from rankgauge.config import load_bands
from rankgauge.core.hits import Joined
from rankgauge.evaluation import Evaluation
from rankgauge.io.pipeline import parallel
from rankgauge.io.pipeline.joining import join_any
from rankgauge.stats.intervals import geometric_mean_interval, mean_interval
from rankgauge.stats.paired_tests import paired_t

Command = Callable[..., Any]
QRELS = {f"q{n}": {"a": 1 + n % 3, "b": 1, "c": 0, "d": -1} for n in range(6)}
GOOD = {f"q{n}": ["a", "b", "x"] if n % 2 else ["x", "a", "c"] for n in range(6)}
BAD = {f"q{n}": ["x", "c", "a"] if n % 3 else ["b", "x"] for n in range(6)}


def evaluated(settings: Settings, *runs: Any) -> Evaluation:
    return evaluate_runs(QRELS, runs, settings.measures, conventions=settings.conventions)


def test_settings_that_set_nothing_are_the_defaults_of_evaluate() -> None:
    (scores,) = evaluated(load_settings({}), GOOD).scores
    assert scores.to_dict(per_query=True) == evaluate(QRELS, GOOD).to_dict(per_query=True)
    assert scores.conventions == Conventions()


def test_settings_have_measures_and_conventions() -> None:
    settings = load_settings(
        {
            "measures": {
                "names": ["P@2", "RR"],
                "rel": 2,
                "query_set": "both",
                "no_relevant": "skip",
                "compat": "trec_eval-10",
            }
        }
    )
    (scores,) = evaluated(settings, GOOD).scores
    conventions = Conventions("trec_eval-10", query_set="both", no_relevant="skip", rel=2)
    expected = evaluate(QRELS, GOOD, ["P@2", "RR"], conventions=conventions)
    assert scores.to_dict(per_query=True) == expected.to_dict(per_query=True)
    assert scores.conventions == expected.conventions == conventions


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Judgments and two runs."""
    for name, content in (("qrels", QRELS), ("good", GOOD), ("bad", BAD)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return [tmp_path / f"{name}.json" for name in ("qrels", "good", "bad")]


def test_options_override_the_file_and_the_file_overrides_defaults(files: list[Path], command: Command) -> None:
    config = files[0].parent / "rankgauge.yaml"
    config.write_text("measures: {names: [P@2], rel: 2}\n")
    options = ("--config", config, "--format", "json", "-m", "RR", "--set", "measures.query_set=both")
    data = json.loads(command("evaluate", *files, *options).out)
    assert list(data["runs"][0]["measures"]) == ["RR(rel=2)"]
    assert (data["conventions"]["rel"], data["conventions"]["query_set"]) == (2, "both")
    data = json.loads(command("evaluate", *files, "--config", config, "--format", "json", "--rel", "1").out)
    assert list(data["runs"][0]["measures"]) == ["P@2"]
    assert (data["conventions"]["rel"], data["conventions"]["query_set"]) == (1, "qrels")


def test_settings_are_written_to_a_manifest_and_read_back() -> None:
    settings = Settings(
        measures=("RR", "AP"),
        conventions=Conventions(rel=2, graded=False),
        statistics=Statistics(test="t", confidence=0.9, rope=0.1),
        baseline="bm25",
        by=("category",),
        bands=load_bands("trec-2025"),
        changes=5,
    )
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    assert Settings.from_dict(json.loads(json.dumps(Settings().to_dict()))) == Settings()


def test_without_grades_every_measure_is_binary() -> None:
    names = ("nDCG@10", "ERR@10", "Q", "RBP", "AP", "Bpref", "G")
    binary: dict[str, Any] = {q: {d: 1 if g > 0 else g for d, g in row.items()} for q, row in QRELS.items()}
    (scores,) = evaluated(Settings(measures=names, conventions=Conventions(graded=False)), GOOD).scores
    expected = evaluate(binary, GOOD, names)
    assert np.array_equal(scores.values, expected.values)
    assert scores.qrels.endswith("(binary)")
    assert str(scores.conventions).startswith("binary judgments, relevant from grade 1, ")
    assert (scores.conventions.to_dict()["graded"], scores.conventions.to_dict()["rel"]) == (False, 1)


def test_without_grades_rel_decides_what_is_relevant() -> None:
    settings = Settings(measures=("nDCG@10", "RR"), conventions=Conventions(graded=False, rel=3))
    (scores,) = evaluated(settings, GOOD).scores
    expected = evaluate(QRELS, GOOD, "RR(rel=3)")
    assert list(scores.per_query("RR").values()) == list(expected.per_query("RR(rel=3)").values())


def test_binary_judgments_keep_what_was_not_judged() -> None:
    binary = Qrels.from_dict({"q": {"a": 3, "b": 1, "c": 0.5, "d": 0, "e": -2}}).binary()
    assert dict(zip(binary.docs.to_text(), binary.grades.tolist(), strict=True)) == {
        "a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": -2.0
    }  # fmt: skip


def test_without_grades_a_measure_that_needs_grades_is_refused() -> None:
    with pytest.raises(UsageError, match=r"P\(rel=2\)@5 needs grades from 2 on, but judgments are binary"):
        evaluated(Settings(measures=("P(rel=2)@5",), conventions=Conventions(graded=False)), GOOD)


def test_a_command_says_that_it_keeps_no_values(files: list[Path], command: Command) -> None:
    config = files[0].parent / "rankgauge.yaml"
    plain = command("evaluate", *files, "-m", "RR", "--format", "json").out
    config.write_text("performance: {caching_enabled: true}\n")
    cached = command("evaluate", *files, "-m", "RR", "--config", config, "--format", "json")
    assert (cached.code, cached.out) == (0, plain)
    assert "note: performance.caching_enabled is for Python (RetrievalMetricsSuite)" in cached.err


# ---------------------------------------------------------------------------------------------------------- threads


@pytest.mark.parametrize(("text", "threads"), [("", {"rankgauge-reader"}), (MEMORY_HINT.split(": ", 1)[1], set())])
def test_the_hint_on_memory_has_a_setting_that_reads_runs_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, files: list[Path], command: Command, text: str, threads: set[str]
) -> None:
    names: set[str] = set()

    def join_and_note_thread(*arguments: Any) -> list[Joined]:
        names.add(threading.current_thread().name.partition("_")[0])
        return join_any(*arguments)

    monkeypatch.setattr(parallel, "MIN_BYTES_PER_RUN", 1)
    monkeypatch.setattr(parallel, "join_any", join_and_note_thread)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    config = files[0].parent / "rankgauge.yaml"
    config.write_text(text.removesuffix(" in rankgauge.yaml"))
    data = json.loads(command("evaluate", *files, "-m", "RR", "--config", config, "--format", "json").out)
    assert names == (threads or {threading.current_thread().name})
    expected = [scores["RR"] for scores in evaluate_runs(QRELS, [GOOD, BAD], "RR").scores]
    assert [run["measures"]["RR"]["value"] for run in data["runs"]] == expected


# -------------------------------------------------------------------------------------------- intervals and tests


def test_intervals_and_tests_of_a_configuration() -> None:
    settings = Settings(
        measures=("RR", "nDCG@3", "GMAP", "hits"), statistics=Statistics(test="t"), significance_testing=True
    )
    evaluation = evaluated(settings, GOOD, BAD)
    good, bad = evaluation.scores
    comparison = compared(evaluation, settings)
    assert comparison is not None
    values = [value or 0.0 for value in bad.per_query("RR").values()]
    interval, expected = bad.interval("RR"), mean_interval(values, method="bootstrap-t")
    assert interval.low == expected.low
    assert expected.high == math.inf  # nearly all values are equal: the upper end is that of their share
    assert 0.5 < (interval.high or 0.0) < 1
    assert (good.interval("hits").low, good.interval("hits").reason) == (None, "a sum has no interval")
    precisions = [value or 0.0 for value in good.per_query("GMAP").values()]
    unlimited = geometric_mean_interval(precisions, method="bootstrap-t")
    assert unlimited.high is not None
    assert good.interval("GMAP") == replace(unlimited, high=min(unlimited.high, 1.0))
    first = comparison.differences[0]
    good_values, bad_values = ([value or 0.0 for value in run.per_query("RR").values()] for run in (good, bad))
    assert first.p == paired_t(bad_values, good_values).p
    assert first.p_corrected is not None
    assert first.p is not None
    assert first.p_corrected >= first.p
    assert first.difference == pytest.approx(sum(bad_values) / 6 - sum(good_values) / 6)
    assert [row.measure for row in comparison.differences] == ["RR", "nDCG@3", "GMAP", "NumRelRet"]
    logs = [np.log(np.maximum(run.values[:, 2], 1e-5)) for run in (bad, good)]
    ratio = comparison.differences[2]
    assert ratio.p == paired_t(*logs).p  # geometric means on the scale of logarithms
    assert np.exp(ratio.difference or 0) == pytest.approx((bad["GMAP"] or 0) / (good["GMAP"] or 1))


def test_intervals_and_tests_that_are_not_asked_for_are_not_shown(files: list[Path], command: Command) -> None:
    assert compared(evaluated(Settings(measures=("RR",)), GOOD, BAD), Settings()) is None
    data = json.loads(command("evaluate", *files, "-m", "RR", "--format", "json").out)
    assert "comparison" not in data
    assert "ci" not in data["runs"][0]["measures"]["RR"]
    text = command("evaluate", *files, "-m", "RR").out
    assert "CI" not in text
    assert "test" not in text


def test_intervals_and_tests_are_printed_and_are_in_json(files: list[Path], command: Command) -> None:
    config = files[0].parent / "rankgauge.yaml"
    config.write_text(
        "measures: [RR]\n"
        "statistics: {confidence_intervals: true, significance_testing: true, confidence: 0.9, test: t}\n"
    )
    text = command("evaluate", *files, "--config", config).out
    assert text.count("90% CI") == 3  # of the means, of the difference, and in the answer
    assert "t test; not corrected" in text
    data = json.loads(command("evaluate", *files, "--config", config, "--format", "json").out)
    assert data["runs"][0]["measures"]["RR"]["ci"]["confidence"] == pytest.approx(0.9)
    assert data["comparison"]["confidence"] == pytest.approx(0.9)
    assert [row["measure"] for row in data["comparison"]["differences"]] == ["RR"]


def test_one_query_has_no_interval_and_a_reason(tmp_path: Path, command: Command) -> None:
    judged = {"q1": QRELS["q1"]}
    interval = evaluate(judged, {"q1": ["a"]}, "RR").interval("RR")
    assert interval.low is None
    assert "at least 2" in (interval.reason or "")
    for name, content in (("qrels", judged), ("one", {"q1": ["a"]}), ("two", {"q1": ["x", "a"]})):
        (tmp_path / name).write_text(json.dumps(content))
    config = tmp_path / "rankgauge.yaml"
    config.write_text("statistics: {confidence_intervals: true, significance_testing: true, test: t}\n")
    arguments = ("evaluate", tmp_path / "qrels", tmp_path / "one", tmp_path / "two", "-m", "RR", "--config", config)
    data = json.loads(command(*arguments, "--format", "json").out)
    row = data["comparison"]["differences"][0]
    assert (row["p"], row["ci"]["low"]) == (None, None)
    assert "at least 2" in row["reason"]
    text = command(*arguments).out
    assert next(line.split() for line in text.splitlines() if line.startswith("RR"))[-1] == "–"
