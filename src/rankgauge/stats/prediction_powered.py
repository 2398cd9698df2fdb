"""The mean of a few true values, made more precise by many predicted ones, without trusting the predictions.

Labels are skewed or nearly all equal as often as scores are, so the interval is that of a mean: a studentized
bootstrap. If fewer than ten labels differ from the most common one, or fewer than ten errors of the predictions do,
resamples would often miss them. Then one label at each end of the range is added, neither of them predicted, as Agresti
and Coull (The American Statistician 1998) and Bonett and Price do for proportions.

Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference, 2023; Cochran, Sampling Techniques, 1977,
section 12.6 (regression estimates in double sampling).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import InputError, UsageError
from rankgauge.stats.bootstrap import resampled_sums
from rankgauge.stats.distributions import special, t_quantile
from rankgauge.stats.draws import DEFAULT_RESAMPLING, RESAMPLES, RandomStream, Resampling
from rankgauge.stats.results import Interval, tail_probability
from rankgauge.stats.samples import Floats, vector
from rankgauge.stats.sparse_rows import FEWEST_VARYING, Range

METHOD, SPARSE_METHOD = "prediction-powered bootstrap-t", "prediction-powered, two labels added"
_ROUNDING = 1e-12
_DECIMALS = 9  # errors of predictions that agree in them are equal


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """An estimated mean with its interval, and the weight that the predictions got, from 0 (none) to 1."""

    interval: Interval
    weight: float | None
    standard_error: float | None
    labeled: int
    unlabeled: int

    @property
    def estimate(self) -> float | None:
        """The estimated mean; None if there is none."""
        return self.interval.estimate


class _Moments(NamedTuple):
    """Means of labels and predictions, of their squares and of their products; numbers, or arrays of resamples."""

    label: Floats
    prediction: Floats
    label_squares: Floats
    prediction_squares: Floats
    products: Floats

    @classmethod
    def of(cls, truth: Floats, known: Floats) -> _Moments:
        return cls(*np.array([truth, known, truth * truth, known * known, truth * known]).mean(axis=1))


class _Estimated(NamedTuple):
    """An estimate, its standard error and the weight of the predictions; numbers, or arrays of resamples."""

    mean: Floats
    error: Floats
    weight: Floats


@dataclass(frozen=True)
class _Rest:
    """The predictions without labels: how many, their mean and their variance; and a weight if it is given."""

    count: int
    mean: float
    variance: float
    weight: float | None

    def estimates(self, moments: _Moments, n: int, mean: Floats | float) -> _Estimated:
        """The estimate from some moments; ``mean`` is that of the rest, in each resample."""
        label, prediction, label_squares, prediction_squares, products = moments
        spread = np.maximum(prediction_squares - prediction**2, 0.0)
        spread = np.where(spread <= _ROUNDING * np.maximum(prediction_squares, 1e-300), 0.0, spread)
        together = products - label * prediction
        if self.weight is None:
            slope = np.clip(np.divide(together, spread, out=np.zeros_like(spread), where=spread > 0), 0.0, 1.0)
            weight = slope * (self.count / (n + self.count))
        else:
            weight = np.full_like(spread, self.weight if self.count else 0.0)
        scatter = np.maximum(label_squares - label**2 - 2 * weight * together + weight**2 * spread, 0.0)
        scatter = np.where(scatter <= _ROUNDING * np.maximum(label_squares, 1e-300), 0.0, scatter)
        freedom = n - 1 if self.weight is not None or not self.count else n - 2
        variance = scatter / freedom
        if self.count:
            variance = variance + weight**2 * (self.variance / self.count)
        return _Estimated(label + weight * (mean - prediction), np.sqrt(variance), weight)


def prediction_powered_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabeled_predictions: ArrayLike,
    *,
    confidence: float = 0.95,
    weight: float | None = None,
    limits: Range | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> PredictionPowered:
    """The mean of labels from a random sample, adjusted by predictions for the sample and for everything else.

    mean(Y) + λ (mean(f of the rest) − mean(f of the sample)), where Y are the labels and f the predictions: whatever λ
    is, the estimate is consistent, also if the predictions are wrong. Without a ``weight``, λ is the slope of Y on f,
    between 0 and 1, times N / (n + N). The squared standard error is Var(Y − λf)/n + λ² Var(f)/N. The interval is
    about the mean of all queries like these: n labeled and N further ones are a sample of them. ``limits`` are the
    smallest and the largest possible label, which no number leaves; without them, labels or errors of the predictions
    that are nearly all equal have no interval.
    """
    outside = tail_probability(confidence, "two-sided")
    truth, known, rest = (
        vector(values, name)
        for values, name in (
            (labels, "labels"),
            (predictions, "predictions"),
            (unlabeled_predictions, "unlabeled_predictions"),
        )
    )
    if len(truth) != len(known):
        raise InputError(f"each label needs a prediction, found {len(truth)} labels and {len(known)} predictions")
    if weight is not None and not 0 <= weight <= 1:
        raise UsageError(f"weight must lie between 0 and 1, found {weight!r}")
    n, count = len(truth), len(rest)
    unknown = Interval(None, None, confidence, METHOD, n)
    if n < (2 if weight is not None or not count else 3):
        return PredictionPowered(replace(unknown, reason=f"too few labels: {n}"), None, None, n, count)
    center = float(rest.mean()) if count else 0.0
    others = _Rest(count, 0.0, float(np.var(rest, ddof=1)) if count > 1 else 0.0, weight)
    moments = _Moments.of(truth, known - center)  # predictions from the mean of the rest, for small rounding errors
    estimate, error, used = (float(value) for value in others.estimates(moments, n, 0.0))
    unknown = replace(unknown, estimate=estimate)
    if min(_varying(truth), _varying(truth - used * known)) >= FEWEST_VARYING:
        t = _drawn_t(truth, known - center, others, estimate, resampling)
        beyond = math.floor(outside * (len(t) + 1) + 1e-9)
        least, most = (t[beyond - 1], t[-beyond]) if beyond else (-math.inf, math.inf)
        ends = estimate - most * error, estimate - least * error
        interval = replace(unknown, resamples=len(t), seed=int(resampling.seed))
    elif limits is None:
        interval = replace(unknown, reason="nearly all labels or errors are equal, and the range of labels is unknown")
        return PredictionPowered(interval, used, error, n, count)
    else:
        moments = _Moments.of(np.append(truth, limits), np.append(known - center, [known.mean() - center] * 2))
        middle, added_error, _ = (float(value) for value in others.estimates(moments, n + 2, 0.0))
        reach = t_quantile(1 - outside, n - 1 if weight is not None or not count else n - 2) * added_error
        ends = min(middle - reach, estimate), max(middle + reach, estimate)
        interval = replace(unknown, method=SPARSE_METHOD)
    low, high = (float(end) for end in ends)
    if limits is not None:
        low, high, estimate = (min(max(value, limits[0]), limits[1]) for value in (low, high, estimate))
    return PredictionPowered(replace(interval, low=low, high=high, estimate=estimate), used, error, n, count)


def _varying(values: Floats) -> int:
    """How many values differ from the most common one."""
    return len(values) - int(np.unique(np.round(values, _DECIMALS), return_counts=True)[1].max())


def _drawn_t(truth: Floats, known: Floats, others: _Rest, estimate: float, resampling: Resampling) -> Floats:
    """The t of each resample, sorted. The mean of the rest is drawn from a normal distribution: it is one of many."""
    n, resamples = len(truth), resampling.count(RESAMPLES)
    columns = np.vstack([truth, known, truth * truth, known * known, truth * known])
    sums = np.hstack([*resampled_sums(columns, resamples, resampling.stream.child("labels"))])
    mean = _normal(resamples, resampling.stream.child("predictions"))
    mean *= math.sqrt(others.variance / others.count) if others.count else 0.0
    drawn, error, _ = others.estimates(_Moments(*(sums / n)), n, mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (drawn - estimate) / error
    t[np.isnan(t)] = 0.0
    return np.sort(t)


def _normal(count: int, stream: RandomStream) -> Floats:
    """Numbers from the standard normal distribution."""
    words = stream.bits().words(1, count)[0]
    return np.asarray(special().ndtri(((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53))
