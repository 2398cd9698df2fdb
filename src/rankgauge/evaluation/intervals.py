"""Which interval a mean gets. Every command, result and page takes its intervals of means from here.

A geometric mean gets one on the log scale. The mean of a measure that is 0 or 1 for every query gets Wilson's. Any
other mean gets Student's t, over units if queries belong together. No end leaves the range of the measure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from rankgauge.core.tables import Column, Floats
from rankgauge.measures.spec import Aggregate, Measure
from rankgauge.stats.results import Alternative, Interval


def interval_of(
    values: Floats,
    measure: Measure,
    *,
    confidence: float,
    units: Column | None = None,
    alternative: Alternative = "two-sided",
    aggregate: Aggregate | None = None,
) -> Interval:
    """The interval of a measure over queries; ``aggregate`` replaces the measure's own, for means within groups."""
    from rankgauge.stats.intervals import geometric_mean_interval, mean_interval

    kept = ~np.isnan(values)
    values, units = values[kept], None if units is None else units[kept]
    how = aggregate or measure.definition.aggregate
    if how == "sum":
        return Interval(None, None, confidence, "none", len(values), "a sum has no interval")
    if how == "gmean":
        interval = geometric_mean_interval(values, confidence=confidence, units=units, alternative=alternative)
    else:
        method: Literal["wilson", "t"] = "wilson" if units is None and is_binary(values) else "t"
        interval = mean_interval(values, method=method, confidence=confidence, units=units, alternative=alternative)
    return within(interval, *measure.definition.range)


def is_binary(*columns: Floats) -> bool:
    """Whether several queries have only the values 0 and 1."""
    return len(columns[0]) > 1 and all(bool(np.isin(column, (0.0, 1.0)).all()) for column in columns)


def within(interval: Interval, low: float, high: float) -> Interval:
    """The interval without what no value can reach; the open end of a one-sided interval stays open."""
    if interval.low is None or interval.high is None:
        return interval
    return replace(
        interval,
        low=interval.low if interval.alternative == "less" else max(interval.low, low),
        high=interval.high if interval.alternative == "greater" else min(interval.high, high),
    )
