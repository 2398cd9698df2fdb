"""Did any measure drop significantly and by at least the margin? Values in, one decision per measure out.

A drop fails if it is significant and at least the margin. Significant means: one-sided unless asked otherwise, and
corrected over all gated measures together, so that at most a share alpha of the builds in which nothing changed fail,
however many measures are gated. What does not fail is either shown to be no worse than the margin, over all measures
together too, or it is inconclusive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

from rankgauge.comparison.gate.requirements import ROUNDING
from rankgauge.comparison.statistics import Statistics, is_significant
from rankgauge.comparison.testing import PairedColumns, TestedDifference, family_tests
from rankgauge.errors import UsageError
from rankgauge.stats.between_runs import RunNoise
from rankgauge.stats.detectable import POWER
from rankgauge.stats.distributions import t_quantile
from rankgauge.stats.results import Interval
from rankgauge.stats.samples import Sample, sample

Outcome = Literal["worse", "no worse", "inconclusive", "unchanged"]
GATE_STATISTICS = Statistics()


@dataclass(frozen=True, slots=True)
class Rule:
    """When a drop fails."""

    margin: float = 0.0  # smaller drops never fail
    statistics: Statistics = field(default=GATE_STATISTICS)
    two_sided: bool = False  # whether the test and its intervals are those of a comparison

    def __post_init__(self) -> None:
        if not 0 <= self.margin < math.inf:
            raise UsageError(f"margin must be a number of at least 0, found {self.margin!r}")
        if self.statistics.correction == "tukey":
            raise UsageError("a gate has one run and one baseline, and Tukey's test is of several systems")
        if self.statistics.alternative != "two-sided":
            raise UsageError("a gate tests for drops, whatever the alternative is: leave it out")

    @property
    def alpha(self) -> float:
        """The share of builds that may fail although nothing changed."""
        return self.statistics.alpha


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome for one measure. Differences are now − before, positive if it got better."""

    outcome: Outcome
    difference: float
    interval: Interval  # both one-sided bounds, or the interval of a two-sided test; over all gated measures
    p: float | None  # of the drop, corrected over all gated measures
    smallest_drop: float | None  # the true drop that would fail with 80% power; None if it is unknown
    changes_needed: int | None  # queries that would have to get worse, if few changed
    caveat: str | None  # what the test cannot see, if the drop is significant
    queries_needed: int | None  # to show that nothing got worse by the margin, if these queries cannot
    n: int
    units: int  # the number of independent ones


def decide(columns: PairedColumns, rule: Rule | None = None) -> tuple[Decision, ...]:
    """One decision per column of this run's and the baseline's values, turned so that higher is better."""
    rule = rule or Rule()
    statistics = rule.statistics
    if rule.two_sided:
        tests = family_tests(columns, statistics)
        return tuple(_decision(columns, index, rule, test, None) for index, test in enumerate(tests))
    falling, rising = (replace(statistics, alternative=side) for side in ("less", "greater"))
    drops, rises = family_tests(columns, falling), family_tests(columns, rising)
    return tuple(
        _decision(columns, index, rule, drop, rise) for index, (drop, rise) in enumerate(zip(drops, rises, strict=True))
    )


def _decision(
    columns: PairedColumns, index: int, rule: Rule, drop: TestedDifference, rise: TestedDifference | None
) -> Decision:
    """The decision on one column; ``rise`` is the test in the other direction, if they are one-sided."""
    system, baseline, units = columns.at(index)
    values, noise = sample(system - baseline, units), columns.noise_at(index)
    interval = drop.interval if rise is None else _bounds(drop.interval, rise.interval)
    return Decision(
        outcome=_outcome(values, rule, drop.p_corrected, interval),
        difference=values.mean if len(values) else 0.0,
        interval=interval,
        p=drop.p_corrected,
        smallest_drop=None if drop.detectable is None else max(drop.detectable, _drop_past_margin(values, rule, noise)),
        changes_needed=drop.changes_needed,
        caveat=drop.caveat,
        queries_needed=_queries_needed(values, rule, rise, interval, noise),
        n=len(values),
        units=values.units,
    )


def _bounds(upper: Interval, lower: Interval) -> Interval:
    """The upper bound of one test and the lower bound of the other."""
    return replace(upper, low=lower.low, alternative="two-sided", method=f"one-sided {upper.method}")


def _outcome(values: Sample, rule: Rule, p: float | None, interval: Interval) -> Outcome:
    if not len(values):
        return "inconclusive"
    if not values.whole.any():
        return "unchanged"
    drop = -values.mean
    if is_significant(p, rule.alpha) and drop > 0 and drop >= rule.margin - ROUNDING:
        return "worse"
    return "no worse" if interval.low is not None and interval.low > -rule.margin else "inconclusive"


def _queries_needed(
    values: Sample, rule: Rule, rise: TestedDifference | None, interval: Interval, noise: RunNoise | None
) -> int | None:
    """The number of queries that would show no drop of the margin, with 80% power, if there is none.

    If few queries changed, the distance of the lower bound counts instead of a detectable difference. None if the noise
    of whole runs alone, which queries do not average out, is too large.
    """
    if rise is None or not rule.margin or interval.low is None or not values.whole.any():
        return None
    reach = values.mean - interval.low if rise.detectable is None else rise.detectable
    ratio = (reach / rule.margin) ** 2
    fixed = 0.0 if noise is None else noise.added / noise.error(values.standard_error) ** 2
    if reach <= rule.margin or ratio * fixed >= 1:
        return None
    return math.ceil(len(values) * ratio * (1 - fixed) / (1 - ratio * fixed))


def _drop_past_margin(values: Sample, rule: Rule, noise: RunNoise | None) -> float:
    """The true drop whose measured value is at least the margin with 80% power."""
    if not rule.margin:
        return 0.0
    error, degrees = values.standard_error, values.units - 1.0
    if noise is not None:
        error, degrees = noise.error(error), noise.degrees(error, values.units)
    return rule.margin + t_quantile(POWER, degrees) * error
