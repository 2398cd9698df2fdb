"""Did any measure drop significantly and by at least the margin? Values in, one decision per measure out.

A drop fails if it is significant and at least the margin. Significant means: one-sided unless asked otherwise, and
corrected over all gated measures together, so that at most a share alpha of the builds in which nothing changed fail,
however many measures are gated. Measures for which lower is better are corrected by themselves, with an alpha of their
own: guarding against leaks or false answers costs recall no power. What does not fail is either shown to be no worse
than the margin, over all measures of its family too, or it is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.differences import answer_classes, shared_queries
from rankgauge.comparison.gate.baseline import Baseline, aligned_scores, query_sample
from rankgauge.comparison.gate.requirements import ROUNDING, Rule
from rankgauge.comparison.significance import PairedColumns, TestedDifference, difference_range, family_tests
from rankgauge.comparison.statistics_options import is_significant
from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import given, number, percent, plural
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.measure import Measure
from rankgauge.stats.distributions import t_quantile
from rankgauge.stats.joint_tests import POWER
from rankgauge.stats.noise import RunNoise, family_noise
from rankgauge.stats.results import Interval
from rankgauge.stats.samples import Sample, sample

GateOutcome = Literal["worse", "no worse", "inconclusive", "unchanged"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome for one measure. Differences are now − before, positive if it got better."""

    outcome: GateOutcome
    difference: float
    interval: Interval  # both one-sided bounds, or the interval of a two-sided test; over all gated measures
    p: float | None  # of the drop, corrected over all gated measures
    smallest_drop: float | None  # the true drop that would fail with 80% power; None if it is unknown
    changes_needed: int | None  # queries that would have to get worse, if few changed
    caveat: str | None  # what the test cannot see, if the drop is significant
    queries_needed: int | None  # to show that nothing got worse by the margin, if these queries cannot
    n: int
    units: int  # the number of independent ones


def decide(
    columns: PairedColumns, rule: Rule | None = None, families: Sequence[object] | None = None
) -> tuple[Decision, ...]:
    """One decision per column of this run's and the baseline's values, turned so that higher is better.

    ``families`` has a label for each column: those with the same label are corrected together; without it, all are.
    """
    rule = rule or Rule()
    if families is not None and len(set(families)) > 1:
        decisions: dict[int, Decision] = {}
        for label in dict.fromkeys(families):
            members = [index for index, other in enumerate(families) if other == label]
            decisions |= zip(members, decide(columns.only(members), rule), strict=True)
        return tuple(decisions[index] for index in range(len(families)))
    statistics = rule.statistics
    if rule.two_sided:
        tests = family_tests(columns, statistics)
        return tuple(_decision(columns, index, rule, test, None) for index, test in enumerate(tests))
    falling, rising = (replace(statistics, alternative=side) for side in ("less", "greater"))
    drops, rises = family_tests(columns, falling), family_tests(columns, rising)
    return tuple(
        _decision(columns, index, rule, drop, rise) for index, (drop, rise) in enumerate(zip(drops, rises, strict=True))
    )


def _decision(
    columns: PairedColumns, index: int, rule: Rule, drop: TestedDifference, rise: TestedDifference | None
) -> Decision:
    """The decision on one column; ``rise`` is the test in the other direction, if they are one-sided."""
    system, baseline, units = columns.at(index)
    values, noise = sample(system - baseline, units), columns.noise_at(index)
    interval = drop.interval if rise is None else _bounds(drop.interval, rise.interval)
    return Decision(
        outcome=_outcome(values, rule, drop.p_corrected, interval),
        difference=values.mean if len(values) else 0.0,
        interval=interval,
        p=drop.p_corrected,
        smallest_drop=None if drop.detectable is None else max(drop.detectable, _drop_past_margin(values, rule, noise)),
        changes_needed=drop.changes_needed,
        caveat=drop.caveat,
        queries_needed=_queries_needed(values, rule, rise, interval, noise),
        n=len(values),
        units=values.units,
    )


def _bounds(upper: Interval, lower: Interval) -> Interval:
    """The upper bound of one test and the lower bound of the other."""
    return replace(upper, low=lower.low, alternative="two-sided", method=f"one-sided {upper.method}")


def _outcome(values: Sample, rule: Rule, p: float | None, interval: Interval) -> GateOutcome:
    if not len(values):
        return "inconclusive"
    if not values.whole.any():
        return "unchanged"
    drop = -values.mean
    if is_significant(p, rule.alpha) and drop > 0 and drop >= rule.margin - ROUNDING:
        return "worse"
    return "no worse" if interval.low is not None and interval.low > -rule.margin else "inconclusive"


def _queries_needed(
    values: Sample, rule: Rule, rise: TestedDifference | None, interval: Interval, noise: RunNoise | None
) -> int | None:
    """The number of queries that would show no drop of the margin, with 80% power, if there is none.

    If few queries changed, the distance of the lower bound counts instead of a detectable difference. None if the noise
    of whole runs alone, which queries do not average out, is too large.
    """
    if rise is None or not rule.margin or interval.low is None or not values.whole.any():
        return None
    reach = values.mean - interval.low if rise.detectable is None else rise.detectable
    ratio = (reach / rule.margin) ** 2
    fixed = 0.0 if noise is None else noise.added / noise.error(values.standard_error) ** 2
    if reach <= rule.margin or ratio * fixed >= 1:
        return None
    return math.ceil(len(values) * ratio * (1 - fixed) / (1 - ratio * fixed))


def _drop_past_margin(values: Sample, rule: Rule, noise: RunNoise | None) -> float:
    """The true drop whose measured value is at least the margin with 80% power."""
    if not rule.margin:
        return 0.0
    error, degrees = values.standard_error, values.units - 1.0
    if noise is not None:
        error, degrees = noise.error(error), noise.degrees(error, values.units)
    return rule.margin + t_quantile(POWER, degrees) * error


@dataclass(frozen=True, slots=True)
class ComparedMeasure:
    """A measure before and now, over the queries that both sides have."""

    measure: str
    before: float
    now: float
    interval: Interval  # of the change
    lower_is_better: bool
    decision: Decision
    noise: RunNoise | None = None  # of the baseline's runs; None if they are too few to know

    @property
    def change(self) -> float:
        """Now − before, on the measure's own scale."""
        return self.now - self.before

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        decision = self.decision
        return {
            "measure": self.measure,
            "outcome": decision.outcome,
            "before": self.before,
            "now": self.now,
            "change": self.change,
            "interval": [self.interval.low, self.interval.high],
            "p": decision.p,
            "smallest_drop": decision.smallest_drop,
            "changes_needed": decision.changes_needed,
            "run_noise": None if self.noise is None else self.noise.deviation,
            "n": decision.n,
            "units": decision.units,
        }


# A run and a baseline over the queries that both have, and what this number of queries cannot show.


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """The queries that have values on both sides, and these values: queries × gated measures."""

    measures: tuple[Measure, ...]
    queries: list[str]
    before: Floats
    now: Floats
    units: np.ndarray[Any, Any] | None
    noise: tuple[RunNoise | None, ...] = ()  # of whole runs, by measure
    classes: np.ndarray[Any, Any] | None = None  # which queries expect nothing, if some do

    @property
    def turned(self) -> PairedColumns:
        """Both values, with the sign turned if lower is better: a positive difference is better."""
        signs = np.array([float(measure.definition.direction) for measure in self.measures])
        ranges = tuple(map(difference_range, self.measures))  # which are symmetric
        return PairedColumns(signs * self.now, signs * self.before, ranges, self.units, self.classes, self.noise)

    @property
    def families(self) -> list[bool]:
        """Which measures are corrected together: whether lower is better."""
        return [measure.definition.direction < 0 for measure in self.measures]

    def decide(self, rule: Rule, queries: NDArray[np.bool_] | None = None) -> tuple[Decision, ...]:
        """One decision per measure, over all of these queries or some of them."""
        turned = self.turned if queries is None else self.turned.select(queries)
        return decide(turned, rule, self.families)

    @property
    def improvement(self) -> Floats:
        """Now − before, positive if it got better."""
        return self.turned.differences


def paired_measures(scores: Scores, stored: Baseline, gated: int) -> list[int]:
    """Which of the first measures of the scores have a value of some query on both sides."""
    current = _first_measures(scores, range(gated))
    baseline = aligned_scores(stored, current)
    return [column for column in range(gated) if shared_queries(current, baseline, [column]).any()]


def _first_measures(scores: Scores, columns: Sequence[int]) -> Scores:
    return replace(
        scores,
        measures=tuple(scores.measures[column] for column in columns),
        values=scores.values[:, list(columns)],
        requested=tuple(scores.requested[column] for column in columns),
    )


def pair_queries(scores: Scores, stored: Baseline, columns: Sequence[int]) -> PairedQueries:
    """Some measures of the scores beside those of the baseline; NaN where a query lacks a value on either side."""
    current = _first_measures(scores, columns)
    baseline = aligned_scores(stored, current)
    is_shared = np.column_stack([shared_queries(current, baseline, [column]) for column in range(len(columns))])
    rows = np.flatnonzero(is_shared.any(axis=1))
    if not len(rows):
        raise InputError(
            f"no query has values both in {shown(scores.run)} and in the baseline {shown(stored.run)}",
            hint="both must be made with the same queries",
        )
    units = scores.columns.get("unit")
    queries = [scores.queries[row] for row in rows.tolist()]
    query_units = None if units is None else np.asarray(units)[rows]
    before, now = (np.where(is_shared, side.values, np.nan)[rows] for side in (baseline, current))
    noises = []
    for column, measure in enumerate(current.measures):
        has_value = is_shared[rows, column]
        own = [query for query, is_own in zip(queries, has_value, strict=True) if is_own]
        noises.append(stored.run_noise(measure.name, own, None if query_units is None else query_units[has_value]))
    classes = answer_classes(scores)
    own_classes = None if classes is None else np.asarray(classes)[rows]
    return PairedQueries(current.measures, queries, before, now, query_units, family_noise(noises), own_classes)


def joint_columns(several: Sequence[PairedQueries]) -> PairedColumns:
    """The columns of one run beside several baselines, over all of their queries; NaN if a query is not in one."""
    turned = [pairs.turned for pairs in several]
    every = dict.fromkeys(query for pairs in several for query in pairs.queries)
    row_of = {query: row for row, query in enumerate(every)}
    rows = [[row_of[query] for query in pairs.queries] for pairs in several]
    system, baseline = (
        np.full((len(row_of), sum(len(columns.ranges) for columns in turned)), np.nan) for _ in range(2)
    )
    units: np.ndarray[Any, Any] | None = None
    if any(columns.units is not None for columns in turned):
        units = np.full(len(row_of), None, dtype=object)
    place = 0
    for columns, own in zip(turned, rows, strict=True):
        where = np.ix_(own, range(place, place + len(columns.ranges)))
        system[where], baseline[where] = columns.system, columns.baseline
        if units is not None and columns.units is not None:
            units[own] = columns.units
        place += len(columns.ranges)
    ranges = tuple(limits for columns in turned for limits in columns.ranges)
    return PairedColumns(
        system, baseline, ranges, units, noise=tuple(noise for columns in turned for noise in columns.noise)
    )


def compare_measures(several: Sequence[PairedQueries], rule: Rule) -> list[tuple[ComparedMeasure, ...]]:
    """One row per gated measure and baseline; all of a family are tested together."""
    columns = several[0].turned if len(several) == 1 else joint_columns(several)
    decisions = decide(columns, rule, [family for pairs in several for family in pairs.families])
    count = len(several[0].measures)
    return [_rows(pairs, decisions[count * place : count * (place + 1)]) for place, pairs in enumerate(several)]


def _rows(pairs: PairedQueries, decisions: Sequence[Decision]) -> tuple[ComparedMeasure, ...]:
    rows = []
    for column, (measure, decision) in enumerate(zip(pairs.measures, decisions, strict=True)):
        has_value = ~np.isnan(pairs.now[:, column])
        before, now = pairs.before[has_value, column], pairs.now[has_value, column]
        rows.append(
            ComparedMeasure(
                measure=measure.name,
                before=aggregate(before, "mean") or 0.0,
                now=aggregate(now, "mean") or 0.0,
                interval=_on_own_scale(decision.interval, measure),
                lower_is_better=measure.definition.direction < 0,
                decision=decision,
                noise=pairs.noise[column],
            )
        )
    return tuple(rows)


def _on_own_scale(interval: Interval, measure: Measure) -> Interval:
    """The interval of an improvement as one of the change of the measure itself."""
    if measure.definition.direction > 0 or interval.low is None or interval.high is None:
        return interval
    estimate = None if interval.estimate is None else -interval.estimate
    return replace(interval, low=-interval.high, high=-interval.low, estimate=estimate)


def unpaired_notes(
    scores: Scores, stored: Baseline, pairs: PairedQueries, left_out: Sequence[Measure] = ()
) -> list[Note]:
    """Notes about measures without a value on one side, and about queries that have a value on one side only."""
    notes = [
        Note("not-compared", f"{measure} is not compared: no query has a value on both sides") for measure in left_out
    ]
    return notes + _unpaired_queries(scores, stored, pairs)


def _unpaired_queries(scores: Scores, stored: Baseline, pairs: PairedQueries) -> list[Note]:
    columns = [scores.measures.index(measure) for measure in pairs.measures]
    has_value = scores.averaged & ~np.isnan(scores.values[:, columns]).all(axis=1)
    before = np.column_stack([stored.column(measure.name) for measure in pairs.measures])
    every = {scores.queries[row] for row in np.flatnonzero(has_value).tolist()}
    every |= {stored.queries[row] for row in np.flatnonzero(~np.isnan(before).all(axis=1)).tolist()}
    unpaired = sorted(every - set(pairs.queries))
    if not unpaired:
        return []
    verb = "has" if len(unpaired) == 1 else "have"
    text = f"{plural(len(unpaired), 'query')} {verb} a value on one side only and cannot be compared"
    return [Note("unpaired", f"{text}: {query_sample(unpaired)}")]


def sensitivity_notes(compared: Sequence[ComparedMeasure], rule: Rule) -> list[Note]:
    """A note about what this number of queries cannot show."""
    skewed = [
        Note("skewness", f"{row.measure}: {row.decision.caveat}")
        for row in compared
        if row.decision.caveat and row.decision.outcome == "worse"
    ]
    return skewed + _size_notes(compared, rule)


def _size_notes(compared: Sequence[ComparedMeasure], rule: Rule) -> list[Note]:
    short = [row.decision for row in compared if row.decision.units < (row.decision.changes_needed or 0)]
    if short:
        fewest = min(short, key=lambda decision: decision.units)
        text = f"{plural(fewest.units, 'query')} cannot show any drop at alpha {given(rule.alpha)}"
        return [Note("few-queries", f"{text}: at least {fewest.changes_needed} are needed")]
    insensitive = [row for row in compared if row.decision.queries_needed is not None]
    if not insensitive:
        return []
    known = [row for row in insensitive if row.decision.smallest_drop is not None]
    drops = ", ".join(f"{number(row.decision.smallest_drop)} in {row.measure}" for row in known)
    fails = f"these {plural(compared[0].decision.n, 'query')} fail with {percent(POWER)} power on drops of {drops}; "
    queries = max(row.decision.queries_needed or 0 for row in insensitive)
    return [
        Note(
            "small-query-set",
            f"a drop of exactly the margin, {given(rule.margin)}, fails half the time with any number of queries; "
            f"{fails if known else ''}about {queries:,} queries would show with {percent(POWER)} power that nothing "
            "got worse by the margin",
        )
    ]
