"""The tests of a family of differences. Every p, interval and detectable difference comes from here.

With the default test, p values and simultaneous intervals come from the same draws, and an interval excludes 0 exactly
if its row is significant. Other tests have the interval of each difference alone: ``Statistics.intervals_of`` names it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.statistics_options import SIGN_TESTS, Statistics, is_significant
from rankgauge.core.arrays import Column, Floats
from rankgauge.core.formatting import plural, text_of
from rankgauge.core.progress import phase
from rankgauge.evaluation.mean_intervals import is_binary, within
from rankgauge.measures.measure import Measure
from rankgauge.stats.corrections import holm
from rankgauge.stats.draws import Resampling
from rankgauge.stats.effects import detectable_difference
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.joint_tests import JointRow, joint_test
from rankgauge.stats.paired_tests import paired_test
from rankgauge.stats.results import Alternative, Interval
from rankgauge.stats.samples import paired
from rankgauge.stats.sparse_rows import Range

EXTREME_SKEWNESS = 3.0


class PairedColumn(NamedTuple):
    """The values of two systems for the same queries."""

    system: Floats
    baseline: Floats
    units: Column | None


@dataclass(frozen=True, eq=False)
class PairedColumns:
    """The values of two systems, one row per query and one column per difference; NaN where either has no value."""

    system: Floats
    baseline: Floats
    ranges: tuple[Range, ...]  # of the differences
    units: Column | None = None

    @property
    def differences(self) -> Floats:
        """System − baseline."""
        return self.system - self.baseline

    def select(self, queries: NDArray[np.bool_]) -> PairedColumns:
        """Some of the queries."""
        units = None if self.units is None else self.units[queries]
        return replace(self, system=self.system[queries], baseline=self.baseline[queries], units=units)

    def only(self, indexes: Sequence[int]) -> PairedColumns:
        """Some of the columns."""
        return replace(
            self,
            system=self.system[:, indexes],
            baseline=self.baseline[:, indexes],
            ranges=tuple(self.ranges[index] for index in indexes),
        )

    def at(self, index: int) -> PairedColumn:
        """Both values of the queries that have a difference, and their units."""
        kept = ~np.isnan(self.differences[:, index])
        units = None if self.units is None else self.units[kept]
        return PairedColumn(self.system[kept, index], self.baseline[kept, index], units)


@dataclass(frozen=True)
class TestedDifference:
    """What a test says of one difference."""

    __test__ = False  # pytest collects any class whose name begins with Test

    p: float | None  # by itself
    p_corrected: float | None
    interval: Interval
    detectable: float | None = None  # the true difference that new queries like these would show with 80% power
    changes_needed: int | None = None  # one-way changes that would be significant, if few queries changed
    too_few_queries: bool = False  # whether no p can be small enough with this number of queries
    reason: str | None = None  # why there is no p
    caveat: str | None = None  # what the test cannot see, if it matters for this difference


@dataclass(frozen=True, slots=True)
class UnseenLosses:
    """Total losses of which a sample may contain none: they limit every claim that nothing, or little, was lost.

    If total losses are so rare that a sample misses them all with a probability of alpha, the mean is below 0 by their
    share, and nothing shows it. `equivalent`, `negligible` and `no worse` need enough queries to exclude this.
    """

    queries: int  # independent ones: units, if queries share them
    alpha: float
    largest: float  # the possible loss of one query
    of_units: bool = False

    @property
    def share(self) -> float:
        """The largest share of queries that may be lost unseen."""
        return 1.0 - self.alpha ** (1 / self.queries) if self.queries else 1.0

    @property
    def smallest_margin(self) -> float | None:
        """The smallest margin that this number of queries supports; None if a loss may have any size."""
        return None if math.isinf(self.largest) else self.share * self.largest

    def allow(self, margin: float) -> bool:
        """Whether the queries are enough to claim that a difference is within the margin."""
        return self.smallest_margin is not None and self.smallest_margin <= margin

    def queries_needed(self, margin: float) -> int | None:
        """The number of queries or units that supports a margin; None if none does."""
        if math.isinf(self.largest):
            return None
        return math.ceil(math.log(self.alpha) / math.log1p(-margin / self.largest)) if margin < self.largest else 1

    def sentence(self, sign: str = "") -> str:
        """What cannot be ruled out, and the margin that can; ``sign`` comes before the margin."""
        queries = plural(self.queries, "unit" if self.of_units else "query")
        return (
            f"total losses on up to {text_of(self.share, 'share')} of queries cannot be ruled out "
            f"(0 of {self.queries:,} observed); the smallest margin that {queries} support is "
            f"{sign}{text_of(self.smallest_margin, 'given', digits=2)}"
        )


def family_tests(
    columns: PairedColumns, statistics: Statistics, *, sensitivity: bool | Sequence[bool] = True
) -> list[TestedDifference]:
    """Test every column, corrected over all of them.

    Detectable differences are computed only if ``sensitivity`` says so, of all columns or of each.
    """
    with phase("testing", "draw", (statistics.draws or 0) * (1 if statistics.is_joint else len(columns.ranges))):
        if statistics.is_joint:
            tests = _joint_tests(columns, statistics, sensitivity)
        else:
            tests = _separate_tests(columns, statistics)
    return [
        replace(test, caveat=_caveat(columns.at(index))) if is_significant(test.p_corrected, statistics.alpha) else test
        for index, test in enumerate(tests)
    ]


def _caveat(values: PairedColumn) -> str | None:
    """A warning about differences of which one tail may not have been drawn."""
    differences = values.system - values.baseline
    spread = differences - differences.mean()
    variance = float(np.square(spread).mean())
    if variance <= 1e-24:
        return "all differences are equal, which says nothing about rare different ones"
    if abs(float((spread**3).mean()) / variance**1.5) < EXTREME_SKEWNESS:
        return None
    return "the differences are extremely skewed, and no test sees a tail that was not drawn"


def _separate_tests(columns: PairedColumns, statistics: Statistics) -> list[TestedDifference]:
    """Each column by itself, with p corrected over all of them."""
    family = range(len(columns.ranges))
    alone = [_p_alone(columns, index, statistics) for index in family]
    corrected = holm([p for p, _ in alone])
    rows = [_without_p(columns, index, statistics, statistics.strictest_alpha(corrected.family)) for index in family]
    return [
        replace(row, p=p, p_corrected=p_corrected, reason=reason)
        for row, (p, reason), p_corrected in zip(rows, alone, corrected.p, strict=True)
    ]


def _resampling(statistics: Statistics) -> Resampling:
    """Draws from one stream for every row, whatever its name: swapping two systems only turns the signs."""
    return Resampling(statistics.resamples, statistics.seed)


def _joint_tests(
    columns: PairedColumns, statistics: Statistics, sensitivity: bool | Sequence[bool]
) -> list[TestedDifference]:
    result = joint_test(
        columns.differences,
        alternative=statistics.alternative,
        confidence=statistics.confidence,
        units=columns.units,
        ranges=columns.ranges,
        sensitivity=sensitivity,
        resampling=_resampling(statistics),
    )
    return [_from_joint(row) for row in result.rows]


def _from_joint(row: JointRow) -> TestedDifference:
    reason = row.interval.reason if row.p is None else None
    units = row.interval.n if row.interval.units is None else row.interval.units
    too_few = row.changes_needed is not None and row.changes_needed > units
    return TestedDifference(
        row.p_alone, row.p, row.interval, row.detectable, row.changes_needed, too_few_queries=too_few, reason=reason
    )


def _p_alone(columns: PairedColumns, index: int, statistics: Statistics) -> tuple[float | None, str | None]:
    """The p of one column by itself, or why there is none."""
    system, baseline, units = columns.at(index)
    tested = paired_test(
        statistics.test,
        system,
        baseline,
        alternative=statistics.alternative,
        units=units,
        resampling=_resampling(statistics),
    )
    return tested.p, tested.reason


def _without_p(columns: PairedColumns, index: int, statistics: Statistics, alpha: float) -> TestedDifference:
    """One column without a p: its interval, and what its queries can show at a level."""
    system, baseline, units = columns.at(index)
    interval = difference_interval_of(
        system,
        baseline,
        columns.ranges[index],
        confidence=statistics.confidence,
        units=units,
        alternative=statistics.alternative,
    )
    detectable, too_few = _detectable(system, baseline, units, statistics, alpha)
    return TestedDifference(None, None, interval, detectable, too_few_queries=too_few)


def _detectable(
    system: Floats, baseline: Floats, units: Column | None, statistics: Statistics, alpha: float
) -> tuple[float | None, bool]:
    """The minimum detectable difference by Student's t, and whether the queries are too few for any."""
    sample = paired(system, baseline, units)
    if sample.units < 2 or sample.constant:
        return None, False
    sides = 2 if statistics.alternative == "two-sided" else 1
    if statistics.test in SIGN_TESTS and sides * 0.5**sample.units > alpha:
        return None, True  # not significant even if every query points the same way
    sd = sample.standard_error * math.sqrt(sample.units)
    side = statistics.alternative if sides == 2 else "greater"
    return detectable_difference(sd, sample.units, alpha=alpha, alternative=side).difference, False


# Intervals for tests that have none of their own: the difference of two measures that are 0 or 1 for every query gets
# Newcombe's, any other Student's t, over units if queries belong together. No end leaves the range of the difference.


def difference_interval_of(
    system_values: Floats,
    baseline_values: Floats,
    limits: tuple[float, float],
    *,
    confidence: float,
    units: Column | None = None,
    alternative: Alternative = "two-sided",
) -> Interval:
    """The interval of the mean difference, system − baseline, within its ``limits``."""
    interval = difference_interval(
        system_values,
        baseline_values,
        method="newcombe" if units is None and is_binary(system_values, baseline_values) else "t",
        confidence=confidence,
        alternative=alternative,
        units=units,
    )
    return within(interval, *limits)


def difference_range(measure: Measure) -> tuple[float, float]:
    """The possible differences of a measure; of logarithms, and without limits, if it is averaged geometrically."""
    if measure.definition.aggregate == "gmean":
        return -math.inf, math.inf
    low, high = measure.definition.range
    return low - high, high - low
