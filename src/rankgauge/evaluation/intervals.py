"""Which interval a mean gets. Every command, result and page takes its intervals of means from here.

The mean of a measure that is 0 or 1 for every query gets Wilson's. Any other mean gets the studentized bootstrap, over
units if queries belong together, on the log scale if it is geometric. If all values are equal, their number bounds the
share of different ones, and the range of the measure bounds these. No end leaves that range.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np

from rankgauge.core.tables import Column, Floats
from rankgauge.measures.spec import Aggregate, Measure
from rankgauge.stats.results import Alternative, Interval, tail_probability


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
        interval = geometric_mean_interval(
            values, method="bootstrap-t", confidence=confidence, units=units, alternative=alternative
        )
    else:
        method: Literal["wilson", "bootstrap-t"] = "wilson" if units is None and is_binary(values) else "bootstrap-t"
        interval = mean_interval(values, method=method, confidence=confidence, units=units, alternative=alternative)
    low, high = measure.definition.range
    if interval.low is None and len(values) > 1 and np.ptp(values) == 0 and math.isfinite(high - low):
        count = len(values) if units is None else len(set(units.tolist()))
        interval = _of_equal_values(interval, float(values[0]), count, (low, high))
    return within(interval, low, high)


def _of_equal_values(interval: Interval, value: float, count: int, limits: tuple[float, float]) -> Interval:
    """The interval of a mean of equal values: in another sample, a share of the values may be at an end of the range.

    With confidence 1 − a, the share is at most 1 − a^(1/n): more would probably have shown up among n values.
    """
    if count < 2:
        return interval
    share = 1 - tail_probability(interval.confidence, interval.alternative) ** (1 / count)
    bounds = (value - share * (value - limits[0]), value + share * (limits[1] - value))
    return replace(interval, low=bounds[0], high=bounds[1], method="range", reason=None).with_open_end(*limits)


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
