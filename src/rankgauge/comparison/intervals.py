"""Which interval a paired difference gets. Every command, result and page takes its intervals of differences from here.

The difference of two measures that are 0 or 1 for every query gets Newcombe's. Any other gets Student's t, over units
if queries belong together. No end leaves the range that a difference of the measure can have.
"""

from __future__ import annotations

from rankgauge.core.tables import Column, Floats
from rankgauge.evaluation.intervals import is_binary, within
from rankgauge.measures.spec import Measure
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.results import Alternative, Interval


def difference_interval_of(
    system_values: Floats,
    baseline_values: Floats,
    measure: Measure,
    *,
    confidence: float,
    units: Column | None = None,
    alternative: Alternative = "two-sided",
) -> Interval:
    """The interval of the mean difference, system − baseline.

    Of logarithms if the measure is averaged geometrically.
    """
    interval = difference_interval(
        system_values,
        baseline_values,
        method="newcombe" if units is None and is_binary(system_values, baseline_values) else "t",
        confidence=confidence,
        alternative=alternative,
        units=units,
    )
    if measure.definition.aggregate == "gmean":
        return interval
    low, high = measure.definition.range
    return within(interval, low - high, high - low)
