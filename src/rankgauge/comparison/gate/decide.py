"""Did any measure drop significantly and by at least the margin? Arrays in, one decision per measure out.

A drop fails if it is significant and at least the margin. Significant means: one-sided, and corrected over all gated
measures together, so that at most a share alpha of the builds in which nothing changed fail, however many measures are
gated. What does not fail is either shown to be no worse than the margin, or it is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from numpy.typing import ArrayLike

from rankgauge.comparison.gate.requirements import ROUNDING
from rankgauge.comparison.statistics import SIGN_TESTS, Statistics, is_significant, separate_correction
from rankgauge.errors import UsageError
from rankgauge.stats.correction import correct
from rankgauge.stats.distributions import t_quantile
from rankgauge.stats.max_t import maxt
from rankgauge.stats.power_analysis import detectable_difference, queries_needed
from rankgauge.stats.results import check_between
from rankgauge.stats.samples import Floats, Sample, Units, matrix, sample
from rankgauge.stats.seeds import Resampling
from rankgauge.stats.tests import equivalence, paired_test

Outcome = Literal["worse", "no worse", "inconclusive", "unchanged"]
POWER = 0.8
STREAM_LABELS = ("gate",)
GATE_STATISTICS = Statistics(correction="maxt")


@dataclass(frozen=True, slots=True)
class Rule:
    """When a drop fails. The test is one-sided, whatever else ``statistics`` says."""

    margin: float = 0.0  # smaller drops never fail
    statistics: Statistics = field(default=GATE_STATISTICS)
    power: float = POWER  # of the detectable drop

    def __post_init__(self) -> None:
        if not 0 <= self.margin < math.inf:
            raise UsageError(f"margin must be a number of at least 0, found {self.margin!r}")
        if self.statistics.correction == "tukey":
            raise UsageError(
                "a gate is one-sided, and Tukey's test is two-sided", hint="use the correction maxt or holm"
            )
        if self.statistics.correction == "maxt" and self.statistics.test != "randomization":
            raise UsageError(
                f"the correction maxt uses sign flips: the test {self.statistics.test} cannot be combined with it",
                hint="choose another correction, such as holm",
            )
        if self.statistics.alternative == "greater":
            raise UsageError("a gate tests for drops: alternative 'greater' cannot be used")
        check_between("power", self.power, self.alpha, 1)

    @property
    def alpha(self) -> float:
        """The share of builds that may fail although nothing changed."""
        return self.statistics.alpha

    @property
    def uses_signs(self) -> bool:
        """Whether p is a share of the ways to assign signs to the queries, which bounds it from below."""
        return self.statistics.test in SIGN_TESTS


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome for one measure. Differences are now − before, positive if it got better."""

    outcome: Outcome
    difference: float
    p: float | None  # of the drop, corrected over all gated measures
    p_no_worse: float | None  # of not being worse by the margin, for this measure alone
    smallest_drop: float | None  # that would have failed with the stated power; None if nothing varies
    detectable: float | None  # the same without a margin
    queries_needed: int | None  # to detect a drop of the margin, if these queries do not
    n: int
    units: int  # the number of independent ones


def decide(differences: ArrayLike, rule: Rule | None = None, *, units: Units | None = None) -> tuple[Decision, ...]:
    """One row per query, one column per gated measure; one decision per column."""
    rule = rule or Rule()
    values = matrix(differences, "differences")
    p_values = _corrected_p(values, rule.statistics, units)
    return tuple(_decision(column, p, len(p_values), rule, units) for column, p in zip(values.T, p_values, strict=True))


def _corrected_p(values: Floats, statistics: Statistics, units: Units | None) -> Sequence[float | None]:
    """The p of a drop in each column, corrected over all of them."""
    drawn = _resampling(statistics, units)
    if statistics.correction == "maxt":
        return maxt(values, alternative="less", **drawn).p
    tests = [paired_test(statistics.test, column, alternative="less", **drawn) for column in values.T]
    return correct([test.p for test in tests], separate_correction(statistics.correction)).p


def _resampling(statistics: Statistics, units: Units | None) -> dict[str, Any]:
    return {
        "units": units,
        "resampling": Resampling(statistics.resamples, statistics.seed, STREAM_LABELS),
    }


def _decision(column: Floats, p: float | None, family: int, rule: Rule, units: Units | None) -> Decision:
    values = sample(column, units)
    p_no_worse = _p_no_worse(column, rule, units)
    detectable, needed = _detectable(values, rule, rule.statistics.strictest_alpha(family))
    return Decision(
        outcome=_outcome(values, rule, p, p_no_worse),
        difference=values.mean if len(values) else 0.0,
        p=p,
        p_no_worse=p_no_worse,
        smallest_drop=None if detectable is None else max(detectable, _drop_past_margin(values, rule)),
        detectable=detectable,
        queries_needed=needed,
        n=len(values),
        units=values.units,
    )


def _outcome(values: Sample, rule: Rule, p: float | None, p_no_worse: float | None) -> Outcome:
    if not len(values):
        return "inconclusive"
    if not values.whole.any():
        return "unchanged"
    drop = -values.mean
    if is_significant(p, rule.alpha) and drop > 0 and drop >= rule.margin - ROUNDING:
        return "worse"
    return "no worse" if is_significant(p_no_worse, rule.alpha) else "inconclusive"


def _p_no_worse(column: Floats, rule: Rule, units: Units | None) -> float | None:
    """The p of a change above −margin, one-sided: by t, or by sign flips if all queries changed by the same amount."""
    tests: tuple[Literal["t"], Literal["randomization"]] = ("t", "randomization")
    drawn = _resampling(rule.statistics, units)
    for test in tests:
        if rule.margin > 0:
            result = equivalence(column, margin=rule.margin, test=test, alternative="greater", **drawn)
        else:
            result = paired_test(test, column, alternative="greater", **drawn)
        if result.p is not None:
            return result.p
    return None


def _detectable(values: Sample, rule: Rule, alpha: float) -> tuple[float | None, int | None]:
    """The detectable drop, and the number of queries that would detect the margin if that is smaller."""
    sd = _standard_deviation(values)
    if sd is None:
        return None, None
    drop = sd * _detectable_in_deviations(values.units, rule.power, alpha)
    if not 0 < rule.margin < drop:
        return drop, None
    return drop, queries_needed(rule.margin, sd, power=rule.power, alpha=alpha, alternative="greater").n


@cache
def _detectable_in_deviations(units: int, power: float, alpha: float) -> float:
    """The detectable drop in standard deviations. Cached: it takes a search, and measures of one gate repeat it."""
    result = detectable_difference(1.0, units, power=power, alpha=alpha, alternative="greater").difference
    return math.inf if result is None else result


def _drop_past_margin(values: Sample, rule: Rule) -> float:
    """The true drop whose measured value is at least the margin with the stated power."""
    return rule.margin + t_quantile(rule.power, values.units - 1) * values.standard_error if rule.margin else 0.0


def _standard_deviation(values: Sample) -> float | None:
    """The standard deviation of the units' differences; None if it is unknown."""
    if values.units < 2 or values.constant:
        return None
    return values.standard_error * math.sqrt(values.units)
