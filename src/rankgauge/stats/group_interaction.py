"""Whether a difference varies between groups of queries, by permuting the groups of the queries."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.stats.results import TestResult
from rankgauge.stats.samples import Floats, Ints, Units, sample, unit_numbers
from rankgauge.stats.seeds import DEFAULT_RESAMPLING, RESAMPLES, RandomStream, Resampling, blocks

EXCHANGEABLE = "queries are exchangeable between groups under the null hypothesis"
_WORDS_IN_MEMORY = 1 << 20


def interaction(
    differences: ArrayLike,
    groups: Sequence[Hashable],
    *,
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> TestResult:
    """Test whether the mean difference is the same in every group: the p of F under permuted groups.

    F is that of a one-way analysis of variance; p = (b + 1) / (B + 1), where b of B permutations have at least the
    observed F, which is valid for any distribution of the differences. If units are shared, the means of units are
    permuted, and each unit must belong to one group. Pitman, Significance tests which may be applied to samples from
    any populations III, Biometrika 1938; Good, Permutation, Parametric, and Bootstrap Tests of Hypotheses, 2005.
    """
    resamples = resampling.count(RESAMPLES)
    data = sample(differences, units, name="differences")
    group = unit_numbers(groups, len(data))
    result = TestResult(None, None, len(data), "F with permuted groups", "greater", exact=False, units=data.shared)
    if data.shared is not None:
        if len({*zip(data.unit.tolist(), group.tolist(), strict=True)}) > data.units:
            return replace(result, reason="queries of one unit belong to several groups")
        first = np.unique(data.unit, return_index=True)[1]
        data, group = sample(data.totals / data.sizes / data.scale), group[first]
    sizes = np.bincount(group)
    if len(sizes) < 2 or len(data) <= len(sizes):
        return replace(result, reason="at least 2 groups are needed, and more queries than groups")
    if data.constant:
        return replace(result, statistic=0.0, p=1.0)
    # The sums of squares within and between groups have a constant sum, so Σ T² / n over groups orders permutations as
    # F does. The mean is subtracted first; otherwise its square would use up the digits of the differences.
    whole = data.whole - round(data.total / len(data))
    order = np.argsort(group, kind="stable")
    observed = float(_between(whole[order][np.newaxis], sizes)[0])
    slack = 1e-12 * float(np.square(whole).sum())
    extreme = sum(
        int(np.count_nonzero(_between(whole[drawn], sizes) >= observed - slack))
        for drawn in shuffles(len(data), resamples, resampling.stream.child("interaction"))
    )
    p = (extreme + 1) / (resamples + 1)
    return replace(result, statistic=_f(whole, sizes, observed), p=p, resamples=resamples, seed=int(resampling.seed))


def shuffles(n: int, resamples: int, stream: RandomStream) -> Iterator[Ints]:
    """Random permutations of n items, one per row, in batches: random words are sorted with indices as low bits."""
    indices = np.arange(n, dtype=np.uint64)
    bits = np.uint64(max(1, (n - 1).bit_length()))
    for number, size in blocks(resamples):
        bits_source = stream.child(f"block {number}").bits()
        rows = max(1, _WORDS_IN_MEMORY // n)
        for start in range(0, size, rows):
            words = bits_source.words(min(rows, size - start), n)
            yield (np.sort((words << bits) | indices, axis=1) & np.uint64((1 << int(bits)) - 1)).astype(np.int64)


def _between(ordered: Floats, sizes: Ints) -> Floats:
    """Σ T² / n over groups, for each row of values, which are sorted by group."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    out: Floats = (np.square(np.add.reduceat(ordered, starts, axis=1)) / sizes).sum(axis=1)
    return out


def _f(whole: Floats, sizes: Ints, between: float) -> float | None:
    """The F statistic; None if values do not vary within groups."""
    n, k = len(whole), len(sizes)
    within = float(np.square(whole).sum()) - between
    explained = between - float(whole.sum()) ** 2 / n
    return (explained / (k - 1)) / (within / (n - k)) if within > 1e-12 * between else None
