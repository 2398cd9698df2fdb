"""How sure a mean is and whether two systems differ, with the signatures of RETRIEVAL-METRICS-001, §6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from rankgauge.measures.aggregates import aggregate
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.results import check_between
from rankgauge.stats.tests import paired_t, student_t


class Significance(TypedDict):
    """What a test of two systems found; ``reason`` says why there is no p value."""

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
    """The interval of a mean by Student's t, at any level; ``(None, None)`` where the scores do not show their spread.

    That is so for fewer than two scores and where all are equal: ``rankgauge.stats.intervals.mean_interval`` says why.
    """
    found = mean_interval(scores, confidence=confidence_level)
    return (None, None) if found.low is None or found.high is None else (found.low, found.high)


def statistical_significance_test(
    scores_a: Sequence[float], scores_b: Sequence[float], alpha: float = 0.05, *, paired: bool = True
) -> Significance:
    """Whether two systems differ by more than luck: Student's t test, paired over the same queries.

    ``paired=False`` is the test of two samples that have nothing to do with each other, equal variances assumed: what
    the specification does, and too cautious where both systems answered the same queries.
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
