"""How often a new run of an unchanged system fails against a stored baseline, which has its own luck.

Over all baselines the share is alpha, but the same baseline serves many builds. One that is too good by chance fails
many of them, and one whose runs are alike by chance does too. Both are accounted for. In units of the standard
deviation of a run's mean, s² = τ² + MS_error / n, the mean of R runs is off by z / √R with a standard normal z, the
estimate of s² is s² · χ² / (R − 1) with R − 1 degrees of freedom, and a drop fails beyond a threshold h that the test
derives from that estimate. So the share of failing builds is Φ(z / √R − h(χ²)). Its quantile y over z and χ² solves
P(z / √R − h(χ²) > Φ⁻¹(y)) = 1 − q.
"""

from __future__ import annotations

import math

import numpy as np

from rankgauge.stats.between_runs import RunNoise
from rankgauge.stats.distributions import normal_cdf, special, t_quantile

_NODES = 256  # of the distribution of the estimated variance
_STEPS = 40
_WIDEST = 40.0  # standard deviations


def false_alarm_quantile(
    noise: RunNoise, units: int, *, alpha: float = 0.05, margin: float = 0.0, share: float = 0.95
) -> float | None:
    """The quantile over baselines, at ``share``, of the share of builds that fail although nothing changed.

    ``alpha`` is that of the one-sided test of a drop, ``margin`` the smallest drop that fails, and ``units`` the number
    of independent queries. None if all runs are the same, and so is every new one.
    """
    if noise.is_none:
        return None
    thresholds = np.array([_threshold(noise, units, chi, alpha, margin) for chi in _scaled_chi_squares(noise.runs - 1)])
    root = math.sqrt(noise.runs)
    low, high = -_WIDEST, _WIDEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        beyond = float(np.mean(special().ndtr(-(middle + thresholds) * root)))
        low, high = (middle, high) if beyond > 1 - share else (low, middle)
    return normal_cdf(high)


def _scaled_chi_squares(degrees: int) -> list[float]:
    """χ² / degrees at evenly spaced probabilities."""
    values: list[float] = (special().chdtri(degrees, (np.arange(_NODES) + 0.5) / _NODES) / degrees).tolist()
    return values


def _threshold(noise: RunNoise, units: int, chi: float, alpha: float, margin: float) -> float:
    """The drop that fails, in standard deviations of a run's mean, if their variance is estimated as chi times it."""
    variance = noise.between + noise.within
    estimated = RunNoise(noise.runs, max(0.0, variance * chi - noise.within), noise.within)
    error = math.sqrt(noise.within * (1 + 1 / noise.runs))
    half = t_quantile(1 - alpha, units - 1) * estimated.widened(error, units, alpha)
    return max(half, margin) / math.sqrt(variance)
