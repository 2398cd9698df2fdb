"""Several mean differences at once: p values and simultaneous intervals from the same bootstrap draws.

Queries (or the units they share) are drawn with replacement, the same ones for every row, which keeps the dependence
between rows. Each row has its own t: (mean of the draw − mean) / standard error of the draw, over the row's own queries
and unit totals. The largest t of any row, draw by draw, gives one critical value c. A row is significant if its t
exceeds c, and its interval is mean ± c · standard error: it excludes 0 exactly if the row is significant.

A row that hardly varies has no usable t, because many draws miss the few queries that differ. It leaves the draws, with
its Bonferroni share of alpha, for an exact test and an interval of its own, below. So is the smallest difference that
a new sample would show.

If the second system is the mean of several runs that differ as a whole (see ``noise``), a wider error takes the
place of the standard error in t and in the interval, which agree as before.

Westfall and Young, Resampling-Based Multiple Testing, 1993; Romano and Wolf, Exact and approximate stepdown methods for
multiple hypothesis testing, JASA 2005.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.errors import InputError
from rankgauge.stats.distributions import special, t_quantile, t_tail
from rankgauge.stats.draws import (
    DEFAULT_RESAMPLING,
    RESAMPLES,
    Draws,
    RandomStream,
    Resampling,
    UnitRow,
    difference_matrix,
    draw,
    unit_rows,
)
from rankgauge.stats.noise import RunNoise
from rankgauge.stats.randomization import flip_test
from rankgauge.stats.results import Alternative, Interval, check_alternative, check_between
from rankgauge.stats.samples import Floats, Ints, Sample, Units, unit_numbers

DRAWN, SPARSE = "bootstrap max-t", "Bonett–Price"
Range = tuple[float, float]
UNBOUNDED: Range = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class JointRow:
    """The result of one column. p and the interval are corrected over all columns, and agree."""

    p: float | None
    interval: Interval
    p_alone: float | None = None  # not corrected
    critical: float | None = None  # in standard errors; None if the row left the draws
    detectable: float | None = None  # the true difference that a new sample would show with 80% power
    changes_needed: int | None = None  # one-way changes that would be significant, if the row left the draws


@dataclass(frozen=True, slots=True)
class JointResult:
    """The results of all columns, and how they were obtained."""

    rows: tuple[JointRow, ...]
    family: int  # the number of columns that have a p
    resamples: int
    seed: int


@dataclass(frozen=True)
class _Question:
    """What is asked of every row."""

    alternative: Alternative
    confidence: float
    family: int

    @property
    def alpha(self) -> float:
        """The error of the whole family."""
        return round(1 - self.confidence, 12)

    @property
    def sides(self) -> int:
        """The number of closed ends of an interval."""
        return 2 if self.alternative == "two-sided" else 1

    @property
    def outside(self) -> float:
        """The share of alpha beyond each closed end that a row has if it leaves the draws."""
        return self.alpha / self.family / self.sides

    def extremes(self, t: Floats) -> Floats:
        """How far each t lies in the direction that is tested."""
        return np.abs(t) if self.alternative == "two-sided" else t * (-1.0 if self.alternative == "less" else 1.0)


def joint_test(
    differences: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
    units: Units | None = None,
    weights: ArrayLike | None = None,
    ranges: Sequence[Range] | None = None,
    strata: Units | None = None,
    noise: Sequence[RunNoise | None] | None = None,
    sensitivity: bool = True,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> JointResult:
    """Test every column of differences, and give simultaneous intervals of their means.

    One row per query, one column per system and measure; NaN where a query has no difference. With ``weights``, one
    for each query, the means are weighted. ``ranges`` are the possible differences of each column, which no interval
    leaves. ``strata`` are groups of queries of which each draw has as many as there are; a unit must not belong to
    several. ``noise`` is that of whole runs, for each column in which it is known. ``sensitivity`` is whether
    detectable differences are computed.
    """
    check_alternative(alternative)
    check_between("confidence", confidence, 0, 1)
    values = difference_matrix(differences)
    rows = unit_rows(values, units, weights)
    limits = [UNBOUNDED] * len(rows) if ranges is None else list(ranges)
    noises = [None] * len(rows) if noise is None else list(noise)
    question = _Question(alternative, confidence, sum(row.sample.units > 1 for row in rows))
    drawn = [index for index, row in enumerate(rows) if row.varying >= FEWEST_VARYING]
    results = {
        index: _sparse(row, limits[index], question, resampling, noises[index])
        for index, row in enumerate(rows)
        if row.varying < FEWEST_VARYING
    }
    resamples = resampling.count(RESAMPLES)
    if drawn:
        drawn_rows = [rows[index] for index in drawn]
        draws = draw(drawn_rows, resamples, resampling.stream.child("joint"), _unit_strata(strata, units, len(values)))
        critical = _critical(draws, question)
        errors = [
            _error(row, draws, place, critical, question, noises[index])
            for place, (index, row) in enumerate(zip(drawn, drawn_rows, strict=True))
        ]
        own = question.extremes(
            np.array([row.sample.mean / error for row, error in zip(drawn_rows, errors, strict=True)])
        )
        critical, p_values = _p_values(draws, own, critical, question)
        alone = _p_alone(draws, own, question)
        for place, index in enumerate(drawn):
            row, error = rows[index], errors[place]
            stream = resampling.stream.child("detectable")
            detectable = (
                detectable_difference_of(row, draws, place, critical, question.outside, alternative, stream)
                if sensitivity
                else None
            )
            if detectable is not None:
                detectable *= error / row.sample.standard_error
            interval = _interval(row, critical * error, question, limits[index])
            results[index] = JointRow(p_values[place], interval, alone[place], critical, detectable)
    return JointResult(
        tuple(results[index] for index in range(len(rows))), question.family, resamples, int(resampling.seed)
    )


def _unit_strata(strata: Units | None, units: Units | None, queries: int) -> Ints | None:
    """The stratum of each unit."""
    if strata is None:
        return None
    stratum, unit = unit_numbers(strata, queries), unit_numbers(units, queries)
    if len({*zip(stratum.tolist(), unit.tolist(), strict=True)}) > int(unit.max(initial=-1)) + 1:
        raise InputError("queries of one unit belong to several strata")
    return stratum[np.unique(unit, return_index=True)[1]]


def _critical(draws: Draws, question: _Question) -> float:
    """The critical value of t; rows outside of the draws keep their share of alpha."""
    rows, count = draws.t.shape
    allowed = math.floor(question.alpha * rows / question.family * (count + 1) + 1e-9)
    return float(np.sort(question.extremes(draws.t).max(axis=0))[-allowed]) if allowed else math.inf


def _error(
    row: UnitRow, draws: Draws, place: int, critical: float, question: _Question, noise: RunNoise | None
) -> float:
    """The standard error of a row, or a wider one that has the noise of whole runs too."""
    if noise is None:
        return row.sample.standard_error
    beyond = float(np.mean(question.extremes(draws.t[place]) >= critical))
    outside = max(beyond, question.alpha / question.family) / question.sides
    return noise.widened(row.sample.standard_error, row.sample.units, outside)


def _p_values(draws: Draws, own: Floats, critical: float, question: _Question) -> tuple[float, list[float]]:
    """The p of each row, and the critical value that agrees with them."""
    largest = np.sort(question.extremes(draws.t).max(axis=0))
    # A t that equals the critical value but for rounding must not exceed it here and fall short of it in the interval.
    critical = max([critical, *(t for t in own.tolist() if math.isclose(t, critical, rel_tol=1e-9))])
    reached = len(largest) - np.searchsorted(largest, own * (1 - 1e-9), side="left")
    # One division of whole numbers: a p of exactly alpha must not be rounded to more than alpha.
    p = (reached + 1) * question.family / ((len(largest) + 1) * len(own))
    return critical, np.minimum(p, 1.0).tolist()


def _p_alone(draws: Draws, own: Floats, question: _Question) -> list[float]:
    """The p of each row by its own draws."""
    reached = np.count_nonzero(question.extremes(draws.t) >= own[:, np.newaxis] * (1 - 1e-9), axis=1)
    return [(int(count) + 1) / (draws.t.shape[1] + 1) for count in reached]


def _interval(row: UnitRow, half: float, question: _Question, limit: Range) -> Interval:
    data = row.sample
    if math.isclose(half, abs(data.mean), rel_tol=1e-12):  # t equals the critical value: the interval ends at 0
        half = abs(data.mean)
    interval = Interval(
        -math.inf if question.alternative == "less" else data.mean - half,
        math.inf if question.alternative == "greater" else data.mean + half,
        question.confidence,
        DRAWN,
        len(data),
        estimate=data.mean,
        alternative=question.alternative,
        units=data.shared,
    )
    return _within(interval, limit)


def _sparse(
    row: UnitRow, limit: Range, question: _Question, resampling: Resampling, noise: RunNoise | None
) -> JointRow:
    """A row outside of the draws: its interval is extended to 0 if its test is not significant."""
    data, alternative = row.sample, question.alternative
    n = len(data)
    interval = Interval(
        None, None, question.confidence, SPARSE, n, None, data.mean if n else None, alternative, data.shared
    )
    if data.units < 2:
        noun = "query" if data.shared is None else "unit"
        return JointRow(None, replace(interval, reason=f"at least 2 are needed, found {data.units} {noun}"))
    widest = max(map(abs, limit))
    p = sparse_p(data, alternative, widest, resampling)
    ends = sparse_interval(data, alternative, question.outside, widest)
    needed = math.ceil(-math.log2(question.outside) - 1e-9)
    if noise is not None and noise.between:
        p, outer = max(p, noise.p(data, alternative)), noise.ends(data, alternative, question.outside)
        ends = outer if ends is None else (min(ends[0], outer[0]), max(ends[1], outer[1]))
    p_corrected = min(1.0, p * question.family)
    if ends is None:
        reason = "no query differs, and the range of the measure is unknown"
        return JointRow(p_corrected, replace(interval, reason=reason), p, changes_needed=needed)
    low, high = ends
    if p_corrected > question.alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    return JointRow(p_corrected, _within(replace(interval, low=low, high=high), limit), p, changes_needed=needed)


def _within(interval: Interval, limit: Range) -> Interval:
    """The interval without what lies outside of a range."""
    low, high = interval.low, interval.high
    if low is None or high is None:
        return interval
    return replace(interval, low=max(low, limit[0]), high=min(high, limit[1]))


# Rows of differences of which only a few differ from the rest: an exact test, and an interval of positive width.
#
# The interval is Bonett and Price's adjusted Wald interval of a paired difference of proportions: one query of +1 and
# one of −1 are added before the mean and its error are computed. Here they are as large as the largest difference,
# which covers graded measures and equal differences too, or as the possible range if nothing changed at all. If units
# differ in size, the difference counts as in a unit of typical size, because the next change may be in a larger one.
# Student's t takes the place of the normal distribution, which covers too little if a change is seen only once.
# Bonett and Price, Adjusted Wald confidence interval for a difference of binomial proportions based on paired data,
# Journal of Educational and Behavioral Statistics 2012.

FEWEST_VARYING = 10  # units that differ from the most common value; with fewer, a row leaves the draws


def adjusted_mean(data: Sample, widest: float) -> tuple[float, float]:
    """The mean of the units' differences and its standard error, after adding one at each end."""
    values = data.contributions
    largest = float(np.abs(data.totals / data.sizes).max()) / data.scale or widest
    typical = math.sqrt(data.units / data.effective_units)  # the root mean square of the sizes, relative to their mean
    end = max(float(np.abs(values).max()), largest * typical)
    n = data.units + 2
    mean = float(values.sum()) / n
    variance = (float(np.square(values).sum()) + 2 * end * end) / n - mean * mean
    return mean, math.sqrt(variance / n)


def sparse_interval(
    data: Sample, alternative: Alternative, outside: float, widest: float
) -> tuple[float, float] | None:
    """Both ends, with the probability ``outside`` beyond each; None if the range is unknown and nothing differs."""
    mean, error = adjusted_mean(data, widest)
    if math.isinf(error):
        return None
    half = t_quantile(1 - outside, data.units - 1) * error
    low = -math.inf if alternative == "less" else mean - half
    return low, math.inf if alternative == "greater" else mean + half


def sparse_p(data: Sample, alternative: Alternative, widest: float, resampling: Resampling) -> float:
    """The larger of the p of sign flips and the p that belongs to the interval."""
    if not data.whole.any():
        return 1.0
    mean, error = adjusted_mean(data, widest)
    exact = flip_test(data, alternative, resampling).p
    return max(1.0 if exact is None else exact, t_tail(mean / error, data.units - 1, alternative))


def one_way_significant(
    total: Floats, squares: Floats, largest: Floats, units: int, outside: float
) -> NDArray[np.bool_]:
    """Whether 1, 2, 3 … changes in the same direction (columns) are significant, as ``sparse_p`` defines it.

    Given are their total, the sum of their squares and the largest. Random signs make k changes all positive with the
    probability 2⁻ᵏ.
    """
    n, count = units + 2, np.arange(1, total.shape[1] + 1)
    mean = total / n
    error = np.sqrt(((squares + 2 * np.square(largest)) / n - np.square(mean)) / n)
    significant: NDArray[np.bool_] = (mean >= t_quantile(1 - outside, units - 1) * error) & (0.5**count <= outside)
    return significant


# The smallest true difference that a new sample like this one would find significant, with a stated power.
#
# The observed difference is removed first: this is about the next comparison, not about the one at hand. A true
# difference is imposed in two ways, and the larger answer counts. As a shift, every query changes by the same amount.
# As sparse changes, a share of the queries changes one way by amounts like those observed and the others not at all:
# few queries carry the whole difference, and fewer than ten are tested as a sparse row.

POWER = 0.8
_MOST_SAMPLES, _FEWEST_SAMPLES, _DRAWN_SIZES = 200, 20, 1 << 18  # of sparse changes
_STEPS = 40


def detectable_shift(shift: Floats, error: Floats, critical: float, alternative: Alternative, power: float) -> float:
    """The shift that is significant in a share ``power`` of the draws."""
    upward = np.quantile(critical * error - shift, power)
    downward = np.quantile(critical * error + shift, power)
    return float({"greater": upward, "less": downward, "two-sided": max(upward, downward)}[alternative])


def detectable_changes(
    row: UnitRow, critical: float, outside: float, power: float, stream: RandomStream
) -> float | None:
    """The mean difference of one-way changes, of the observed sizes, that is significant with the stated power.

    ``outside`` is the probability beyond one end that a sparse row is tested with.
    """
    data = row.sample
    sizes = np.abs(data.contributions[data.totals != 0])
    power_of = _power_by_count(sizes, data.units, critical, outside, stream)
    low, high = 0.0, 1.0
    if _power(high, power_of) < power:
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, power_of) >= power else (middle, high)
    return high * float(sizes.mean())


def _power_by_count(sizes: Floats, units: int, critical: float, outside: float, stream: RandomStream) -> Floats:
    """How often 0, 1, 2 … one-way changes among the units are significant."""
    samples = max(_FEWEST_SAMPLES, min(_MOST_SAMPLES, _DRAWN_SIZES // units))
    drawn = sizes[stream.child("changes").bits().below(len(sizes), samples, units + units % 2)[:, :units]]
    total, squares = np.cumsum(drawn, axis=1), np.cumsum(np.square(drawn), axis=1)
    scatter = np.maximum(squares - np.square(total) / units, 0.0)
    significant = total > critical * np.sqrt(units / (units - 1) * scatter)
    few = slice(min(FEWEST_VARYING - 1, units))
    largest = np.maximum.accumulate(drawn[:, few], axis=1)
    significant[:, few] = one_way_significant(total[:, few], squares[:, few], largest, units, outside)
    return np.concatenate([[0.0], significant.mean(axis=0)])


def _power(share: float, power_of: Floats) -> float:
    """The power if each unit changes with a probability."""
    units = len(power_of) - 1
    middle, reach = units * share, 8 * math.sqrt(units * share * (1 - share)) + 8
    counts = np.arange(max(0, math.floor(middle - reach)), min(units, math.ceil(middle + reach)) + 1)
    at_most = np.asarray(special().bdtr(counts.astype(np.float64), units, share))
    exactly = at_most.copy()
    exactly[1:] -= at_most[:-1]
    return float(exactly @ power_of[counts])


def detectable_difference_of(
    row: UnitRow,
    draws: Draws,
    index: int,
    critical: float,
    outside: float,
    alternative: Alternative,
    stream: RandomStream,
) -> float | None:
    """The larger of the two answers; None if no difference would be significant."""
    if not np.isfinite(critical):
        return None
    shift = detectable_shift(draws.shift[index], draws.error[index], critical, alternative, POWER)
    changes = detectable_changes(row, critical, outside, POWER, stream)
    return shift if changes is None else max(shift, changes)
