"""How well a score separates two classes: the area under the ROC curve, with a stratified bootstrap."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ints
from rankgauge.stats.distributions import largest_share
from rankgauge.stats.draws import RandomStream, Resampling
from rankgauge.stats.results import Interval, tail_probability

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
