"""The size of a paired difference, relative to its spread and in queries won and lost; and the power to detect it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import UsageError
from rankgauge.stats.distributions import noncentral_t_cdf, t_quantile
from rankgauge.stats.results import Alternative, check_alternative, check_between
from rankgauge.stats.samples import paired, too_few

NO_DEVIATION = "all differences are equal, so their standard deviation is 0"


@dataclass(frozen=True, slots=True)
class Effect:
    """The size of a paired difference, first minus second."""

    n: int
    mean: float | None
    sd: float | None
    d_z: float | None
    hedges_g: float | None
    wins: int
    ties: int
    losses: int
    reason: str | None = None


def effect(first: ArrayLike, second: ArrayLike | None = None, *, tie: float = 0.0) -> Effect:
    """Cohen's d_z = mean / sd of the differences, Hedges' g = J(n − 1) · d_z, and wins, ties and losses.

    A difference of at most ``tie`` is a tie. Cohen, Statistical Power Analysis, 1988; Hedges, Distribution theory for
    Glass's estimator of effect size, J. Educational Statistics 1981.
    """
    if not 0 <= tie < math.inf:
        raise UsageError(f"tie must be a number of at least 0, found {tie!r}")
    data = paired(first, second)
    n = len(data)
    bound = round(tie * data.scale)
    wins, losses = int(np.count_nonzero(data.whole > bound)), int(np.count_nonzero(data.whole < -bound))
    if n < 2:
        return Effect(n, data.mean if n else None, None, None, None, wins, n - wins - losses, losses, too_few(data))
    sd = 0.0 if data.constant else data.standard_error * math.sqrt(n)
    d_z, reason = (data.mean / sd, None) if sd else (None, NO_DEVIATION)
    if not data.whole.any():
        d_z, reason = 0.0, None
    hedges = None if d_z is None or n < 3 else small_sample_factor(n - 1) * d_z
    if d_z is not None and hedges is None:
        reason = "Hedges' g needs at least 3 queries"
    return Effect(n, data.mean, sd, d_z, hedges, wins, n - wins - losses, losses, reason)


def small_sample_factor(df: int) -> float:
    """J(df) = Γ(df/2) / (sqrt(df/2) · Γ((df − 1)/2)), which removes the bias of d; about 1 − 3 / (4 df − 1)."""
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


# The power of the paired t test, solved for the power, the difference or the number of queries.
#
# Under a true mean difference d with standard deviation s the paired t of n queries is noncentral t with n − 1
# degrees of freedom and noncentrality d / s · √n. Cohen, Statistical Power Analysis, 1988.

MAX_QUERIES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Power:
    """The probability that the paired t test at level ``alpha`` detects a true difference, or why it is unknown."""

    power: float | None
    difference: float | None
    sd: float
    n: int | None
    alpha: float
    alternative: Alternative
    reason: str | None = None


def power(
    difference: float, sd: float, n: int, *, alpha: float = 0.05, alternative: Alternative = "two-sided"
) -> Power:
    """The power for a true difference, given the standard deviation of differences and the number of queries."""
    _check_options(sd, alpha, alternative)
    if n < 2 or sd == 0:
        return Power(None, difference, sd, n, alpha, alternative, _reason(sd, n))
    return Power(_power(difference / sd, n, alpha, alternative), difference, sd, n, alpha, alternative)


def detectable_difference(
    sd: float, n: int, *, power: float = 0.8, alpha: float = 0.05, alternative: Alternative = "two-sided"
) -> Power:
    """The smallest true difference that n queries detect with this power. Negative for ``'less'``."""
    _check_options(sd, alpha, alternative)
    check_between("power", power, alpha, 1)
    if n < 2 or sd == 0:
        return Power(None, None, sd, n, alpha, alternative, _reason(sd, n))
    side: Alternative = "two-sided" if alternative == "two-sided" else "greater"
    d_z = _detectable_d_z(n, power, alpha, side)
    sign = -1 if alternative == "less" else 1
    return Power(_power(d_z, n, alpha, side), sign * d_z * sd, sd, n, alpha, alternative)


@lru_cache(1024)
def _detectable_d_z(n: int, power: float, alpha: float, side: Alternative) -> float:
    """The smallest difference with this power, in standard deviations; cached, because comparisons repeat it."""
    low, high = 0.0, 1.0
    while _power(high, n, alpha, side) < power:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _power(middle, n, alpha, side) < power else (low, middle)
    return high


def queries_needed(
    difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05, alternative: Alternative = "two-sided"
) -> Power:
    """The smallest number of queries that detects a true difference with this power."""
    _check_options(sd, alpha, alternative)
    check_between("power", power, alpha, 1)
    if sd == 0:
        return Power(None, difference, sd, None, alpha, alternative, _reason(sd, 2))
    if not difference or (alternative == "greater" and difference < 0) or (alternative == "less" and difference > 0):
        return Power(None, difference, sd, None, alpha, alternative, "no number of queries detects such a difference")
    low, high = 1, 2
    while _power(difference / sd, high, alpha, alternative) < power:
        low, high = high, 2 * high
        if high > MAX_QUERIES:
            reason = f"more than {MAX_QUERIES:,} queries would be needed"
            return Power(None, difference, sd, None, alpha, alternative, reason)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _power(difference / sd, middle, alpha, alternative) < power else (low, middle)
    return Power(_power(difference / sd, high, alpha, alternative), difference, sd, high, alpha, alternative)


def _power(d_z: float, n: int, alpha: float, alternative: Alternative) -> float:
    df, shift = n - 1, d_z * math.sqrt(n)
    if alternative == "two-sided":
        bound = t_quantile(1 - alpha / 2, df)
        return min(1.0, noncentral_t_cdf(-bound, df, -shift) + noncentral_t_cdf(-bound, df, shift))
    return noncentral_t_cdf(-t_quantile(1 - alpha, df), df, -shift if alternative == "greater" else shift)


def _check_options(sd: float, alpha: float, alternative: Alternative) -> None:
    check_alternative(alternative)
    check_between("alpha", alpha, 0, 1)
    if not 0 <= sd < math.inf:
        raise UsageError(f"sd must be a number of at least 0, found {sd!r}")


def _reason(sd: float, n: int) -> str:
    return "the differences do not vary" if sd == 0 else f"at least 2 queries are needed, found {n}"
