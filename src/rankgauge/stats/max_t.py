"""Several systems on several measures against one baseline: the max-T correction."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.stats.correction import FAMILY_WISE
from rankgauge.stats.randomization import enumerated_sums, flipped_sums
from rankgauge.stats.results import Alternative, FamilyResult, check_alternative
from rankgauge.stats.samples import Floats, Sample, Units, matrix, sample
from rankgauge.stats.seeds import DEFAULT_RESAMPLING, PERMUTATIONS, Resampling

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
