"""Which interval a mean gets. Every command, result and page takes its intervals of means from here.

The mean of a measure that is 0 or 1 for every query gets Wilson's. Any other mean gets the studentized bootstrap, over
units if queries belong together, on the log scale if it is geometric. An end that this does not have, since nearly all
values are equal, comes from the share of the others and the range of the measure. No end leaves that range. A weighted
mean gets the same interval, with sums of weights instead of numbers of queries; queries of weight 0 are left out.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankgauge.core.tables import Column, Floats
from rankgauge.measures.spec import Aggregate, Measure
from rankgauge.stats.distributions import largest_share
from rankgauge.stats.results import Alternative, Interval, tail_probability

if TYPE_CHECKING:
    from rankgauge.stats.samples import Sample


def interval_of(
    values: Floats,
    measure: Measure,
    *,
    confidence: float,
    units: Column | None = None,
    weights: Floats | None = None,
    alternative: Alternative = "two-sided",
    aggregate: Aggregate | None = None,
) -> Interval:
    """The interval of a measure over queries; ``aggregate`` replaces the measure's own, for means within groups."""
    from rankgauge.stats.intervals import geometric_mean_interval, mean_interval
    from rankgauge.stats.samples import sample

    kept = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
    values, units = values[kept], None if units is None else units[kept]
    weights = None if weights is None else weights[kept]
    how = aggregate or measure.definition.aggregate
    if how == "sum":
        return Interval(None, None, confidence, "none", len(values), "a sum has no interval")
    if how == "gmean" and weights is not None:
        return Interval(None, None, confidence, "none", len(values), "a geometric mean has no weights")
    if how == "gmean":
        interval = geometric_mean_interval(
            values, method="bootstrap-t", confidence=confidence, units=units, alternative=alternative
        )
    else:
        method: Literal["wilson", "bootstrap-t"] = "wilson" if units is None and is_binary(values) else "bootstrap-t"
        interval = mean_interval(
            values, method=method, confidence=confidence, units=units, weights=weights, alternative=alternative
        )
    limits = measure.definition.range
    if how == "mean" and len(values) > 1 and math.isfinite(limits[1] - limits[0]):
        interval = _with_missing_ends(interval, sample(values, units, weights=weights), limits)
    return within(interval, *limits)


def _with_missing_ends(interval: Interval, data: Sample, limits: tuple[float, float]) -> Interval:
    """The interval with bounds for the ends that it lacks, because too few values differ from the most common one.

    The share of queries with another value has an exact upper bound (Clopper and Pearson, Biometrika 1934), and such
    values are at worst at an end of the range: the mean is at most c + share · (high − c), where c is the common value.
    Units of unequal size count as their effective number.
    """
    low, high = interval.low, interval.high
    closed = {"less": [high], "greater": [low], "two-sided": [low, high]}[interval.alternative]
    if data.units < 2 or not any(end is None or math.isinf(end) for end in closed):
        return interval
    means, index = np.unique(np.rint(data.totals / data.sizes), return_inverse=True)
    sizes = np.bincount(index, data.sizes)
    common = float(means[sizes.argmax()]) / data.scale
    outside = tail_probability(interval.confidence, interval.alternative)
    n = data.effective_units
    share = largest_share((data.size - float(sizes.max())) / data.size * n, n, outside)
    bounds = common - share * (common - limits[0]), common + share * (limits[1] - common)
    ends = [bound if end is None or math.isinf(end) else end for end, bound in zip((low, high), bounds, strict=True)]
    method = "range" if low is None else f"{interval.method}, range"
    return replace(interval, low=ends[0], high=ends[1], method=method, reason=None).with_open_end(*limits)


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
