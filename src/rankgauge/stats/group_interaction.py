"""Does a difference differ between groups of queries? By shuffling which query stands in which group."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.stats.results import TestResult, check_resamples
from rankgauge.stats.samples import Floats, Ints, Units, sample, unit_numbers
from rankgauge.stats.seeds import RandomStream, blocks

RESAMPLES = 10_000
EXCHANGEABLE = "queries are exchangeable between groups where nothing differs"
_AT_ONCE = 1 << 20  # random words in memory


def interaction(
    differences: ArrayLike,
    groups: Sequence[Hashable],
    *,
    units: Units | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    labels: tuple[str, ...] = (),
) -> TestResult:
    """Whether the mean of the differences is the same in every group: p of F under shuffled groups.

    F is that of a one-way analysis of variance; p = (b + 1) / (B + 1), where b of B shuffles have at least the observed
    F, which no distribution of the differences can make too small. Where units are shared, the means of units are
    shuffled, and each must stand in one group. Pitman, Significance tests which may be applied to samples from any
    populations III, Biometrika 1938; Good, Permutation, Parametric, and Bootstrap Tests of Hypotheses, 2005.
    """
    check_resamples(resamples)
    found = sample(differences, units, name="differences")
    group = unit_numbers(groups, len(found))
    result = TestResult(None, None, len(found), "F, groups shuffled", "greater", exact=False, units=found.shared)
    if found.shared is not None:
        if len({*zip(found.unit.tolist(), group.tolist(), strict=True)}) > found.units:
            return replace(result, reason="queries of one unit stand in several groups")
        first = np.unique(found.unit, return_index=True)[1]
        found, group = sample(found.totals / found.sizes / found.scale), group[first]
    sizes = np.bincount(group)
    if len(sizes) < 2 or len(found) <= len(sizes):
        return replace(result, reason="at least two groups are needed, and more queries than groups")
    if found.constant:
        return replace(result, statistic=0.0, p=1.0)
    # The squares within and between groups have a constant sum: Σ T² / n over groups orders shuffles as F does. What
    # all values share is taken off first, or its square leaves no digits to what they do not share.
    whole = found.whole - round(found.total / len(found))
    order = np.argsort(group, kind="stable")
    observed = float(_between(whole[order][np.newaxis], sizes)[0])
    slack = 1e-12 * float(np.square(whole).sum())
    extreme = sum(
        int(np.count_nonzero(_between(whole[drawn], sizes) >= observed - slack))
        for drawn in shuffles(len(found), resamples, RandomStream(seed, labels).child("interaction"))
    )
    p = (extreme + 1) / (resamples + 1)
    return replace(result, statistic=_f(whole, sizes, observed), p=p, resamples=resamples, seed=int(seed))


def shuffles(n: int, resamples: int, stream: RandomStream) -> Iterator[Ints]:
    """Random orders of n things, a row each, some at a time: random words are sorted with their places in them."""
    places = np.arange(n, dtype=np.uint64)
    bits = np.uint64(max(1, (n - 1).bit_length()))
    for number, size in blocks(resamples):
        source = stream.child(f"block {number}").source()
        rows = max(1, _AT_ONCE // n)
        for start in range(0, size, rows):
            words = source.words(min(rows, size - start), n)
            yield (np.sort((words << bits) | places, axis=1) & np.uint64((1 << int(bits)) - 1)).astype(np.int64)


def _between(ordered: Floats, sizes: Ints) -> Floats:
    """Σ T² / n over groups, for each row of values that stand group by group."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    out: Floats = (np.square(np.add.reduceat(ordered, starts, axis=1)) / sizes).sum(axis=1)
    return out


def _f(whole: Floats, sizes: Ints, between: float) -> float | None:
    """The F itself; None where values do not vary within groups."""
    n, k = len(whole), len(sizes)
    within = float(np.square(whole).sum()) - between
    explained = between - float(whole.sum()) ** 2 / n
    return (explained / (k - 1)) / (within / (n - k)) if within > 1e-12 * between else None
