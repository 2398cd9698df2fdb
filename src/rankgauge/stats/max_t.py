"""Many systems on many measures against one baseline: how often is the largest t of all as large by chance?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.stats.correction import FAMILY_WISE
from rankgauge.stats.randomization import PERMUTATIONS, enumerated_sums, flipped_sums
from rankgauge.stats.results import Alternative, FamilyResult, check_alternative, check_resamples
from rankgauge.stats.samples import Floats, Sample, Units, matrix, sample
from rankgauge.stats.seeds import RandomStream

SYMMETRY = (
    "joint symmetry: where nothing differs, the differences of a query (or unit) in all systems and measures together "
    "are as likely with all signs turned"
)


def maxt(
    differences: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    units: Units | None = None,
    resamples: int = PERMUTATIONS,
    seed: int = 0,
    labels: tuple[str, ...] = (),
) -> FamilyResult:
    """p values corrected by single-step max-T: a row for each query, a column for each system and measure.

    A permutation turns the signs of a query's whole row, so what the columns share stays shared; p of a column is the
    share of permutations whose largest t of any column is at least the column's own. All patterns are enumerated where
    they are no more than ``resamples``, otherwise p = (b + 1) / (B + 1).

    Σd² does not change with the signs, so S / sqrt(Σd²) orders permutations as t does, with one n for all columns; S
    alone would let the column with the largest spread decide. Where units are shared, S and Σd² are of unit totals.
    Westfall and Young, Resampling-Based Multiple Testing, 1993.
    """
    check_alternative(alternative)
    check_resamples(resamples)
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
    if alive.any():
        drawn = enumerated_sums(moving) if exact else flipped_sums(moving, resamples, RandomStream(seed, labels))
        two_sided = alternative == "two-sided"
        scale = spread[alive][:, np.newaxis]
        best = [((np.abs(sums) if two_sided else sums) / scale).max(axis=0) for sums in drawn]
        largest = np.sort(np.concatenate(best))
    else:
        largest = np.zeros(1)
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
        seed=None if exact else int(seed),
    )


def _standard(total: float, spread: float) -> float:
    return total / spread if spread else 0.0


def _slack(columns: list[Sample], spread: Floats) -> Floats:
    """How far statistics may be apart by rounding alone."""
    whole = np.array([column.slack for column in columns])
    return np.where(spread > 0, whole / np.where(spread > 0, spread, 1.0), 0.0) + 1e-12


def _t(standard: float, column: Sample) -> float | None:
    """The t that belongs to S / sqrt(Σd²): Student's paired t where no unit is shared."""
    units = column.units
    if units < 2 or (column.constant and standard):
        return None
    rest = units - standard * standard
    return standard * math.sqrt((units - 1) / rest) if rest > 0 else None
