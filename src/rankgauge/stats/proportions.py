"""Confidence intervals for measures that are 0 or 1 for each query, such as Success@k, and of the ROC area."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ints
from rankgauge.stats.distributions import largest_share, normal_quantile
from rankgauge.stats.draws import RandomStream, Resampling
from rankgauge.stats.results import Alternative, Interval, tail_probability
from rankgauge.stats.samples import Sample, Units, paired, sample, too_few, zeros_and_ones


def wilson_interval(
    values: ArrayLike,
    *,
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
) -> Interval:
    """Wilson's score interval of a proportion.

    (p + z²/2n ± z · sqrt(p(1 − p)/n + z²/4n²)) / (1 + z²/n).
    Wilson, Probable inference, the law of succession, and statistical inference, JASA 1927.
    """
    outside = tail_probability(confidence, alternative)
    data = sample(zeros_and_ones(values, "values"), units)
    interval = _empty(data, confidence, "wilson", alternative)
    if interval.reason:
        return interval
    n = data.effective_units
    low, high = wilson_ends(data.total / data.scale * (n / data.size), n, normal_quantile(1 - outside))
    return replace(interval, low=low, high=high).with_open_end(0.0, 1.0)


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
    numerator is moved toward 0 by n/2: method 10 of Newcombe, Improved confidence intervals for the difference
    between binomial proportions based on paired data, Statistics in Medicine 1998.
    """
    outside = tail_probability(confidence, alternative)
    left, right = zeros_and_ones(first, "first"), zeros_and_ones(second, "second")
    data = paired(left, right, units)
    interval = _empty(data, confidence, "newcombe", alternative)
    if interval.reason:
        return interval
    n, z = len(data), normal_quantile(1 - outside)
    first_count, second_count = int(left.sum()), int(right.sum())
    both_count = int(np.count_nonzero((left == 1) & (right == 1)))
    p, q = first_count / n, second_count / n
    (low_p, high_p), (low_q, high_q) = wilson_ends(first_count, n, z), wilson_ends(second_count, n, z)
    phi = _correlation(both_count, first_count, second_count, n)
    down, up = _distance(p - low_p, high_q - q, phi), _distance(high_p - p, q - low_q, phi)
    return replace(interval, low=max(-1.0, p - q - down), high=min(1.0, p - q + up)).with_open_end(-1.0, 1.0)


def wilson_ends(successes: float, n: float, z: float) -> tuple[float, float]:
    """Both ends of Wilson's interval; exactly 0 without any success, exactly 1 without any failure."""
    p, share = min(1.0, successes / n), z * z / n
    middle = (p + share / 2) / (1 + share)
    half = math.sqrt(p * (1 - p) * share + share * share / 4) / (1 + share)
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    return low, 1.0 if math.isclose(successes, n, rel_tol=1e-12) else min(1.0, middle + half)


def _correlation(both: int, first: int, second: int, n: int) -> float:
    """The phi coefficient of the fourfold table, corrected for continuity if it is positive."""
    margins = first * (n - first) * second * (n - second)
    cross: float = n * both - first * second  # ad − bc
    if cross > 0:
        cross = max(cross - n / 2, 0)
    return cross / math.sqrt(margins) if margins else 0.0


def _distance(first: float, second: float, phi: float) -> float:
    return math.sqrt(max(0.0, first * first - 2 * phi * first * second + second * second))


def _empty(data: Sample, confidence: float, method: str, alternative: Alternative) -> Interval:
    """The interval without its ends, and with a reason if it cannot have them."""
    reason = None
    if len(data) < 2:
        reason = too_few(data)
    elif data.shared:
        reason = f"the {method} interval needs queries that do not share units"
    estimate = data.mean if len(data) else None
    return Interval(None, None, confidence, method, len(data), reason, estimate, alternative, data.shared)


# How well a score separates two classes: the area under the ROC curve, with a
# stratified bootstrap.

AUROC_RESAMPLES = 2000


def auroc(positive: Floats, negative: Floats, *, confidence: float = 0.95, seed: int = 0) -> tuple[float, Interval]:
    """The probability that a positive scores higher than a negative; a tie counts half. −∞ is a score like any other.

    The percentile interval of a bootstrap that draws from each class by itself. An end without any distance from the
    estimate, as if the classes are separated without an error, is that of a share of 0 in as many trials as the smaller
    class has members (Clopper and Pearson): no interval has the width 0.
    """
    values, ranks = np.unique(np.concatenate([positive, negative]), return_inverse=True)
    first, second = ranks[: len(positive)], ranks[len(positive) :]
    counts = (np.bincount(ranks_of, minlength=len(values))[None] for ranks_of in (first, second))
    estimate = float(_area(*counts)[0])
    outside = tail_probability(confidence, "two-sided")
    stream = Resampling(AUROC_RESAMPLES, seed, ("auroc",)).stream
    named = (("positive", first), ("negative", second))
    areas = _area(*(_drawn(members, len(values), stream.child(name)) for name, members in named))
    low, high = np.quantile(areas, [outside, 1 - outside]).tolist()
    room = largest_share(0, min(len(positive), len(negative)), outside)
    low = low if low < estimate else max(0.0, estimate - room)
    high = high if high > estimate else min(1.0, estimate + room)
    count = len(positive) + len(negative)
    return estimate, Interval(low, high, confidence, "stratified bootstrap", count, None, estimate)


def _drawn(members: Ints, classes: int, stream: RandomStream) -> Ints:
    """Resamples × distinct values: how often each value is drawn."""
    width = len(members) + len(members) % 2
    chosen = members[stream.bits().below(len(members), AUROC_RESAMPLES, width)[:, : len(members)]]
    counts = np.zeros((AUROC_RESAMPLES, classes), dtype=np.int64)
    np.add.at(counts, (np.arange(AUROC_RESAMPLES)[:, None], chosen), 1)
    return counts


def _area(positive: Ints, negative: Ints) -> Floats:
    """The area of each row of counts of distinct values, ascending."""
    below = np.cumsum(negative, axis=1) - negative
    pairs = positive.sum(axis=1) * negative.sum(axis=1)
    areas: Floats = (positive * (below + negative / 2)).sum(axis=1) / pairs
    return areas
