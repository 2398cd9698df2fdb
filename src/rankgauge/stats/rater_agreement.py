"""How closely assessors agree: Cohen's kappa, weighted or not, and Krippendorff's alpha.

Both are functions of a table of counts, and such tables add up: the table of many queries is the sum of the queries'
tables, and so an interval that resamples queries (:func:`agreement_intervals`) needs no ratings, only the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import InputError
from rankgauge.stats.bootstrap import bca_quantiles, resampled_sums
from rankgauge.stats.draws import DEFAULT_RESAMPLING, RESAMPLES, Resampling
from rankgauge.stats.rank_correlation import Agreement
from rankgauge.stats.results import Interval, check_choice, tail_probability
from rankgauge.stats.samples import Floats, vector

KappaWeights = Literal["none", "linear", "quadratic"]
AlphaLevel = Literal["nominal", "ordinal", "interval"]
KAPPA_WEIGHTS: tuple[KappaWeights, ...] = get_args(KappaWeights)
ALPHA_LEVELS: tuple[AlphaLevel, ...] = get_args(AlphaLevel)
TableStatistic = Callable[[Floats], Floats]  # of tables in the last two dimensions; NaN if there is no value
_UNDEFINED_SHARE = 0.05  # of resamples that may have no value
_ROUNDING = 1e-9


def coincidence_table(ratings: ArrayLike, values: ArrayLike) -> Floats:
    """How often two grades were given to the same unit: one row of ratings per unit, NaN where there is none.

    Each pair of ratings of a unit counts 1 / (its number of ratings − 1); a unit with one rating counts nothing.
    """
    rows, grades = np.atleast_2d(np.asarray(ratings, dtype=np.float64)), vector(values, "values")
    counts = np.stack([(rows == grade).sum(axis=1) for grade in grades], axis=1).astype(np.float64)
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes > 1], sizes[sizes > 1]
    pairs = counts[:, :, np.newaxis] * counts[:, np.newaxis, :]
    pairs -= counts[:, :, np.newaxis] * np.eye(len(grades))
    table: Floats = (pairs / (sizes - 1)[:, np.newaxis, np.newaxis]).sum(axis=0)
    return table


def cohen_kappa(table: ArrayLike, *, weights: KappaWeights = "none", values: ArrayLike | None = None) -> Agreement:
    """Cohen's kappa of a confusion table: 1 − observed disagreement / disagreement expected by chance.

    Disagreement is 1 for different grades; with ``linear`` or ``quadratic`` weights it is the distance of the grades,
    or its square. ``values`` are the grades of rows and columns (by default 0, 1, …). Cohen, Educational and
    Psychological Measurement 1960; Psychological Bulletin 1968.
    """
    counts = _square(table)
    name = "Cohen's kappa" if weights == "none" else f"Cohen's kappa, {weights} weights"
    return _agreement(float(kappa_statistic(len(counts), weights, values)(counts)), round(counts.sum()), name)


def krippendorff_alpha(
    ratings: ArrayLike, *, level: AlphaLevel = "ordinal", values: ArrayLike | None = None
) -> Agreement:
    """Krippendorff's alpha of ratings, one row per unit and one column per assessor, NaN where there is no rating.

    1 − observed disagreement / expected disagreement over all pairs of ratings of a unit; assessors may miss units, and
    there may be more than two. Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
    """
    rows = np.atleast_2d(np.asarray(ratings, dtype=np.float64))
    grades = np.unique(rows[~np.isnan(rows)]) if values is None else vector(values, "values")
    table = coincidence_table(rows, grades)
    units = int((np.count_nonzero(~np.isnan(rows), axis=1) > 1).sum())
    return _agreement(float(alpha_statistic(grades, level)(table)), units, f"Krippendorff's alpha, {level}")


def kappa_statistic(size: int, weights: KappaWeights, values: ArrayLike | None = None) -> TableStatistic:
    """Kappa as a function of confusion tables."""
    check_choice("weights", weights, KAPPA_WEIGHTS)
    grades = np.arange(size, dtype=np.float64) if values is None else vector(values, "values")
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    costs = np.abs(grades[:, np.newaxis] - grades) ** power * (1 - np.eye(size))

    def statistic(tables: Floats) -> Floats:
        rows, columns, total = tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-1, -2))
        observed = (tables * costs).sum(axis=(-1, -2))
        expected = ((rows @ costs) * columns).sum(axis=-1)
        return _ratio(observed * total, expected)

    return statistic


def alpha_statistic(values: ArrayLike, level: AlphaLevel) -> TableStatistic:
    """Alpha as a function of coincidence tables."""
    check_choice("level", level, ALPHA_LEVELS)
    grades = vector(values, "values")

    def statistic(tables: Floats) -> Floats:
        margins = tables.sum(axis=-1)
        total = margins.sum(axis=-1)
        costs = _alpha_costs(margins, grades, level)
        observed = (tables * costs).sum(axis=(-1, -2))
        expected = (margins[..., :, np.newaxis] * margins[..., np.newaxis, :] * costs).sum(axis=(-1, -2))
        return _ratio(observed * (total - 1), expected)

    return statistic


def agreement_intervals(
    tables: ArrayLike,
    statistics: Mapping[str, TableStatistic],
    *,
    confidence: float = 0.95,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> dict[str, Interval]:
    """The intervals of statistics of the sum of tables, one table per query, by resampling queries (BCa).

    All statistics are computed from the same resamples.
    """
    parts = np.asarray(tables, dtype=np.float64)
    outside, resamples = tail_probability(confidence, "two-sided"), resampling.count(RESAMPLES)
    queries, shape, total = len(parts), parts.shape[1:], parts.sum(axis=0)
    drawn: dict[str, list[Floats]] = {name: [] for name in statistics}
    if queries > 1:
        columns = np.ascontiguousarray(parts.reshape(queries, -1).T)
        for sums in resampled_sums(columns, resamples, resampling.stream.child("agreement")):
            block = sums.T.reshape(-1, *shape)
            for name, statistic in statistics.items():
                drawn[name].append(statistic(block))
    intervals = {}
    for name, statistic in statistics.items():
        estimate = float(statistic(total))
        ends = _bca(estimate, drawn[name], statistic(total - parts), outside)
        known = None if np.isnan(estimate) else estimate
        intervals[name] = Interval(
            ends.low,
            ends.high,
            confidence,
            "bca",
            queries,
            ends.reason,
            known,
            resamples=resamples,
            seed=resampling.seed,
        )
    return intervals


class _Ends(NamedTuple):
    """Both ends of an interval, or the reason why there are none."""

    low: float | None = None
    high: float | None = None
    reason: str | None = None


def _bca(estimate: float, drawn: Sequence[Floats], left_out: Floats, outside: float) -> _Ends:
    """The ends of a BCa interval."""
    if np.isnan(estimate):
        return _Ends(reason="all grades are the same")
    if not drawn:
        return _Ends(reason="at least 2 queries are needed")
    values = np.concatenate(drawn)
    if np.isnan(values).mean() > _UNDEFINED_SHARE or np.isnan(left_out).any():
        return _Ends(reason="too few queries have different grades")
    values = values[~np.isnan(values)]
    ends = bca_quantiles(values, estimate, left_out, outside, slack=_ROUNDING)
    if ends is None or np.ptp(values) <= _ROUNDING:
        return _Ends(reason="resamples of the queries hardly differ")
    return _Ends(*ends)


def _alpha_costs(margins: Floats, grades: Floats, level: AlphaLevel) -> Floats:
    """The disagreement of each pair of grades; of ordinal grades it depends on how many ratings lie between them."""
    different = 1 - np.eye(len(grades))
    if level == "nominal":
        return different
    if level == "interval":
        return (grades[:, np.newaxis] - grades) ** 2
    # The number of ratings from one grade to another, both counted half.
    middle = np.cumsum(margins, axis=-1) - margins / 2
    return (middle[..., :, np.newaxis] - middle[..., np.newaxis, :]) ** 2 * different


def _ratio(observed: Floats, expected: Floats) -> Floats:
    """1 − observed / expected; NaN if nothing but agreement is expected."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def _square(table: ArrayLike) -> Floats:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise InputError(f"a confusion table must be square and have no negative counts, found shape {counts.shape}")
    return counts


def _agreement(value: float, n: int, method: str) -> Agreement:
    reason = "all grades are the same, so agreement is certain" if np.isnan(value) else None
    return Agreement(None if reason else value, n, method, reason)
