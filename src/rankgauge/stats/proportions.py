"""Intervals for measures that are 0 or 1 for each query, such as Success@k."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import InputError
from rankgauge.stats.distributions import normal_quantile
from rankgauge.stats.results import Alternative, Interval, tail_probability
from rankgauge.stats.samples import Floats, Sample, Units, few, paired, sample, vector


def wilson_interval(
    values: ArrayLike, *, confidence: float = 0.95, alternative: Alternative = "two-sided", units: Units | None = None
) -> Interval:
    """Wilson's score interval of a proportion.

    (p + z²/2n ± z · sqrt(p(1 − p)/n + z²/4n²)) / (1 + z²/n).
    Wilson, Probable inference, the law of succession, and statistical inference, JASA 1927.
    """
    outside = tail_probability(confidence, alternative)
    found = sample(zeros_and_ones(values, "values"), units)
    interval = _empty(found, confidence, "wilson", alternative)
    if interval.reason:
        return interval
    low, high = wilson_ends(round(found.values.sum()), len(found), normal_quantile(1 - outside))
    return replace(interval, low=low, high=high).opened(0.0, 1.0)


def newcombe_interval(
    first: ArrayLike,
    second: ArrayLike,
    *,
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
) -> Interval:
    """Newcombe's interval of a paired difference of proportions, first minus second.

    Wilson's intervals of the two proportions, squared and added with the correlation of the fourfold table, whose
    numerator is drawn towards 0 by n/2: method 10 of Newcombe, Improved confidence intervals for the difference
    between binomial proportions based on paired data, Statistics in Medicine 1998.
    """
    outside = tail_probability(confidence, alternative)
    left, right = zeros_and_ones(first, "first"), zeros_and_ones(second, "second")
    found = paired(left, right, units)
    interval = _empty(found, confidence, "newcombe", alternative)
    if interval.reason:
        return interval
    n, z = len(found), normal_quantile(1 - outside)
    one, two = int(left.sum()), int(right.sum())
    both = int(np.count_nonzero((left == 1) & (right == 1)))
    p, q = one / n, two / n
    (low_p, high_p), (low_q, high_q) = wilson_ends(one, n, z), wilson_ends(two, n, z)
    phi = _correlation(both, one, two, n)
    down, up = _joined(p - low_p, high_q - q, phi), _joined(high_p - p, q - low_q, phi)
    return replace(interval, low=max(-1.0, p - q - down), high=min(1.0, p - q + up)).opened(-1.0, 1.0)


def wilson_ends(successes: int, n: int, z: float) -> tuple[float, float]:
    """Both ends of Wilson's interval; exactly 0 and 1 where nothing and everything succeeded."""
    p, share = successes / n, z * z / n
    middle = (p + share / 2) / (1 + share)
    half = math.sqrt(p * (1 - p) * share + share * share / 4) / (1 + share)
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    return low, 1.0 if successes == n else min(1.0, middle + half)


def zeros_and_ones(values: ArrayLike, name: str) -> Floats:
    """Values that are all 0 or 1."""
    found = vector(values, name)
    odd = np.flatnonzero((found != 0) & (found != 1))
    if len(odd):
        raise InputError(
            f"{name} must be 0 or 1 for an interval of proportions, found {found[odd[0]]:g} at position {odd[0]}",
            hint="take method='t' for any other measure",
        )
    return found


def _correlation(both: int, one: int, two: int, n: int) -> float:
    """The phi coefficient of the fourfold table, corrected for continuity where it is positive."""
    margins = one * (n - one) * two * (n - two)
    cross: float = n * both - one * two  # ad − bc
    if cross > 0:
        cross = max(cross - n / 2, 0)
    return cross / math.sqrt(margins) if margins else 0.0


def _joined(here: float, there: float, phi: float) -> float:
    return math.sqrt(max(0.0, here * here - 2 * phi * here * there + there * there))


def _empty(found: Sample, confidence: float, method: str, alternative: Alternative) -> Interval:
    """The interval before its ends are known, with the reason where they cannot be."""
    reason = None
    if len(found) < 2:
        reason = few(found)
    elif found.shared:
        reason = f"the {method} interval needs queries that share no unit"
    estimate = found.mean if len(found) else None
    return Interval(None, None, confidence, method, len(found), reason, estimate, alternative, found.shared)
