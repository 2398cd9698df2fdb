"""The distributions behind intervals and tests. scipy is imported only by ``special``."""

from __future__ import annotations

import math
import sys
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.public_names import check_memory_for_algebra
from rankgauge.stats.results import Alternative
from rankgauge.stats.samples import Floats

_NODES = 96
_WIDTH = 14.0  # in standard deviations: the probability outside is less than 1e-30


def special() -> Any:
    """``scipy.special``, imported on first use."""
    if "scipy.special" not in sys.modules:
        check_memory_for_algebra()
    import scipy.special

    return scipy.special


def normal_cdf(z: float) -> float:
    """The probability that a standard normal number is at most z."""
    return math.erfc(-z / math.sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    """The quantile of the standard normal distribution at p."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def t_cdf(t: float, df: float) -> float:
    """The probability that Student's t is at most t."""
    return float(special().stdtr(df, t))


def t_quantile(p: float, df: float) -> float:
    """The quantile of Student's t distribution at p."""
    return float(special().stdtrit(df, p))


def binomial_cdf(successes: float, n: int) -> float:
    """The probability of at most this many successes in n trials with probability ½."""
    return float(special().bdtr(successes, n, 0.5))


def largest_share(successes: float, n: float, outside: float) -> float:
    """Clopper and Pearson's upper bound of a proportion, which is exceeded with the probability ``outside``."""
    return 1.0 if successes >= n else float(special().betaincinv(successes + 1, n - successes, 1 - outside))


def noncentral_t_cdf(t: float, df: float, noncentrality: float) -> float:
    """The probability that a noncentral t is at most t.

    ∫ Φ(t·s − noncentrality) f(s) ds, where s = sqrt(χ²_df / df) has the density f. scipy's nctdtr is NaN in the tails.
    """
    deviation = 1 / math.sqrt(2 * df)
    low, high = max(0.0, 1 - _WIDTH * deviation), 1 + _WIDTH * deviation
    # Φ rises within a few 1 / t of noncentrality / t: its own interval, or a steep rise falls between nodes.
    step = noncentrality / t if t else math.inf
    reach = _WIDTH / abs(t) if t else 0.0
    ends = sorted({low, high, *(end for end in (step - reach, step, step + reach) if low < end < high)})
    constant = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    nodes, weights = _rule()
    total = 0.0
    for begin, end in pairwise(ends):
        s = begin + (end - begin) * (nodes + 1) / 2
        density = np.exp(constant + (df - 1) * np.log(s) - df * np.square(s) / 2)
        total += float(np.sum(weights * density * special().ndtr(t * s - noncentrality))) * (end - begin) / 2
    return min(1.0, max(0.0, total))


@cache
def _rule() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def tail(cdf: float, upper: float, alternative: Alternative) -> float:
    """A p value from the probabilities of at most and of at least the observed value."""
    if alternative == "greater":
        return min(1.0, upper)
    if alternative == "less":
        return min(1.0, cdf)
    return min(1.0, 2 * min(cdf, upper))


def t_tail(t: float, df: float, alternative: Alternative) -> float:
    """The p value of a t statistic."""
    return tail(t_cdf(t, df), t_cdf(-t, df), alternative)


def normal_tail(z: float, alternative: Alternative) -> float:
    """The p value of a normal statistic."""
    return tail(normal_cdf(z), normal_cdf(-z), alternative)


def count_extreme(sampled: Floats, observed: float, slack: float, alternative: Alternative) -> int:
    """The number of sampled statistics at least as extreme as the observed one."""
    if alternative == "greater":
        extreme: NDArray[np.bool_] = sampled >= observed - slack
    elif alternative == "less":
        extreme = sampled <= observed + slack
    else:
        extreme = np.abs(sampled) >= abs(observed) - slack
    return int(np.count_nonzero(extreme))
