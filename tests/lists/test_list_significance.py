from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy import stats

from rankgauge import (
    InputError,
    RankgaugeWarning,
    RetrievalMetricsSuite,
    UsageError,
    calculate_confidence_interval,
    evaluate,
    statistical_significance_test,
)
from rankgauge.stats.paired_tests import student_t

A, B = [0.2, 0.5, 0.9, 0.4, 0.7], [0.1, 0.6, 0.5, 0.3, 0.6]
KEYS = {"t_statistic", "p_value", "significant", "mean_a", "mean_b"}


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_an_interval_has_the_quantile_of_its_confidence(confidence: float) -> None:
    wanted = stats.t.interval(confidence, len(A) - 1, loc=sum(A) / len(A), scale=stats.sem(A))
    assert calculate_confidence_interval(A, confidence) == pytest.approx(wanted)


@pytest.mark.parametrize("scores", [[], [0.5], [1.0]])
def test_fewer_than_two_scores_have_no_interval(scores: list[float]) -> None:
    assert calculate_confidence_interval(scores) == (None, None)


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("count", [2, 7, 50])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_scores_that_are_all_0_or_all_1_have_the_interval_of_evaluate(
    value: int, count: int, confidence: float, tmp_path: Path, command: Callable[..., Any]
) -> None:
    found = calculate_confidence_interval([value] * count, confidence)
    low, high = found
    assert low is not None
    assert high is not None
    z = stats.norm.ppf((1 + confidence) / 2)
    assert found == pytest.approx((0, z * z / (count + z * z)) if value == 0 else (count / (count + z * z), 1))
    judged, run = {f"q{n}": ["a"] for n in range(count)}, {f"q{n}": ["a" if value else "x"] for n in range(count)}
    interval = evaluate(judged, run, "hit@1").interval("hit@1", confidence=confidence)
    assert (interval.low, interval.high) == found
    config = {"measures": ["hit@1"], "statistics": {"confidence": confidence, "confidence_intervals": True}}
    (tmp_path / "rankgauge.yaml").write_text(yaml.safe_dump(config))
    suite = RetrievalMetricsSuite(tmp_path / "rankgauge.yaml")
    queries = [{"relevant_docs": ids} for ids in judged.values()]
    assert suite.evaluate_batch(queries, list(run.values())).intervals == {"hit@1": found}
    for name, content in (("qrels", judged), ("run", run)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    printed = command(
        "evaluate", tmp_path / "qrels.json", tmp_path / "run.json", "-m", "hit@1", "--ci", "--format", "json",
        "--confidence", str(confidence),
    ).out  # fmt: skip
    assert list(found) == [
        json.loads(printed)["runs"][0]["measures"]["Success@1"]["ci"][end] for end in ("low", "high")
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1000"),
        (0.5, "0.5000"),
        (1 / 3, "0.3333"),
        (0.7000000000000001, "0.7000"),
        (2.0, "2.0000"),
        (-0.25, "−0.2500"),
    ],
)
@pytest.mark.parametrize("count", [2, 10, 37])
def test_other_equal_scores_have_an_interval_without_width_and_a_warning(value: float, text: str, count: int) -> None:
    with pytest.warns(RankgaugeWarning, match=f"^all {count} scores are {text}: how much scores vary is unknown"):
        found = calculate_confidence_interval([value] * count)
    assert found == (value, value)
    assert [type(end) for end in found] == [float, float]


def test_scores_of_0_and_1_keep_the_interval_of_the_specification() -> None:
    scores = [1, 1, 1, 0]
    wanted = stats.t.interval(0.95, 3, loc=0.75, scale=stats.sem(scores))
    assert calculate_confidence_interval(scores) == pytest.approx(wanted)


def test_systems_are_paired() -> None:
    wanted = stats.ttest_rel(A, B)
    found = statistical_significance_test(A, B)
    assert set(found) >= KEYS
    assert found["t_statistic"] == pytest.approx(wanted.statistic)
    assert found["p_value"] == pytest.approx(wanted.pvalue)
    assert found["significant"] is False
    assert (found["mean_a"], found["mean_b"]) == pytest.approx((0.54, 0.42))
    assert found["test"] == "paired t"


@pytest.mark.parametrize(("first", "second"), [(A, B), (A, B[:3]), (A, [0.0, 0.0]), ([0.0, 0.0, 0.0], [1.0, 0.9])])
def test_unpaired_is_the_test_of_the_specification(first: list[float], second: list[float]) -> None:
    wanted = stats.ttest_ind(first, second)
    found = statistical_significance_test(first, second, paired=False)
    assert found["t_statistic"] == pytest.approx(wanted.statistic)
    assert found["p_value"] == pytest.approx(wanted.pvalue)
    assert found["test"] == "Student t"
    for side in ("less", "greater"):
        one_sided = stats.ttest_ind(first, second, alternative=side).pvalue
        assert student_t(first, second, alternative=side).p == pytest.approx(one_sided)


def test_alpha_is_the_significance_level() -> None:
    wanted = stats.ttest_rel(A, B).pvalue
    assert statistical_significance_test(A, B, alpha=wanted + 0.01)["significant"] is True
    assert statistical_significance_test(A, B, alpha=wanted - 0.01)["significant"] is False
    with pytest.raises(UsageError, match="alpha"):
        statistical_significance_test(A, B, alpha=5)


@pytest.mark.parametrize("paired", [True, False])
def test_fewer_than_two_queries_have_no_p_and_a_reason(paired: bool) -> None:
    found = statistical_significance_test([0.5], [0.4], paired=paired)
    assert found["p_value"] is found["t_statistic"] is found["significant"] is None
    assert found["mean_a"] == 0.5
    assert "at least 2" in (found["reason"] or "")


def test_constant_sides_are_equal_or_unknown() -> None:
    assert statistical_significance_test([0.5, 0.5], [0.5, 0.5], paired=False)["p_value"] == 1.0
    assert statistical_significance_test([0.5, 0.5], [0.4, 0.4], paired=False)["p_value"] is None


def test_paired_scores_must_have_the_same_length() -> None:
    with pytest.raises(InputError, match="same length"):
        statistical_significance_test(A, B[:2])
