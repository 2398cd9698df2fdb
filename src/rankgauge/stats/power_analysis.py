"""What a set of queries can show: the power of the paired t test, solved for the power, the difference or the queries.

Under a true mean difference d with standard deviation s the paired t of n queries is noncentral t with n − 1 degrees
of freedom and noncentrality d / s · √n. Cohen, Statistical Power Analysis, 1988.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from rankgauge.errors import UsageError
from rankgauge.stats.distributions import noncentral_t_cdf, t_quantile
from rankgauge.stats.results import Alternative, check_alternative, check_between

MOST_QUERIES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Power:
    """The chance that the paired t test at level ``alpha`` finds a true difference; None with a reason if unknown."""

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
    """The power for a true difference, given how much differences vary and how many queries there are."""
    _check(sd, alpha, alternative)
    if n < 2 or sd == 0:
        return Power(None, difference, sd, n, alpha, alternative, _reason(sd, n))
    return Power(_power(difference / sd, n, alpha, alternative), difference, sd, n, alpha, alternative)


def detectable_difference(
    sd: float, n: int, *, power: float = 0.8, alpha: float = 0.05, alternative: Alternative = "two-sided"
) -> Power:
    """The smallest true difference that so many queries would show with this power. Negative for ``'less'``."""
    _check(sd, alpha, alternative)
    check_between("power", power, alpha, 1)
    if n < 2 or sd == 0:
        return Power(None, None, sd, n, alpha, alternative, _reason(sd, n))
    side: Alternative = "two-sided" if alternative == "two-sided" else "greater"
    found = _deviations(n, power, alpha, side)
    sign = -1 if alternative == "less" else 1
    return Power(_power(found, n, alpha, side), sign * found * sd, sd, n, alpha, alternative)


@lru_cache(1024)
def _deviations(n: int, power: float, alpha: float, side: Alternative) -> float:
    """The smallest difference with this power, in standard deviations: a search, which a comparison asks for often."""
    low, high = 0.0, 1.0
    while _power(high, n, alpha, side) < power:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _power(middle, n, alpha, side) < power else (low, middle)
    return high


def queries_needed(
    difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05, alternative: Alternative = "two-sided"
) -> Power:
    """The smallest number of queries that would show a true difference with this power."""
    _check(sd, alpha, alternative)
    check_between("power", power, alpha, 1)
    if sd == 0:
        return Power(None, difference, sd, None, alpha, alternative, _reason(sd, 2))
    if not difference or (alternative == "greater" and difference < 0) or (alternative == "less" and difference > 0):
        return Power(None, difference, sd, None, alpha, alternative, "no number of queries shows such a difference")
    low, high = 1, 2
    while _power(difference / sd, high, alpha, alternative) < power:
        low, high = high, 2 * high
        if high > MOST_QUERIES:
            reason = f"more than {MOST_QUERIES:,} queries would be needed"
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


def _check(sd: float, alpha: float, alternative: Alternative) -> None:
    check_alternative(alternative)
    check_between("alpha", alpha, 0, 1)
    if not 0 <= sd < math.inf:
        raise UsageError(f"sd must be a number from 0, found {sd!r}")


def _reason(sd: float, n: int) -> str:
    return "differences do not vary" if sd == 0 else f"at least 2 queries are needed, found {n}"
