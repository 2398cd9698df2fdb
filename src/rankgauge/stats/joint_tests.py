"""Several mean differences at once: p values and simultaneous intervals from the same bootstrap draws.

Queries (or the units they share) are drawn with replacement, the same ones for every row, which keeps the dependence
between rows. Each row has its own t: (mean of the draw − mean) / standard error of the draw, over the row's own queries
and unit totals. Each side is tested by itself: the smallest t of any row, draw by draw, gives the critical value of
losses, and the largest that of gains. A row is significant if its t exceeds that of its side, and its bound on this
side is as many standard errors from the mean: it excludes 0 exactly if the row is significant. A two-sided test is both
one-sided ones at half the level, and its p is twice the smaller one.

Two corrections make p fall with every further loss. Random signs must not explain the difference either: the p of joint
sign flips counts if it is larger, and then the bound moves to 0. And the test of a row that hardly varies counts in
place of the draws if it is more certain: if nearly all queries lost the same, draws that miss the others have hardly
any spread, and a t that means nothing.

A row in which few queries changed, or all by the same amount, has no usable t, because many draws miss the few queries
that differ. It leaves the draws, with its Bonferroni share of alpha, for an exact test and an interval of its own
(``sparse_rows``). A row in which most queries changed alike is drawn alone, with the same share: its draws without
spread would make every other row uncertain. And because a row must not be less certain than it was before its smallest
changes, it is also tested without them, where the kind of test has changed since.

Westfall and Young, Resampling-Based Multiple Testing, 1993; Romano and Wolf, Exact and approximate stepdown methods for
multiple hypothesis testing, JASA 2005.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.stats.detectable import detectable_difference_of
from rankgauge.stats.distributions import t_quantile, t_tail
from rankgauge.stats.draws import (
    DEFAULT_RESAMPLING,
    RESAMPLES,
    Draws,
    Resampling,
    UnitRow,
    difference_matrix,
    draw,
    unit_rows,
)
from rankgauge.stats.randomization import flipped_sums
from rankgauge.stats.results import Alternative, Interval, check_alternative, check_between
from rankgauge.stats.samples import Floats, Sample, Units, unit_numbers
from rankgauge.stats.sparse_rows import (
    FEWEST_VARYING,
    Range,
    Side,
    adjusted_mean,
    flipped_alone,
    flips_exactly,
    sparse_interval,
    sparse_p,
    toward,
)

DRAWN, SPARSE = "bootstrap max-t", "Bonett–Price"
UNBOUNDED: Range = (-math.inf, math.inf)
MAX_LOOKED_BACK, MAX_MISSES = 40, 3  # units of a row that is compared with those before; how many may be less certain


@dataclass(frozen=True, slots=True)
class JointRow:
    """The result of one column. p and the interval are corrected over all columns, and agree."""

    p: float | None
    interval: Interval
    p_alone: float | None = None  # not corrected
    critical: float | None = None  # in standard errors, the larger of both sides; None if the row left the draws
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
    def sides(self) -> tuple[Side, ...]:
        """The directions that are tested: each closes one end of an interval."""
        return ("less", "greater") if self.alternative == "two-sided" else (self.alternative,)

    @property
    def side_alpha(self) -> float:
        """The error of the whole family on one side."""
        return self.alpha / len(self.sides)

    @property
    def outside(self) -> float:
        """The share of alpha beyond each closed end that a row has if it leaves the draws."""
        return self.side_alpha / self.family

    def p(self, by_side: Mapping[Side, float]) -> float:
        """The p of a row: of its side, or twice the smaller one of both."""
        return min(1.0, len(self.sides) * min(by_side.values()))


def joint_test(
    differences: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
    units: Units | None = None,
    ranges: Sequence[Range] | None = None,
    sensitivity: bool | Sequence[bool] = True,
    resampling: Resampling = DEFAULT_RESAMPLING,
) -> JointResult:
    """Test every column of differences, and give simultaneous intervals of their means.

    One row per query, one column per system and measure; NaN where a query has no difference. ``ranges`` are the
    possible differences of each column, which no interval leaves. ``sensitivity`` is whether detectable differences are
    computed, of all columns or of each.
    """
    check_alternative(alternative)
    check_between("confidence", confidence, 0, 1)
    values = difference_matrix(differences)
    rows = unit_rows(values, units)
    limits = [UNBOUNDED] * len(rows) if ranges is None else list(ranges)
    question = _Question(alternative, confidence, sum(row.sample.units > 1 for row in rows))
    groups = _groups(rows)
    results = {
        index: _sparse(rows[index], limits[index], question, resampling)
        for index in set(range(len(rows))).difference(*groups)
    }
    design = _Design(units, question, resampling)
    for drawn in groups:
        draws, tests = design.draw([rows[index] for index in drawn], [limits[index] for index in drawn])
        for place, index in enumerate(drawn):
            one = _DrawnRow(values[:, index], rows[index], limits[index], is_alone=len(drawn) == 1)
            by_side = {side: design.as_certain_as_before(side, test, one) for side, test in tests[place].items()}
            interval = _interval(rows[index], by_side, question, limits[index])
            detectable = None
            if sensitivity if isinstance(sensitivity, bool) else sensitivity[index]:
                stream = resampling.stream.child("detectable")
                detectable = detectable_difference_of(rows[index], draws, place, by_side, question.outside, stream)
            results[index] = JointRow(
                question.p({side: one.p for side, one in by_side.items()}),
                interval,
                question.p({side: one.p_alone for side, one in by_side.items()}),
                max(one.critical for one in by_side.values()),
                detectable,
            )
    resamples = resampling.count(RESAMPLES)
    return JointResult(
        tuple(results[index] for index in range(len(rows))), question.family, resamples, int(resampling.seed)
    )


def _groups(rows: Sequence[UnitRow]) -> list[list[int]]:
    """The rows that are drawn together: those that vary, and one by one those in which most queries changed alike."""
    changed = [index for index, row in enumerate(rows) if row.varying and row.changed >= FEWEST_VARYING]
    together = [index for index in changed if rows[index].varying >= FEWEST_VARYING]
    alone = [[index] for index in changed if rows[index].varying < FEWEST_VARYING]
    return [together, *alone] if together else alone


@dataclass(frozen=True)
class _SideTest:
    """One row on one side: both p values, and the distance of the bound from the mean."""

    p: float
    p_alone: float
    half: float  # infinite if no bound is known
    critical: float
    error: float


@dataclass(frozen=True)
class _SideTests:
    """All drawn rows on one side, before random signs are tried."""

    rows: tuple[_SideTest, ...]
    means: Floats  # in the direction that is tested
    alpha: float

    def combined(self, place: int, flips: Sequence[tuple[float, float]]) -> _SideTest:
        """One row with the p values of sign flips, corrected and alone, if these are larger.

        If random signs explain the difference, the bound does not exclude 0.
        """
        row, (p, alone) = self.rows[place], flips[place]
        half = max(row.half, float(self.means[place])) if p > self.alpha else row.half
        return replace(row, p=max(row.p, p), p_alone=max(row.p_alone, alone), half=half)


@dataclass(frozen=True)
class _DrawnRow:
    """A row that is drawn, with what it was made of."""

    column: Floats  # the differences of queries
    row: UnitRow
    limit: Range
    is_alone: bool  # whether no other rows are drawn with it


@dataclass(frozen=True)
class _Design:
    """How the queries of all rows are drawn, and what is asked."""

    units: Units | None
    question: _Question
    resampling: Resampling

    def draw(self, rows: Sequence[UnitRow], limits: Sequence[Range]) -> tuple[Draws, list[dict[Side, _SideTest]]]:
        """Draw some rows together, and test each on every side."""
        count, sides = self.resampling.count(RESAMPLES), self.question.sides
        draws = draw(rows, count, self.resampling.stream.child("joint"))
        tests = {side: _side_tests(side, rows, draws, self.question, limits) for side in sides}
        flips = _flips(rows, self.question, self.resampling)
        return draws, [{side: tests[side].combined(place, flips[side]) for side in sides} for place in range(len(rows))]

    def as_certain_as_before(self, side: Side, test: _SideTest, drawn: _DrawnRow) -> _SideTest:
        """A drawn row on one side, with p and bound of the row before its smallest changes if these are more certain.

        The row before is the one with nine changes, which is not drawn. If most units changed alike, so that draws may
        have no spread, it is also each row until that was not so; and the rows just before, if there are few units and
        no other rows in the same draws.
        """
        column, row = drawn.column, drawn.row
        mean = float(toward(side, np.array(row.sample.mean)))
        order, unit = _smallest_first(side, row), unit_numbers(self.units, len(column))
        if mean <= 0 or row.changed - len(order) >= FEWEST_VARYING:
            return test
        nine = row.changed - FEWEST_VARYING + 1
        is_alike, misses = row.varying < FEWEST_VARYING, 0
        for count in range(1, nine + 1):
            is_small = drawn.is_alone and row.sample.units <= MAX_LOOKED_BACK
            looks_back = is_alike or (is_small and misses < MAX_MISSES)
            if not looks_back and count < nine:
                continue
            before = np.where(np.isin(unit, order[:count]) & ~np.isnan(column), 0.0, column)
            (earlier,) = unit_rows(before[:, np.newaxis], self.units)
            is_alike = earlier.varying < FEWEST_VARYING
            if count == nine:
                found = _sparse_side(side, earlier.sample, drawn.limit, self.question, self.resampling)
            else:
                found = self.draw([earlier], [drawn.limit])[1][0][side]
            misses = misses + 1 if found.p > test.p else 0
            half = found.half + mean - float(toward(side, np.array(earlier.sample.mean)))
            test = replace(
                test,
                p=min(test.p, found.p),
                p_alone=min(test.p_alone, found.p_alone),
                half=min(test.half, half),
                critical=min(test.critical, half / test.error),
            )
        return test


def _smallest_first(side: Side, row: UnitRow) -> list[int]:
    """The units that changed in the direction that is tested, the smallest change first."""
    sizes = np.where(row.sizes > 0, row.sizes, 1.0)
    changes = toward(side, np.rint(row.totals / sizes))
    return [int(unit) for unit in np.argsort(changes, kind="stable") if changes[unit] > 0]


def _side_tests(
    side: Side, rows: Sequence[UnitRow], draws: Draws, question: _Question, limits: Sequence[Range]
) -> _SideTests:
    """The rows on one side by their draws, or as rows that hardly vary if that is more certain."""
    t = toward(side, draws.t)
    largest, count = np.sort(t.max(axis=0)), t.shape[1]
    # Rows outside of the draws keep their share of alpha.
    allowed = math.floor(question.side_alpha * len(rows) / question.family * (count + 1) + 1e-9)
    critical = float(largest[-allowed]) if allowed else math.inf
    errors = [row.sample.standard_error for row in rows]
    own = toward(side, np.array([row.sample.mean / error for row, error in zip(rows, errors, strict=True)]))
    # A t that equals the critical value but for rounding must not exceed it here and fall short of it in the interval.
    critical = max([critical, *(value for value in own.tolist() if math.isclose(value, critical, rel_tol=1e-9))])
    reached = count - np.searchsorted(largest, own * (1 - 1e-9), side="left")
    reached_alone = np.count_nonzero(t >= own[:, np.newaxis] * (1 - 1e-9), axis=1)
    tests = []
    for place, (row, error) in enumerate(zip(rows, errors, strict=True)):
        # One division of whole numbers: a p of exactly alpha must not be rounded to more than alpha.
        p = min(1.0, (int(reached[place]) + 1) * question.family / ((count + 1) * len(rows)))
        test = _SideTest(p, (int(reached_alone[place]) + 1) / (count + 1), critical * error, critical, error)
        varies = row.varying >= FEWEST_VARYING
        if own[place] > 0 or not varies:
            widest = max(map(abs, limits[place]))
            test = _at_least_sparse(side, row.sample, test, question, widest, all_of_range=varies)
        tests.append(test)
    means = toward(side, np.array([row.sample.mean for row in rows]))
    return _SideTests(tuple(tests), means, question.side_alpha)


def _at_least_sparse(
    side: Side,
    data: Sample,
    test: _SideTest,
    question: _Question,
    widest: float,
    *,
    all_of_range: bool,
) -> _SideTest:
    """A row on one side, with p and bound of a row that hardly varies if these are more certain.

    If changes are not all in one direction, the queries that are added have the ends of the range if asked for.
    """
    all_of_range = all_of_range and float(toward(side, data.totals).min()) < 0
    if all_of_range and math.isinf(widest):
        return test
    mean, error = adjusted_mean(data, widest, all_of_range=all_of_range)
    p = t_tail(mean / error, data.units - 1, side)
    half = t_quantile(1 - question.outside, data.units - 1) * error + float(toward(side, np.array(data.mean - mean)))
    half = min(test.half, half)
    return replace(
        test,
        p=min(test.p, p * question.family),
        p_alone=min(test.p_alone, p),
        half=half,
        critical=half / test.error,
    )


def _flips(
    rows: Sequence[UnitRow], question: _Question, resampling: Resampling
) -> dict[Side, list[tuple[float, float]]]:
    """The p of each row on each side by sign flips of whole units: corrected over all rows, and alone.

    Σd² does not change with the signs, so S / sqrt(Σd²) orders the patterns of signs as t does. A single row of few
    changes is flipped in all ways.
    """
    if len(rows) == 1 and flips_exactly(rows[0].sample):
        exact = {side: flipped_alone(rows[0].sample, side) for side in question.sides}
        return {side: [(min(1.0, p * question.family), p)] for side, p in exact.items()}
    totals = np.column_stack([row.totals for row in rows])
    spread = np.sqrt(np.square(totals).sum(axis=0))
    parts = totals[totals.any(axis=1)] / spread
    own, slack = (np.array([getattr(row.sample, name) for row in rows]) / spread for name in ("total", "slack"))
    count = resampling.count(RESAMPLES)
    sums = np.hstack([*flipped_sums(parts, count, resampling.stream.child("joint"))])
    out: dict[Side, list[tuple[float, float]]] = {}
    for side in question.sides:
        turned, bounds = toward(side, sums), toward(side, own) - slack - 1e-9
        largest = np.sort(turned.max(axis=0))
        reached = count - np.searchsorted(largest, bounds, side="left")
        alone = np.count_nonzero(turned >= bounds[:, np.newaxis], axis=1)
        out[side] = [
            (min(1.0, (int(joint) + 1) * question.family / ((count + 1) * len(rows))), (int(single) + 1) / (count + 1))
            for joint, single in zip(reached, alone, strict=True)
        ]
    return out


def _interval(row: UnitRow, by_side: Mapping[Side, _SideTest], question: _Question, limit: Range) -> Interval:
    data = row.sample
    ends: dict[Side, float] = {"less": math.inf, "greater": -math.inf}  # upper, lower
    for side, test in by_side.items():
        half = test.half
        if math.isclose(half, abs(data.mean), rel_tol=1e-12):  # t equals the critical value: the interval ends at 0
            half = abs(data.mean)
        ends[side] = data.mean + half if side == "less" else data.mean - half
    interval = Interval(
        ends["greater"],
        ends["less"],
        question.confidence,
        DRAWN,
        len(data),
        estimate=data.mean,
        alternative=question.alternative,
        units=data.shared,
    )
    return _within(interval, limit)


def _sparse(row: UnitRow, limit: Range, question: _Question, resampling: Resampling) -> JointRow:
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
    p_sides = {side: sparse_p(data, side, widest, resampling) for side in question.sides}
    ends = sparse_interval(data, alternative, question.outside, widest)
    needed = math.ceil(-math.log2(question.outside) - 1e-9)
    p = question.p(p_sides)
    p_corrected = min(1.0, p * question.family)
    if ends is None:
        reason = "no query differs, and the range of the measure is unknown"
        return JointRow(p_corrected, replace(interval, reason=reason), p, changes_needed=needed)
    low, high = ends
    if p_corrected > question.alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    return JointRow(p_corrected, _within(replace(interval, low=low, high=high), limit), p, changes_needed=needed)


def _sparse_side(side: Side, data: Sample, limit: Range, question: _Question, resampling: Resampling) -> _SideTest:
    """A row outside of the draws on one side."""
    widest = max(map(abs, limit))
    p = sparse_p(data, side, widest, resampling)
    mean, error = adjusted_mean(data, widest)
    half = t_quantile(1 - question.outside, data.units - 1) * error + float(toward(side, np.array(data.mean - mean)))
    corrected = min(1.0, p * question.family)
    if corrected > question.side_alpha:
        half = max(half, float(toward(side, np.array(data.mean))))
    return _SideTest(corrected, p, half, half / error, error)


def _within(interval: Interval, limit: Range) -> Interval:
    """The interval without what lies outside of a range."""
    low, high = interval.low, interval.high
    if low is None or high is None:
        return interval
    return replace(interval, low=max(low, limit[0]), high=min(high, limit[1]))
