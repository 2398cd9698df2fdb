"""All pairs of systems: the randomized Tukey HSD test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import InputError
from rankgauge.stats.correction import FAMILY_WISE
from rankgauge.stats.randomization import flip_test
from rankgauge.stats.results import FamilyResult
from rankgauge.stats.samples import Floats, Units, matrix, paired, sample, unit_numbers
from rankgauge.stats.seeds import DEFAULT_RESAMPLING, PERMUTATIONS, RandomStream, Resampling, blocks

EXCHANGEABLE_SYSTEMS = (
    "joint symmetry: under the null hypothesis, the scores of a query (or unit) are equally likely in any order of the "
    "systems"
)
_TABULATED_UP_TO = 7  # systems: 7! orders fit in a table


def tukey(
    scores: ArrayLike,
    *,
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> FamilyResult:
    """Randomized Tukey HSD: one row per query, one column per system; one p for each pair, first before second.

    A permutation shuffles the systems within each query (or all queries of a unit alike); the p of a pair is the share
    of permutations whose largest mean minus smallest mean is at least the pair's difference. All are enumerated if
    there are at most ``resamples``. With two systems this is Fisher's randomization test, and is computed as such.
    Carterette, Multiple testing in statistical analysis of systems-based IR experiments, TOIS 2012.
    """
    resamples = resampling.count(PERMUTATIONS)
    values = matrix(scores, "scores")
    n, systems = values.shape
    if systems < 2:
        raise InputError(f"at least 2 systems are needed, found {systems}")
    pairs = tuple(combinations(range(systems), 2))
    means = [paired(values[:, i], values[:, j]).mean if n else None for i, j in pairs]

    def result(
        p: list[float | None], exact: bool | None, shared: int | None, reason: str | None = None
    ) -> FamilyResult:
        return FamilyResult(
            p=tuple(p),
            family=sum(value is not None for value in p),
            method="randomized Tukey HSD",
            controls=FAMILY_WISE,
            assumption=EXCHANGEABLE_SYSTEMS,
            statistic=tuple(means),
            estimate=tuple(means),
            pairs=pairs,
            n=n,
            units=shared,
            exact=exact,
            resamples=None if exact else resamples,
            seed=None if exact else int(resampling.seed),
            reason=reason,
        )

    if systems == 2:
        data = paired(values[:, 0], values[:, 1], units)
        fisher = flip_test(data, "two-sided", resampling)
        return result([fisher.p], fisher.exact, fisher.units, fisher.reason)
    if not n:
        return result([None] * len(pairs), None, None, "there are no scores")
    rows, totals = _whole(values, units)
    moving = rows[np.any(rows != rows[:, :1], axis=1)]
    exact = math.factorial(systems) ** min(len(moving), 64) <= resamples
    drawn = [_all_orders(moving)] if exact else shuffled_sums(moving, resamples, resampling.stream)
    gaps = np.sort(np.concatenate([sums.max(axis=0) - sums.min(axis=0) for sums in drawn]))
    bounds = np.array([abs(totals[i] - totals[j]) for i, j in pairs]) - 2 * n  # the rounding of two sums on each side
    reached = len(gaps) - np.searchsorted(gaps, bounds, side="left")
    p = reached / len(gaps) if exact else (reached + 1) / (resamples + 1)
    return result(p.tolist(), exact, len(rows) if len(rows) < n else None)


def shuffled_sums(rows: Floats, resamples: int, stream: RandomStream) -> Iterator[Floats]:
    """The sum of each column after shuffling each row at random, one block of permutations at a time."""
    systems = rows.shape[1]
    orders = np.array(list(permutations(range(systems)))).T if systems <= _TABULATED_UP_TO else None
    for number, size in blocks(resamples):
        bits = stream.child("shuffles", f"block {number}").bits()
        width = size + size % 2
        sums = np.zeros((systems, width))
        part = np.empty_like(sums)
        columns = np.arange(width)
        for row in rows:
            if orders is not None:
                np.take(row[orders], bits.below(orders.shape[1], 1, width)[0], axis=1, out=part, mode="wrap")
            else:
                part[:] = row[:, np.newaxis]
                for last in range(systems - 1, 0, -1):  # a Fisher–Yates shuffle of all permutations at once
                    chosen = bits.below(last + 1, 1, width)[0]
                    taken = part[chosen, columns]
                    part[chosen, columns] = part[last]
                    part[last] = taken
            sums += part
        yield sums[:, :size]


def _all_orders(rows: Floats) -> Floats:
    """The sum of each column under every combination of orders of the rows."""
    orders = np.array(list(permutations(range(rows.shape[1]))))
    sums = np.zeros((1, rows.shape[1]))
    for row in rows:
        sums = (sums[:, np.newaxis] + row[orders]).reshape(-1, rows.shape[1])
    return sums.T


def _whole(values: Floats, units: Units | None) -> tuple[Floats, Floats]:
    """Unit totals and totals in quanta, as differences from the first system, which does not change any gap."""
    n, systems = values.shape
    largest = float(np.abs(values).max(initial=0.0))
    whole = sample((values - values[:, :1]).reshape(-1), largest=largest).whole.reshape(n, systems)
    unit = unit_numbers(units, n)
    rows = np.column_stack([np.bincount(unit, column) for column in whole.T]).astype(np.float64)
    return rows, rows.sum(axis=0)
