"""Which interval a mean gets. Every command, result and page takes its intervals of means from here.

The mean of a measure that is 0 or 1 for every query gets Wilson's; a share that should be 0, such as that of leaks, an
exact upper bound. Any other mean gets the studentized bootstrap, over
units if queries belong together, on the log scale if it is geometric. An end that this does not have, since nearly all
values are equal, comes from the share of the others and the range of the measure. No end leaves that range.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.core.arrays import Column, Floats
from rankgauge.measures.measure import Aggregate, Measure
from rankgauge.stats.distributions import largest_share
from rankgauge.stats.results import Alternative, Interval, tail_probability
from rankgauge.stats.samples import Sample, sample

if TYPE_CHECKING:
    from rankgauge.evaluation.scores import Scores


ONE_SIDED = "exact, one-sided"  # an upper bound of a share (Clopper and Pearson, Biometrika 1934)


class MeanColumn(NamedTuple):
    """The values of a measure over queries, of which an interval is needed."""

    values: Floats
    measure: Measure
    units: Column | None = None

    def known(self) -> MeanColumn:
        """Without the queries that have no value."""
        values, measure, units = self
        kept = ~np.isnan(values)
        return MeanColumn(values[kept], measure, None if units is None else units[kept])


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
    column = MeanColumn(values, measure, units)
    return intervals_of([column], confidence=confidence, alternative=alternative, aggregate=aggregate)[0]


def intervals_of(
    columns: Iterable[MeanColumn],
    *,
    confidence: float,
    alternative: Alternative = "two-sided",
    aggregate: Aggregate | None = None,
) -> list[Interval]:
    """The intervals of several measures or runs, whose bootstrap draws are made together."""
    from rankgauge.stats.intervals import geometric_mean_interval, studentized_intervals
    from rankgauge.stats.proportions import wilson_interval

    columns = [column.known() for column in columns]
    intervals: dict[int, Interval] = {}
    samples: dict[int, Sample] = {}
    for index, (values, measure, units) in enumerate(columns):
        how = aggregate or measure.definition.aggregate
        if how == "sum":
            intervals[index] = Interval(None, None, confidence, "none", len(values), "a sum has no interval")
        elif how == "gmean":
            intervals[index] = geometric_mean_interval(
                values, method="bootstrap-t", confidence=confidence, units=units, alternative=alternative
            )
        elif measure.definition.name == "Leak" and len(values) and alternative == "two-sided":
            bound = largest_share(float(values.sum()), len(values), 1 - confidence)
            estimate = float(values.mean())
            intervals[index] = Interval(0.0, bound, confidence, ONE_SIDED, len(values), None, estimate)
        elif units is None and is_binary(values):
            intervals[index] = wilson_interval(values, confidence=confidence, alternative=alternative, units=units)
        else:
            samples[index] = sample(values, units)
    drawn = studentized_intervals([*samples.values()], confidence=confidence, alternative=alternative)
    intervals |= zip(samples, drawn, strict=True)
    return [_limited(intervals[index], column, aggregate, samples.get(index)) for index, column in enumerate(columns)]


def intervals_of_scores(scores: Sequence[Scores], confidence: float) -> list[dict[str, Interval]]:
    """The interval of each measure, by name, for each of several runs: the same as ``Scores.interval``, and faster."""
    keys = [(run, index) for run in range(len(scores)) for index in range(len(scores[run].measures))]
    intervals = intervals_of([scores[run].mean_column(index) for run, index in keys], confidence=confidence)
    out: list[dict[str, Interval]] = [{} for _ in scores]
    for (run, index), interval in zip(keys, intervals, strict=True):
        out[run].setdefault(scores[run].measures[index].name, interval)
    return out


def _limited(interval: Interval, column: MeanColumn, aggregate: Aggregate | None, data: Sample | None) -> Interval:
    """The interval with all ends that it can have, and none beyond the range of the measure."""
    values, measure, units = column
    how, limits = aggregate or measure.definition.aggregate, measure.definition.range
    if interval.method == "none":
        return interval
    if how == "mean" and len(values) > 1 and math.isfinite(limits[1] - limits[0]):
        interval = _with_missing_ends(interval, data or sample(values, units), limits)
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
