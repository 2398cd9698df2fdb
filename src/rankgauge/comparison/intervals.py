"""Which interval a paired difference gets by itself.

For tests that have no interval of their own: the difference of two measures that are 0 or 1 for every query gets
Newcombe's, any other Student's t, over units if queries belong together. No end leaves the range of the difference.
"""

from __future__ import annotations

import math

from rankgauge.core.tables import Column, Floats
from rankgauge.evaluation.intervals import is_binary, within
from rankgauge.measures.spec import Measure
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.results import Alternative, Interval


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
