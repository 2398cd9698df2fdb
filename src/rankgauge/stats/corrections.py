"""Corrections for multiple testing. Each returns adjusted p values, to be compared directly with the level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import InputError
from rankgauge.stats.draws import DEFAULT_RESAMPLING, PERMUTATIONS, RandomStream, Resampling, blocks
from rankgauge.stats.randomization import enumerated_sums, flip_test, flipped_sums
from rankgauge.stats.results import Alternative, FamilyResult, check_alternative, check_choice
from rankgauge.stats.samples import Floats, Sample, Units, matrix, paired, sample, unit_numbers

PValues = Sequence[float | None]
FAMILY_WISE = "the probability of any false positive (family-wise error rate)"
DISCOVERY = "the expected share of false positives among all positives (false discovery rate)"
PER_TEST = "the probability of a false positive in each test alone"


def bonferroni(p: PValues) -> FamilyResult:
    """Each p times the number of tests. Dunn, Multiple comparisons among means, JASA 1961."""
    return _adjusted(p, "bonferroni", FAMILY_WISE, "none", lambda ordered: ordered * len(ordered))


def holm(p: PValues) -> FamilyResult:
    """The i-th smallest p times the hypotheses not yet rejected (m − i + 1), never below that of a smaller p.

    Holm, A simple sequentially rejective multiple test procedure, Scandinavian J. Statistics 1979.
    """

    def step_down(ordered: Floats) -> Floats:
        return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))

    return _adjusted(p, "holm", FAMILY_WISE, "none", step_down)


def benjamini_hochberg(p: PValues) -> FamilyResult:
    """The i-th smallest p times m / i, never above that of a larger p.

    Benjamini and Hochberg, Controlling the false discovery rate, J. Royal Statistical Society B 1995.
    """
    return _adjusted(p, "bh", DISCOVERY, "tests are independent or positively dependent", _step_up)


Correction = Literal["none", "bonferroni", "holm", "bh"]
P_VALUE_CORRECTIONS: tuple[Correction, ...] = ("none", "bonferroni", "holm", "bh")


def correct(p: PValues, method: Correction = "holm") -> FamilyResult:
    """Apply a correction by its name; ``none`` leaves every p unchanged."""
    check_choice("correction", method, P_VALUE_CORRECTIONS)
    corrections: dict[str, Callable[[PValues], FamilyResult]] = {
        "bonferroni": bonferroni,
        "holm": holm,
        "bh": benjamini_hochberg,
    }
    if method == "none":
        return _adjusted(p, "none", PER_TEST, "none", lambda ordered: ordered)
    return corrections[method](p)


def _step_up(ordered: Floats) -> Floats:
    m = len(ordered)
    return np.minimum.accumulate((ordered * m / np.arange(1, m + 1))[::-1])[::-1]


def _adjusted(
    p: PValues, method: str, controls: str, assumption: str, adjust: Callable[[Floats], Floats]
) -> FamilyResult:
    """Adjust the p values that are not None, in ascending order, and put them back in place."""
    indices = [index for index, value in enumerate(p) if value is not None]
    values = np.array([p[index] for index in indices], dtype=np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise InputError(f"p values must lie between 0 and 1, found {values[~((values >= 0) & (values <= 1))][0]:g}")
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(adjust(values[order]), 1.0)
    out: list[float | None] = [None] * len(p)
    for index, value in zip(indices, corrected.tolist(), strict=True):
        out[index] = value
    return FamilyResult(tuple(out), len(indices), method, controls, assumption)


# Several systems on several measures against one baseline: the max-T correction.

SYMMETRY = (
    "joint symmetry: under the null hypothesis, flipping the signs of all differences of a query (or unit) together, "
    "over all systems and measures, is equally likely"
)
_TABLE_CELLS = 1 << 21  # of the tables of sums that are in memory at once


def maxt(
    differences: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> FamilyResult:
    """p values corrected by single-step max-T: one row per query, one column per system and measure.

    A permutation flips the signs of a query's whole row, which keeps the dependence between columns; the p of a column
    is the share of permutations whose largest t of any column is at least the column's own. All sign patterns are
    enumerated if there are at most ``resamples`` of them, otherwise p = (b + 1) / (B + 1).

    Σd² does not change with the signs, so S / sqrt(Σd²) orders permutations as t does, with the same n for all columns;
    S alone would let the column with the largest spread dominate. If units are shared, S and Σd² are of unit totals.
    Westfall and Young, Resampling-Based Multiple Testing, 1993.
    """
    check_alternative(alternative)
    resamples = resampling.count(PERMUTATIONS)
    values = matrix(differences, "differences")
    columns = [sample(column, units, name="differences") for column in values.T]
    n, family = values.shape
    if not n or not family:
        reason = "there are no differences"
        return FamilyResult((None,) * family, 0, "max-T", FAMILY_WISE, SYMMETRY, alternative, n=n, reason=reason)
    sign = -1.0 if alternative == "less" else 1.0
    parts = sign * np.column_stack([column.totals for column in columns])
    spread = np.sqrt(np.square(parts).sum(axis=0))
    alive = spread > 0
    own = np.array([_standard(sign * column.total, root) for column, root in zip(columns, spread, strict=True)])
    moving = parts[np.any(parts != 0, axis=1)][:, alive]
    exact = 1 << len(moving) <= resamples
    two_sided = alternative == "two-sided"
    largest = largest_flipped(moving, spread[alive], None if exact else resampling, two_sided=two_sided)
    bounds = (np.abs(own) if alternative == "two-sided" else own) - _slack(columns, spread)
    reached = len(largest) - np.searchsorted(largest, bounds, side="left")
    p = reached / len(largest) if exact else (reached + 1) / (resamples + 1)
    p[~alive] = 1.0
    return FamilyResult(
        p=tuple(p.tolist()),
        family=family,
        method="max-T",
        controls=FAMILY_WISE,
        assumption=SYMMETRY,
        alternative=alternative,
        statistic=tuple(_t(sign * value, column) for value, column in zip(own.tolist(), columns, strict=True)),
        estimate=tuple(column.mean for column in columns),
        n=n,
        units=columns[0].shared,
        exact=exact,
        resamples=None if exact else resamples,
        seed=None if exact else int(resampling.seed),
    )


def largest_flipped(parts: Floats, spread: Floats, resampling: Resampling | None, *, two_sided: bool) -> Floats:
    """The largest S / sqrt(Σd²) of any column under each pattern of signs, in ascending order.

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
        best = np.concatenate([((np.abs(sums) if two_sided else sums) / scale).max(axis=0) for sums in drawn])
        largest = np.maximum(largest, best) if start else best
    return np.sort(largest)


def _standard(total: float, spread: float) -> float:
    return total / spread if spread else 0.0


def _slack(columns: list[Sample], spread: Floats) -> Floats:
    """How far apart statistics may be because of rounding alone."""
    slack = np.array([column.slack for column in columns])
    return np.where(spread > 0, slack / np.where(spread > 0, spread, 1.0), 0.0) + 1e-12


def _t(standard: float, column: Sample) -> float | None:
    """The t that corresponds to S / sqrt(Σd²): Student's paired t if no unit is shared."""
    units = column.units
    if units < 2 or (column.constant and standard):
        return None
    rest = units - standard * standard
    return standard * math.sqrt((units - 1) / rest) if rest > 0 else None


# All pairs of systems: the randomized Tukey HSD test.

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
