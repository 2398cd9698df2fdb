"""Intervals of a mean, a geometric mean and a mean paired difference.

Student's t is the default. On skewed measures, such as the average precision of a weak run, its 95% interval covers
less than 90% with twenty queries; the studentized bootstrap
(``bootstrap-t``) follows the skewness and covers about 95%.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import GEOMETRIC_FLOOR
from rankgauge.errors import InputError
from rankgauge.stats.distributions import t_quantile
from rankgauge.stats.draws import DEFAULT_RESAMPLING, RESAMPLES, Resampling, UnitRow, draw
from rankgauge.stats.proportions import newcombe_interval, wilson_interval
from rankgauge.stats.results import Alternative, Interval, check_choice, tail_probability
from rankgauge.stats.samples import Floats, Sample, Units, paired, sample, too_few, vector

LogMethod = Literal["t", "bootstrap-t"]  # of intervals on logarithms
MeanMethod = Literal["t", "bootstrap-t", "wilson"]
DifferenceMethod = Literal["t", "bootstrap-t", "newcombe"]
LOG_METHODS: tuple[LogMethod, ...] = get_args(LogMethod)
MEAN_METHODS: tuple[MeanMethod, ...] = get_args(MeanMethod)
DIFFERENCE_METHODS: tuple[DifferenceMethod, ...] = get_args(DifferenceMethod)


def mean_interval(
    values: ArrayLike,
    *,
    method: MeanMethod = "t",
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> Interval:
    """The confidence interval of a mean over queries.

    ``wilson`` is for values that are all 0 or 1. Queries with the same entry in ``units`` are one observation: they
    are resampled together, and the t interval uses the cluster-robust error with (units − 1) degrees of freedom. An
    end of ``bootstrap-t`` is infinite if too many resamples have no spread.
    """
    check_choice("method", method, MEAN_METHODS)
    if method == "wilson":
        return wilson_interval(values, confidence=confidence, alternative=alternative, units=units)
    data = sample(values, units)
    return _mean_interval(data, method, confidence, alternative, resampling)


def studentized_intervals(
    samples: Sequence[Sample],
    *,
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> list[Interval]:
    """The ``bootstrap-t`` interval of the mean of each sample: the same as one by one, and faster.

    Samples of as many units share their draws, which cost far more than the sums over them.
    """
    alike: dict[tuple[int, bool], list[int]] = {}
    for index, data in enumerate(samples):
        if data.units > 1 and not data.constant:
            alike.setdefault((data.units, data.has_sizes), []).append(index)
    t: dict[int, Floats] = {}
    for indices in alike.values():
        t |= zip(indices, _drawn_t([samples[index] for index in indices], resampling), strict=True)
    return [
        _mean_interval(data, "bootstrap-t", confidence, alternative, resampling, t.get(index))
        for index, data in enumerate(samples)
    ]


def difference_interval(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    method: DifferenceMethod = "t",
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> Interval:
    """The confidence interval of a mean paired difference, first minus second.

    Without a second, the first must hold differences.

    ``newcombe`` is for values that are all 0 or 1 on both sides.
    """
    check_choice("method", method, DIFFERENCE_METHODS)
    if method == "newcombe":
        if second is None:
            raise InputError("Newcombe's interval needs the values of both sides, not their differences")
        return newcombe_interval(first, second, confidence=confidence, alternative=alternative, units=units)
    data = paired(first, second, units)
    return _mean_interval(data, method, confidence, alternative, resampling)


def geometric_mean_interval(
    values: ArrayLike,
    *,
    method: LogMethod = "t",
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
    smallest: float = GEOMETRIC_FLOOR,
) -> Interval:
    """The confidence interval of a geometric mean: that of the mean logarithm, transformed back.

    Every value counts as at least ``smallest``, as in trec_eval.
    """
    data = sample(_logs(values, smallest), units)
    check_choice("method", method, LOG_METHODS)
    return _exp(_mean_interval(data, method, confidence, alternative, resampling))


def _mean_interval(
    data: Sample,
    method: str,
    confidence: float,
    alternative: Alternative,
    resampling: Resampling,
    t: Floats | None = None,
) -> Interval:
    """The interval of a mean; ``t`` has the studentized draws if they are made already."""
    outside = tail_probability(confidence, alternative)
    resamples = resampling.count(RESAMPLES)
    estimate = data.mean if len(data) else None
    interval = Interval(None, None, confidence, method, len(data), None, estimate, alternative, data.shared)
    if method != "t":
        interval = replace(interval, resamples=resamples, seed=int(resampling.seed))
    if data.units < 2:
        return replace(interval, reason=too_few(data))
    if data.constant:
        return replace(interval, reason=f"all {len(data)} values are equal, so their variance cannot be estimated")
    if method == "t":
        half = t_quantile(1 - outside, data.units - 1) * data.standard_error
        low, high = data.mean - half, data.mean + half
    else:
        low, high = _studentized_ends(data, outside, _drawn_t([data], resampling)[0] if t is None else t)
    return replace(interval, low=low, high=high).with_open_end(-math.inf, math.inf)


def _drawn_t(samples: Sequence[Sample], resampling: Resampling) -> Floats:
    """The t of each sample (first axis) in each bootstrap draw, sorted; the samples have the same number of units."""
    rows = [UnitRow(data, data.residuals / data.scale, data.sizes, data.totals) for data in samples]
    return np.sort(draw(rows, resampling.count(RESAMPLES), resampling.stream.child("interval")).t, axis=1)


def _studentized_ends(data: Sample, outside: float, t: Floats) -> tuple[float, float]:
    """The mean minus quantiles of the sorted t of bootstrap draws, times the standard error; an end may be infinite.

    Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 12.5.
    """
    beyond = math.floor(outside * (len(t) + 1) + 1e-9)
    lowest, highest = (float(t[beyond - 1]), float(t[-beyond])) if beyond else (-math.inf, math.inf)
    return data.mean - highest * data.standard_error, data.mean - lowest * data.standard_error


def _logs(values: ArrayLike, smallest: float) -> Floats:
    numbers = vector(values, "values")
    if smallest <= 0 or np.any(numbers < 0):
        raise InputError("a geometric mean needs values of at least 0 and a smallest value above 0")
    return np.array([math.log(number) for number in np.maximum(numbers, smallest).tolist()])


def _exp(interval: Interval) -> Interval:
    low, high, estimate = (
        None if value is None else exponential(value) for value in (interval.low, interval.high, interval.estimate)
    )
    return replace(interval, low=low, high=high, estimate=estimate, method=f"{interval.method} on logarithms")


def exponential(logarithm: float) -> float:
    """The number with this logarithm; infinite if it is too large for a float."""
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf
