"""The interval of a mean and the test of two systems, with the signatures of RETRIEVAL-METRICS-001, §6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from rankgauge.measures.aggregates import aggregate
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.results import check_between
from rankgauge.stats.tests import paired_t, student_t


class Significance(TypedDict):
    """The result of a test of two systems; ``reason`` says why there is no p value."""

    t_statistic: float | None
    p_value: float | None
    significant: bool | None
    mean_a: float | None
    mean_b: float | None
    test: str
    reason: str | None


def calculate_confidence_interval(
    scores: Sequence[float], confidence_level: float = 0.95
) -> tuple[float, float] | tuple[None, None]:
    """The interval of a mean by Student's t; ``(None, None)`` if the scores do not show how much they vary.

    That is the case for fewer than two scores and if all are equal: ``rankgauge.stats.intervals.mean_interval`` gives
    the reason. The function sees numbers, not a measure: ``Scores.interval`` chooses the interval that suits a measure.
    """
    interval = mean_interval(scores, confidence=confidence_level)
    return (None, None) if interval.low is None or interval.high is None else (interval.low, interval.high)


def statistical_significance_test(
    scores_a: Sequence[float], scores_b: Sequence[float], alpha: float = 0.05, *, paired: bool = True
) -> Significance:
    """Test whether two systems differ significantly: Student's t test, paired over the same queries.

    ``paired=False`` is the test of two independent samples with equal variances: what the specification does, and too
    conservative if both systems answered the same queries.
    """
    check_between("alpha", alpha, 0, 1)
    result = paired_t(scores_a, scores_b) if paired else student_t(scores_a, scores_b)
    return {
        "t_statistic": result.statistic,
        "p_value": result.p,
        "significant": None if result.p is None else bool(result.p < alpha),
        "mean_a": aggregate(np.asarray(scores_a, dtype=np.float64), "mean"),
        "mean_b": aggregate(np.asarray(scores_b, dtype=np.float64), "mean"),
        "test": result.method,
        "reason": result.reason,
    }
