"""Whether a system is better than the baseline by as much as a target demands, and how certain that is.

An improvement is measured over the queries that both systems have, in the direction in which the measure is better:
an absolute one is the difference, with the interval of the comparison; a relative one is the ratio of the means minus
one. Its interval is Fieller's: the ratios for which the mean of system − ratio × baseline may be 0, by Student's t,
at the level that Bonferroni gives each of the comparisons that are corrected together.

``reached`` means that the whole interval is at or above the target, ``missed`` that all of it is below. Otherwise the
outcome is ``inconclusive``, whether or not the estimate reaches the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rankgauge.comparison.comparison_result import Comparison
from rankgauge.comparison.differences import Difference, shared_queries
from rankgauge.comparison.significance import PairedColumn
from rankgauge.config.bands import Uplift
from rankgauge.stats.intervals import difference_interval, exponential

Status = Literal["reached", "inconclusive", "missed", "undefined", "needs a baseline"]
FIRST_STEP, STEPS = 0.01, 45  # of a bisection
WIDEST = 1e4  # a ratio beyond which an interval has no end


@dataclass(frozen=True)
class UpliftResult:
    """The improvement of one system on one measure, next to its target."""

    target: Uplift
    status: Status
    estimate: float | None = None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        if self.status == "needs a baseline":
            return {"target": self.target.to_dict(), "status": self.status}
        return {
            "target": self.target.to_dict(),
            "status": self.status,
            "estimate": self.estimate,
            "estimate_reaches": self.estimate_reaches,
            "ci": {"low": self.low, "high": self.high},
        }

    @property
    def estimate_reaches(self) -> bool:
        """Whether the estimate alone is at or above the target."""
        return self.estimate is not None and self.estimate >= self.target.size


def uplift_of(comparison: Comparison, row: Difference, target: Uplift) -> UpliftResult:
    """The improvement behind a difference, next to its target."""
    if target.relative and not row.is_ratio:
        return _share_of_mean(comparison, row, target)
    estimate, low, high = row.difference, row.interval.low, row.interval.high
    if target.relative:  # differences of geometric means are logarithms of ratios
        estimate, low, high = _share(estimate), _share(low), _share(high)
    return _result(target, _improvement(estimate, low, high, row.direction))


def _share(logarithm: float | None) -> float | None:
    return None if logarithm is None else exponential(logarithm) - 1


class _Improvement(NamedTuple):
    """An estimate and the ends of its interval, positive if better."""

    estimate: float | None
    low: float | None
    high: float | None


def _result(target: Uplift, found: _Improvement) -> UpliftResult:
    if found.estimate is None:
        return UpliftResult(target, "undefined")
    status: Status = "inconclusive"
    if found.low is not None and found.low >= target.size:
        status = "reached"
    elif found.high is not None and found.high < target.size:
        status = "missed"
    return UpliftResult(target, status, *found)


def _improvement(estimate: float | None, low: float | None, high: float | None, direction: int) -> _Improvement:
    """A difference and the ends of its interval, turned if lower is better."""
    if direction > 0:
        return _Improvement(estimate, low, high)
    return _Improvement(*(None if value is None else -value for value in (estimate, high, low)))


def _share_of_mean(comparison: Comparison, row: Difference, target: Uplift) -> UpliftResult:
    """The improvement as a share of the baseline's mean.

    If the baseline may be 0, no interval of ratios has two ends, and none is shown.
    """
    if not row.baseline or row.value is None or row.baseline < 0:
        return UpliftResult(target, "undefined")
    values = _paired(comparison, row)
    confidence = 1 - (1 - comparison.confidence) / _family_size(comparison, row.measure)

    def contrast(ratio: float) -> tuple[float | None, float | None]:
        interval = difference_interval(
            values.system, ratio * values.baseline, confidence=confidence, units=values.units
        )
        return interval.low, interval.high

    estimate = row.value / row.baseline
    low = _end(estimate, -1, lambda ratio: contrast(ratio)[0])
    high = None if low is None else _end(estimate, 1, lambda ratio: contrast(ratio)[1])
    if low is None or high is None:
        return _result(target, _improvement(estimate - 1, None, None, row.direction))
    return _result(target, _improvement(estimate - 1, low - 1, high - 1, row.direction))


def _end(estimate: float, sign: int, end_of: Callable[[float], float | None]) -> float | None:
    """The ratio at which an end of the contrast's interval is 0, below or above the estimate; None without one."""

    def excludes(ratio: float) -> bool:
        end = end_of(ratio)
        return end is not None and -sign * end > 0

    inside, step = estimate, FIRST_STEP
    while not excludes(estimate + sign * step):
        inside, step = estimate + sign * step, step * 2
        if step > WIDEST:
            return None
    outside = estimate + sign * step
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if excludes(middle) else (middle, outside)
    return inside


def _paired(comparison: Comparison, row: Difference) -> PairedColumn:
    """The values of both systems over the queries that they share."""
    system, base = (
        next(run for run in comparison.scores if run.run == name) for name in (row.system, comparison.baseline)
    )
    column = [measure.name for measure in system.measures].index(row.measure)
    kept = np.flatnonzero(shared_queries(system, base, [column]))
    units = system.columns.get("unit")
    return PairedColumn(system.values[kept, column], base.values[kept, column], None if units is None else units[kept])


def _family_size(comparison: Comparison, measure: str) -> int:
    """The number of comparisons that those on a measure are corrected for."""
    if comparison.correction_label is None:
        return 1
    if measure == comparison.primary:
        return max(1, comparison.family_sizes[0])
    is_lower_better = any(row.direction < 0 for row in comparison.differences if row.measure == measure)
    return max(1, comparison.family_sizes[2 if is_lower_better else 1])
