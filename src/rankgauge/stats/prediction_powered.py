"""The mean of a few true values, made more precise by many predicted ones, without trusting the predictions.

Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference, 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import InputError, UsageError
from rankgauge.stats.distributions import t_quantile
from rankgauge.stats.results import Interval, tail_probability
from rankgauge.stats.samples import Floats, vector

METHOD = "prediction-powered t"


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


def prediction_powered_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabeled_predictions: ArrayLike,
    *,
    confidence: float = 0.95,
    weight: float | None = None,
) -> PredictionPowered:
    """The mean of labels from a random sample, adjusted by predictions for the sample and for everything else.

    mean(Y) + λ (mean(f of the rest) − mean(f of the sample)), where Y are the labels and f the predictions: whatever λ
    is, the estimate is consistent, also if the predictions are wrong. Without a ``weight``, λ is the one with the
    smallest estimated variance, Cov(Y, f) / ((1 + n/N) Var(f)), between 0 and 1. The standard error is the root of
    Var(Y − λf)/n + λ² Var(f)/N. The interval uses Student's t with n − 1 degrees of freedom, and one less if λ is
    estimated.
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
    df = n - 1 if weight is not None or not count else n - 2
    if df < 1:
        reason = f"too few labels: {n}"
        return PredictionPowered(Interval(None, None, confidence, METHOD, n, reason), None, None, n, count)
    used = 0.0 if not count else _tuned_weight(truth, known, rest) if weight is None else float(weight)
    estimate = float(truth.mean() + used * (rest.mean() - known.mean())) if count else float(truth.mean())
    variance = _variance(truth - used * known) / n + (used**2 * _variance(rest) / count if count > 1 else 0.0)
    error = math.sqrt(variance)
    reach = t_quantile(1 - outside, df) * error
    interval = Interval(estimate - reach, estimate + reach, confidence, METHOD, n, estimate=estimate)
    return PredictionPowered(interval, used, error, n, count)


def _tuned_weight(truth: Floats, known: Floats, rest: Floats) -> float:
    """The λ with the smallest estimated variance; 0 if the predictions do not vary."""
    spread = _variance(np.concatenate([known, rest]))
    if spread == 0:
        return 0.0
    covariance = float(np.mean((truth - truth.mean()) * (known - known.mean())))
    return min(max(covariance / ((1 + len(truth) / len(rest)) * spread), 0.0), 1.0)


def _variance(values: Floats) -> float:
    return float(np.var(values, ddof=1)) if len(values) > 1 else 0.0
