"""Whether a difference varies between groups of queries, by permuting the groups of the queries."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.stats.draws import DEFAULT_RESAMPLING, RESAMPLES, RandomStream, Resampling, blocks
from rankgauge.stats.results import TestResult, check_between
from rankgauge.stats.samples import Floats, Ints, Units, sample, unit_numbers

ENOUGH_EXTREME = 10  # permutations that reach the observed F; with as many, p is known to about a third of its size
DRAWN_SHARE = 0.5  # of a group that each bootstrap draw has: draws of whole groups err too often if they are skewed
LEAST_VARIANCE = 1e-12  # of a group, as a share of the variance of all differences
_WORDS_IN_MEMORY = 1 << 20


def interaction(
    differences: ArrayLike,
    groups: Sequence[Hashable],
    *,
    units: Units | None = None,
    alpha: float | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> TestResult:
    """Test whether the mean difference is the same in every group: the p of Welch's F, under permuted groups and drawn.

    p = (b + 1) / (B + 1), where b of B permutations have at least the observed F, or that of as many bootstrap draws
    of each group from its own differences, moved to the same mean, if it is larger. Permutations are exact if queries
    are exchangeable between groups, but a small group with a large spread makes them err; draws from the group itself
    do not. A draw has half as many queries as the group, because small samples of skewed differences show too
    little of their tail, and as many draws as queries would err in up to 8%. ``alpha`` is the strictest level that a
    correction leaves to this p: if fewer than 10 permutations reach the observed F, up to 10 / alpha are drawn, so that
    the corrected p can be significant. A group without variance, observed or permuted, counts as having 10⁻¹² of the
    variance of all differences: F is its limit as the variance vanishes, and very large if two such groups have
    different means. If units are shared, the means of units are permuted, and each unit must belong to one group.

    Welch, On the comparison of several mean values: an alternative approach, Biometrika 1951; Chung and Romano, Exact
    and asymptotically robust permutation tests, Annals of Statistics 2013; Bickel, Götze and van Zwet, Resampling fewer
    than n observations, Statistica Sinica 1997; Besag and Clifford, Sequential Monte Carlo p-values, Biometrika 1991.
    """
    if alpha is not None:
        check_between("alpha", alpha, 0, 1)
    data = sample(differences, units, name="differences")
    group = unit_numbers(groups, len(data))
    result = TestResult(
        None, None, len(data), "Welch's F, permuted and drawn", "greater", exact=False, units=data.shared
    )
    if data.shared is not None:
        if len({*zip(data.unit.tolist(), group.tolist(), strict=True)}) > data.units:
            return replace(result, reason="queries of one unit belong to several groups")
        first = np.unique(data.unit, return_index=True)[1]
        data, group = sample(data.totals / data.sizes / data.scale), group[first]
    sizes = np.bincount(group)
    if len(sizes) < 2 or sizes.min() < 2:
        noun = "queries" if result.units is None else "units"
        return replace(result, reason=f"at least 2 groups are needed, each with at least 2 {noun}")
    if data.constant:
        return replace(result, statistic=0.0, p=1.0)
    # The mean is subtracted first; otherwise its square would use up the digits of the differences.
    whole = data.whole - round(data.total / len(data))
    least = LEAST_VARIANCE * float(np.var(whole))
    observed = float(welch_f(whole[np.argsort(group, kind="stable")][np.newaxis], sizes, least)[0])
    bound = observed * (1 - 1e-9) - 1e-12  # an F of the same groups in another order differs by rounding
    reached = drawn = 0
    for orders in _stages(len(data), alpha, resampling):
        for order in orders:
            drawn += len(order)
            reached += int(np.count_nonzero(welch_f(whole[order], sizes, least) >= bound))
        if reached >= ENOUGH_EXTREME:
            break
    p = max((reached + 1) / (drawn + 1), _drawn_p(whole, group, least, bound, drawn, resampling.stream))
    return replace(result, statistic=observed, p=p, resamples=drawn, seed=int(resampling.seed))


def _drawn_p(whole: Floats, group: Ints, least: float, bound: float, count: int, stream: RandomStream) -> float:
    """The share of bootstrap draws, of each group from its own centered differences, with at least the observed F."""
    order = np.argsort(group, kind="stable")
    sizes, ordered = np.bincount(group), whole[order]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    centered = ordered - np.repeat(np.add.reduceat(ordered, starts) / sizes, sizes)
    fewer = np.maximum(2, np.rint(DRAWN_SHARE * sizes).astype(np.int64))
    reached = 0
    for number, size in blocks(count):
        block = stream.child("interaction", "draws", f"block {number}")
        bits = [block.child(str(place)).bits() for place in range(len(sizes))]
        most = max(1, _WORDS_IN_MEMORY // len(whole))
        for start in range(0, size, most):
            rows = min(most, size - start)
            drawn = [
                centered[first + source.below(n, rows, m + m % 2)[:, :m]]
                for first, n, m, source in zip(starts.tolist(), sizes.tolist(), fewer.tolist(), bits, strict=True)
            ]
            reached += int(np.count_nonzero(welch_f(np.hstack(drawn), fewer, least) >= bound))
    return (reached + 1) / (count + 1)


def _stages(n: int, alpha: float | None, resampling: Resampling) -> Iterator[Iterator[Ints]]:
    """The permutations that are always drawn; then those that only a small p needs.

    Looking at the first before drawing the others keeps p valid: it is the p of all permutations only if that of the
    first is below every p with which the test could have ended.
    """
    first = resampling.count(RESAMPLES)
    needed = 0 if alpha is None else math.ceil(ENOUGH_EXTREME / alpha)
    stream = resampling.stream.child("interaction")
    yield shuffles(n, first, stream)
    if needed > first:
        yield shuffles(n, needed - first, stream.child("more"))


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


def welch_f(ordered: Floats, sizes: Ints, least_variance: float = 0.0) -> Floats:
    """Welch's F of each row of values, which are sorted by group; a smaller variance counts as the least one."""
    starts, k = np.concatenate([[0], np.cumsum(sizes)[:-1]]), len(sizes)
    means = np.add.reduceat(ordered, starts, axis=1) / sizes
    deviations = np.square(ordered - np.repeat(means, sizes, axis=1))
    variances = np.add.reduceat(deviations, starts, axis=1) / (sizes - 1)
    weights = sizes / np.maximum(variances, least_variance)
    shares = weights / weights.sum(axis=1, keepdims=True)
    centered = means - (shares * means).sum(axis=1, keepdims=True)
    between = (weights * np.square(centered)).sum(axis=1) / (k - 1)
    spread = (np.square(1 - shares) / (sizes - 1)).sum(axis=1)
    out: Floats = between / (1 + 2 * (k - 2) / (k * k - 1) * spread)
    return out
