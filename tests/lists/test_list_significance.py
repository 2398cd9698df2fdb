from __future__ import annotations

import pytest
from scipy import stats

from rankgauge import InputError, UsageError, calculate_confidence_interval, statistical_significance_test
from rankgauge.stats.paired_tests import student_t

A, B = [0.2, 0.5, 0.9, 0.4, 0.7], [0.1, 0.6, 0.5, 0.3, 0.6]
KEYS = {"t_statistic", "p_value", "significant", "mean_a", "mean_b"}


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_an_interval_has_the_quantile_of_its_confidence(confidence: float) -> None:
    wanted = stats.t.interval(confidence, len(A) - 1, loc=sum(A) / len(A), scale=stats.sem(A))
    assert calculate_confidence_interval(A, confidence) == pytest.approx(wanted)


@pytest.mark.parametrize("scores", [[], [0.5], [0.5, 0.5, 0.5]])
def test_scores_without_spread_have_no_interval(scores: list[float]) -> None:
    low, high = calculate_confidence_interval(scores)
    assert low is None
    assert high is None


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
