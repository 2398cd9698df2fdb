"""When did the mean of many series change? Queries are series, and all of them may change at the same time.

For a split and a number of columns before and after it, each query has a contrast: its mean after minus its mean
before. If nothing changed within these columns, a query's contrasts are as likely as their mirror images. So all
contrasts of a query keep their distribution if their signs flip together. The largest |t| of any contrast, in random
flips of whole queries, is what chance alone reaches over all splits and numbers of columns: one critical value for all.

From the contrasts that exceed it, the shortest are taken that do not overlap. With probability 1 − alpha each of them
has a change within its columns, whatever else changed elsewhere: contrasts over a change only make the critical value
larger. So there are at most as many change points as changes.

Westfall and Young, Resampling-Based Multiple Testing, 1993 (the correction); Fryzlewicz, Narrowest significance
pursuit: inference for multiple change-points in linear models, JASA 2024 (shortest parts, and what they claim).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import InputError
from rankgauge.stats.draws import DEFAULT_RESAMPLING, PERMUTATIONS, RESAMPLES, Resampling, difference_matrix
from rankgauge.stats.randomization import enumerated_sums, flipped_sums
from rankgauge.stats.results import check_between
from rankgauge.stats.samples import DECIMALS, Floats, Ints, Units, unit_numbers

_TABLE_CELLS = 1 << 21  # of the tables of sums that are in memory at once
TOO_SHORT, TOO_FEW = "at least 2 entries are needed", "at least 2 queries with values before and after are needed"


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change, where it is most likely, and where it is with the confidence of the test."""

    index: int  # the first column after the change
    first: int  # the change comes after this column …
    last: int  # … and not after that one
    difference: float  # the mean after minus the mean before, up to the next change points
    p: float  # corrected over all splits and numbers of columns


@dataclass(frozen=True, slots=True)
class ChangePoints:
    """The changes of a sequence, in order; none if there is no significant one."""

    points: tuple[ChangePoint, ...]
    p: float | None  # the smallest, corrected: whether anything changed at all
    alpha: float
    family: int  # the number of contrasts
    n: int  # of queries
    reason: str | None = None  # why nothing could be tested
    resamples: int | None = None  # None if all patterns of signs were enumerated
    seed: int | None = None

    @property
    def segments(self) -> tuple[int, ...]:
        """The first column of each part without a change."""
        return (0, *(point.index for point in self.points))


def change_points(
    values: ArrayLike,
    *,
    alpha: float = 0.05,
    runs: Sequence[int] | None = None,
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> ChangePoints:
    """The changes of the mean over queries (rows) in a sequence (columns); NaN where a query has no value.

    A query counts in each contrast for which it has values on both sides. ``runs`` are the numbers of runs that columns
    are means of. With few queries all patterns of signs are enumerated; otherwise p is (b + 1) / (B + 1) for 10,000
    random ones.
    """
    check_between("alpha", alpha, 0, 1)
    matrix = difference_matrix(values)
    n, times = matrix.shape
    counts = np.ones(times) if runs is None else np.asarray(runs, dtype=np.float64)
    if counts.shape != (times,) or np.any(counts < 1):
        raise InputError(f"expected a number of runs for each of {times} columns, found {counts.tolist()}")
    result = ChangePoints((), None, alpha, 0, n)
    if times < 2:
        return replace(result, reason=TOO_SHORT)
    series = SeriesSums.of(matrix, counts, unit_numbers(units, n))
    splits = balanced_splits(times)
    contrasts = series.contrasts(splits)
    parts = series.unit_totals(contrasts)
    moving = parts[np.any(parts != 0, axis=1)]
    spread = np.sqrt(np.square(parts).sum(axis=0))
    usable = np.count_nonzero(~np.isnan(contrasts), axis=0)
    if not np.any(usable > 1):
        return replace(result, reason=TOO_FEW)
    alive = (spread > 0) & (usable > 1)
    result = replace(result, family=int(np.count_nonzero(usable > 1)))
    if not alive.any():
        return replace(result, p=1.0)  # no query ever changed
    resamples = resampling.count(RESAMPLES)
    exact = 1 << len(moving) <= resamples
    drawn = None if exact else replace(resampling, resamples=resamples)
    largest = largest_flipped(moving[:, alive], spread[alive], drawn)
    own = np.zeros(len(splits))
    own[alive] = np.abs(parts[:, alive].sum(axis=0)) / spread[alive]
    reached = len(largest) - np.searchsorted(largest, own - 1e-9, side="left")
    p = reached / len(largest) if exact else (reached + 1) / (resamples + 1)
    return replace(
        result,
        points=_points(series, splits, own, p, alpha),
        p=float(p.min()),
        resamples=None if exact else resamples,
        seed=None if exact else int(resampling.seed),
    )


def largest_flipped(parts: Floats, spread: Floats, resampling: Resampling | None) -> Floats:
    """The largest |S| / sqrt(Σd²) of any column under each pattern of signs, in ascending order.

    ``parts`` has one row per unit, and ``spread`` the root of each column's sum of squares. Without ``resampling`` all
    patterns are enumerated.
    """
    width = max(1, _TABLE_CELLS // (256 * (len(parts) // 8 + 1)))
    largest = np.zeros(1)
    for start in range(0, len(spread), width):
        columns, scale = parts[:, start : start + width], spread[start : start + width, np.newaxis]
        if resampling is None:
            drawn = enumerated_sums(columns)
        else:
            drawn = flipped_sums(columns, resampling.count(PERMUTATIONS), resampling.stream)
        best = np.concatenate([(np.abs(sums) / scale).max(axis=0) for sums in drawn])
        largest = np.maximum(largest, best) if start else best
    return np.sort(largest)


def _points(series: SeriesSums, splits: Ints, own: Floats, p: Floats, alpha: float) -> tuple[ChangePoint, ...]:
    """The shortest significant parts that do not overlap, each with its most likely split."""
    significant = np.flatnonzero(p <= alpha)
    lengths = splits[significant, 2] - splits[significant, 0]
    chosen: list[int] = []
    for row in significant[np.lexsort((-own[significant], lengths))].tolist():
        begin, _, end = splits[row]
        if all(end - 1 <= splits[other, 0] or begin >= splits[other, 2] - 1 for other in chosen):
            chosen.append(row)
    chosen.sort(key=lambda row: int(splits[row, 0]))
    found = [int(splits[row, 1]) for row in chosen]
    for place, row in enumerate(chosen):
        begin, _, end = splits[row].tolist()
        found[place] = _best_split(series, range(begin + 1, end), _neighbors(series, found, place))
    return tuple(
        ChangePoint(
            index,
            int(splits[row, 0]),
            int(splits[row, 2]) - 1,
            _difference(series, index, _neighbors(series, found, place)),
            _p_of(splits, p, splits[row].tolist(), _neighbors(series, found, place)),
        )
        for place, (row, index) in enumerate(zip(chosen, found, strict=True))
    )


def _p_of(splits: Ints, p: Floats, part: list[int], around: tuple[int, int]) -> float:
    """The smallest p of the contrasts whose columns have a part in them, and no other change point."""
    inside = (splits[:, 0] <= part[0]) & (splits[:, 2] >= part[2])
    inside &= (splits[:, 0] >= min(around[0], part[0])) & (splits[:, 2] <= max(around[1], part[2]))
    return float(p[inside].min())


def _neighbors(series: SeriesSums, found: list[int], place: int) -> tuple[int, int]:
    """Where the part around a change point begins and ends: at the change points before and after it."""
    columns = series.sums.shape[1] - 1
    return found[place - 1] if place else 0, found[place + 1] if place + 1 < len(found) else columns


def _best_split(series: SeriesSums, candidates: range, around: tuple[int, int]) -> int:
    splits = np.array([(around[0], split, around[1]) for split in candidates], dtype=np.int64)
    parts = series.unit_totals(series.contrasts(splits))
    spread = np.sqrt(np.square(parts).sum(axis=0))
    return candidates[int(np.argmax(np.abs(parts.sum(axis=0)) / np.where(spread > 0, spread, 1.0)))]


def _difference(series: SeriesSums, index: int, around: tuple[int, int]) -> float:
    contrasts = series.contrasts(np.array([(around[0], index, around[1])], dtype=np.int64))[:, 0]
    return float(np.nanmean(contrasts))


# Contrasts of series: the mean of some columns after a split minus the mean of as many before it.
#
# As many on both sides, because only then is a contrast symmetric about 0 if nothing changed, however skewed the
# noise of a query is: one column against nine others is as skewed as that noise, and tests that flip signs would call
# it a change.
#
# Moving sums of several widths: Eichinger and Kirch, A MOSUM procedure for the estimation of multiple random change
# points, Bernoulli 2018.


def balanced_splits(length: int) -> Ints:
    """Rows of a first column, the first after a split, and the end; each split has several widths.

    Widths are powers of √2, rounded, and the widest that there is room for.
    """
    widths = sorted({round(2 ** (power / 2)) for power in range(2 * length.bit_length())})
    rows = [
        (split - width, split, split + width)
        for split in range(1, length)
        for width in sorted({*widths, min(split, length - split)})
        if width <= min(split, length - split)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


@dataclass(frozen=True, eq=False)
class SeriesSums:
    """Sums up to each column, from which every contrast is made."""

    sums: Floats  # queries × (columns + 1): of value · runs
    weights: Floats  # the same of runs, for columns in which the query has a value
    unit: Ints

    @classmethod
    def of(cls, values: Floats, runs: Floats, unit: Ints) -> SeriesSums:
        """The sums of values, queries × columns, of which each column is the mean of some runs."""
        present = ~np.isnan(values)
        first = np.zeros((len(values), 1))
        weight = present * runs
        sums = np.hstack([first, np.cumsum(np.where(present, values, 0.0) * weight, axis=1)])
        return cls(sums, np.hstack([first, np.cumsum(weight, axis=1)]), unit)

    def contrasts(self, splits: Ints) -> Floats:
        """Queries × splits: the mean after minus the mean before; NaN if a side has no value."""
        begin, middle, end = splits.T
        with np.errstate(divide="ignore", invalid="ignore"):
            before, after = (
                (self.sums[:, high] - self.sums[:, low]) / (self.weights[:, high] - self.weights[:, low])
                for low, high in ((begin, middle), (middle, end))
            )
        return np.asarray(after - before)

    def unit_totals(self, contrasts: Floats) -> Floats:
        """Units × splits, as whole numbers of a small quantum: sums are exact, and equal series have contrasts of 0."""
        totals = np.zeros((int(self.unit.max(initial=-1)) + 1, contrasts.shape[1]))
        np.add.at(totals, self.unit, np.nan_to_num(contrasts))
        largest = max(1.0, float(np.abs(totals).max(initial=0.0)))
        decimals = min(DECIMALS, math.floor(math.log10(2.0**53 / largest / max(1, len(totals)))))
        return np.asarray(np.rint(totals * 10.0**decimals))
