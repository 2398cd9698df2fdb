"""A run and a baseline over the queries that both have: one row per measure, for all queries and for each group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rankgauge.comparison.comparability import Incomparable, NamedFacts, ResultFacts, not_comparable
from rankgauge.comparison.differences import Mask, shared_queries
from rankgauge.comparison.gate.baseline import UNKNOWN_FACTS, Baseline, query_sample
from rankgauge.comparison.gate.decision import Decision, decide, undecided_columns
from rankgauge.comparison.gate.requirements import GateRule, QueryGroup
from rankgauge.comparison.significance import PairedColumns, UnseenLosses, difference_range
from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import given, number, percent, plural
from rankgauge.errors import InputError, printable, shown
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.measure import Measure
from rankgauge.stats.detectable import POWER
from rankgauge.stats.results import Interval

MAX_LOSSES = 100  # queries that got worse, of each measure, that a result keeps


class QueryLoss(NamedTuple):
    """The value of one query before and now."""

    query: str
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class ComparedMeasure:
    """A measure before and now, over the queries that both sides have, or over those of a group.

    If the two sides are not comparable on it, there is a reason and no test.
    """

    measure: str
    before: float
    now: float
    interval: Interval  # of the change
    lower_is_better: bool
    decision: Decision
    group: QueryGroup | None = None
    reason: Incomparable | None = None  # why it is not comparable
    worse: int = 0  # queries that got worse
    better: int = 0
    losses: tuple[QueryLoss, ...] = ()  # the first of those that got worse, largest losses first
    queries_needed: int | None = None  # so that a drop of all of them would be significant, if it is undecided

    @property
    def title(self) -> str:
        """The measure, and the group if it is one."""
        return self.measure if self.group is None else f"{self.measure} [{self.group}]"

    @property
    def change(self) -> float:
        """Now − before, on the measure's own scale."""
        return self.now - self.before

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        decision = self.decision
        return {
            "measure": self.measure,
            "group": None if self.group is None else self.group._asdict(),
            "outcome": decision.outcome,
            "reason": None if self.reason is None else str(self.reason),
            "before": self.before,
            "now": self.now,
            "change": self.change,
            "interval": [self.interval.low, self.interval.high],
            "p": decision.p,
            "smallest_drop": decision.smallest_drop,
            "changes_needed": decision.changes_needed,
            "n": decision.n,
            "units": decision.units,
            "smallest_margin": None if decision.unseen is None else decision.unseen.smallest_margin,
            "queries_worse": self.worse,
            "queries_better": self.better,
            "queries_needed": self.queries_needed,
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
    problems: Mapping[int, Incomparable] = field(default_factory=dict)  # by column: why the sides are not comparable
    group: QueryGroup | None = None

    @property
    def comparable(self) -> list[int]:
        """The columns of the measures on which both sides can be compared."""
        return [column for column in range(len(self.measures)) if column not in self.problems]

    @property
    def worst(self) -> Floats:
        """The worst value of each measure, turned; minus infinity if there is none. A rank is at most its cutoff."""
        ends = []
        for column, measure in enumerate(self.measures):
            sign, cutoff = measure.definition.direction, measure.cutoff
            end = measure.definition.range[0 if sign > 0 else 1]
            largest = np.nanmax([self.before[:, column], self.now[:, column]], initial=0.0)
            if end == math.inf and isinstance(cutoff, int) and largest <= cutoff:
                end = float(cutoff)
            ends.append(end * sign)
        return np.array(ends, dtype=np.float64)

    @property
    def turned(self) -> PairedColumns:
        """Both values, with the sign turned if lower is better: a positive difference is better."""
        signs = np.array([float(measure.definition.direction) for measure in self.measures])
        ranges = tuple(map(difference_range, self.measures))  # which are symmetric
        return PairedColumns(signs * self.now, signs * self.before, ranges, self.units)

    @property
    def families(self) -> list[bool]:
        """Which measures are corrected together: whether lower is better."""
        return [measure.definition.direction < 0 for measure in self.measures]

    def decide(self, rule: GateRule, queries: Mask) -> tuple[Decision, ...]:
        """One decision per measure over some of these queries."""
        return decide(self.turned.select(queries), rule, self.families)

    @property
    def improvement(self) -> Floats:
        """Now − before, positive if it got better."""
        return self.turned.differences


def pair_queries(
    scores: Scores,
    before: Baseline,
    columns: Sequence[int],
    *,
    facts: ResultFacts = UNKNOWN_FACTS,
    members: Mask | None = None,
    group: QueryGroup | None = None,
) -> PairedQueries:
    """Some measures of the scores beside those of the baseline, for all queries or those of a group.

    A query counts for every measure that it has on both sides, and is NaN for the others. Measures that no query has on
    both sides are left out.
    """
    current, baseline = _with_columns(scores, columns), _with_columns(before.scores, columns)
    is_shared = np.column_stack([shared_queries(current, baseline, [column]) for column in range(len(columns))])
    is_shared = is_shared if members is None else is_shared & members[:, np.newaxis]
    kept = np.flatnonzero(is_shared.any(axis=0))
    current, baseline = (_with_columns(side, kept.tolist()) for side in (current, baseline))
    is_shared, measures = is_shared[:, kept], current.measures
    rows = np.flatnonzero(is_shared.any(axis=1))
    if not len(rows) and group is None:
        raise InputError(
            f"no query has values both in {shown(scores.run)} and in the baseline {shown(before.run)}",
            hint="both must be made with the same queries",
        )
    units = scores.columns.get("unit")
    queries = [scores.queries[row] for row in rows.tolist()]
    query_units = None if units is None else np.asarray(units)[rows]
    had, have = (np.where(is_shared, side.values, np.nan)[rows] for side in (baseline, current))
    return PairedQueries(
        measures,
        queries,
        had,
        have,
        query_units,
        _problems(measures, *run_sides(scores, facts, before)),
        group,
    )


def _with_columns(scores: Scores, columns: Sequence[int]) -> Scores:
    return replace(
        scores,
        measures=tuple(scores.measures[column] for column in columns),
        values=scores.values[:, list(columns)],
        requested=tuple(scores.requested[column] for column in columns) if scores.requested else (),
    )


def _problems(measures: Sequence[Measure], system: NamedFacts, baseline: NamedFacts) -> dict[int, Incomparable]:
    """Why the sides are not comparable, by the column of a measure."""
    reasons = [not_comparable(measure, system, baseline) for measure in measures]
    return {column: reason for column, reason in enumerate(reasons) if reason is not None}


def run_sides(scores: Scores, facts: ResultFacts, baseline: Baseline) -> tuple[NamedFacts, NamedFacts]:
    """The two sides as sentences name them: by their own names, if these differ."""
    names = printable(scores.run), printable(baseline.run)
    if names[0] == names[1] or len({run.run for run in baseline.runs}) > 1:
        names = "this run", "the baseline"
    return NamedFacts(names[0], facts), NamedFacts(names[1], baseline.facts)


class JointColumns(NamedTuple):
    """What is tested, what each column would be if every query fell to the worst value, and which are one family."""

    columns: PairedColumns
    worst: Floats
    families: list[bool]


def joint_columns(several: Sequence[PairedQueries]) -> JointColumns:
    """The comparable columns of all queries and of groups; NaN if a query is not in one."""
    every = dict.fromkeys(query for pairs in several for query in pairs.queries)
    row_of = {query: row for row, query in enumerate(every)}
    kept = [(pairs, pairs.turned, pairs.comparable) for pairs in several if pairs.comparable]
    shape = len(row_of), sum(len(comparable) for _, _, comparable in kept)
    system, baseline = (np.full(shape, np.nan) for _ in range(2))
    has_units = any(pairs.units is not None for pairs in several)
    units = np.full(len(row_of), None, dtype=object) if has_units else None
    place = 0
    for pairs, turned, comparable in kept:
        rows = [row_of[query] for query in pairs.queries]
        where = np.ix_(rows, range(place, place + len(comparable)))
        system[where], baseline[where] = turned.system[:, comparable], turned.baseline[:, comparable]
        if units is not None and pairs.units is not None:
            units[rows] = pairs.units
        place += len(comparable)
    columns = PairedColumns(
        system,
        baseline,
        tuple(turned.ranges[column] for _, turned, comparable in kept for column in comparable),
        units,
    )
    worst = [pairs.worst[column] for pairs, _, comparable in kept for column in comparable]
    families = [pairs.families[column] for pairs, _, comparable in kept for column in comparable]
    return JointColumns(columns, np.array(worst, dtype=np.float64), families)


def compare_measures(several: Sequence[PairedQueries], rule: GateRule) -> list[tuple[ComparedMeasure, ...]]:
    """One row per gated measure, for all queries and for each group.

    All that are comparable are tested together; those of which lower is better are a family of their own.
    """
    joint = joint_columns(several)
    decisions = decide(joint.columns, rule, joint.families) if len(joint.worst) else ()
    improvement = joint.columns.differences
    open_rows = [
        index
        for index, decision in enumerate(decisions)
        if decision.outcome == "inconclusive" and bool((improvement[:, index] < 0).any())
    ]
    needed = undecided_columns(joint.columns, joint.worst, open_rows, rule, joint.families)
    tested = iter(
        [
            (replace(one, outcome="undecided", smallest_drop=None, changes_needed=None), needed[index])
            if index in needed
            else (one, None)
            for index, one in enumerate(decisions)
        ]
    )
    return [
        tuple(
            _row(pairs, column, *(next(tested) if column in pairs.comparable else (_untested(pairs, column), None)))
            for column in range(len(pairs.measures))
        )
        for pairs in several
    ]


def _untested(pairs: PairedQueries, column: int) -> Decision:
    """The decision on a measure that is not comparable: none."""
    improvement = pairs.improvement[:, column]
    n = int(np.count_nonzero(~np.isnan(improvement)))
    change = float(np.nanmean(improvement)) if n else 0.0
    interval = Interval(None, None, 0.0, "", n, reason=str(pairs.problems[column]))
    return Decision("not comparable", change, interval, None, None, None, None, None, n, n)


def _row(pairs: PairedQueries, column: int, decision: Decision, queries_needed: int | None) -> ComparedMeasure:
    measure, before, now = pairs.measures[column], pairs.before[:, column], pairs.now[:, column]
    improvement = pairs.improvement[:, column]
    has_value = ~np.isnan(improvement)
    order = np.argsort(improvement, kind="stable")
    losing = order[: int((improvement < 0).sum())].tolist()
    is_comparable = column not in pairs.problems
    return ComparedMeasure(
        measure=measure.name,
        before=aggregate(before[has_value], "mean") or 0.0,
        now=aggregate(now[has_value], "mean") or 0.0,
        interval=_on_own_scale(decision.interval, measure),
        lower_is_better=measure.definition.direction < 0,
        decision=decision,
        group=pairs.group,
        reason=pairs.problems.get(column),
        worse=len(losing) if is_comparable else 0,
        better=int((improvement > 0).sum()) if is_comparable else 0,
        losses=tuple(QueryLoss(pairs.queries[row], float(before[row]), float(now[row])) for row in losing[:MAX_LOSSES])
        if is_comparable
        else (),
        queries_needed=queries_needed,
    )


def _on_own_scale(interval: Interval, measure: Measure) -> Interval:
    """The interval of an improvement as one of the change of the measure itself."""
    if measure.definition.direction > 0 or interval.low is None or interval.high is None:
        return interval
    estimate = None if interval.estimate is None else -interval.estimate
    return replace(interval, low=-interval.high, high=-interval.low, estimate=estimate)


def unpaired_notes(scores: Scores, baseline: Baseline, gated: Sequence[Measure], pairs: PairedQueries) -> list[Note]:
    """Notes about gated measures that no query has on both sides, and about queries that have values on one side."""
    left_out = [measure for measure in gated if measure not in pairs.measures]
    notes = [
        Note("not-compared", f"{measure} is not compared: no query has a value on both sides") for measure in left_out
    ]
    columns = [scores.measures.index(measure) for measure in pairs.measures]
    has_value = scores.averaged & scores.asked & ~np.isnan(scores.values[:, columns]).all(axis=1)
    had_value = baseline.scores.averaged & baseline.scores.asked & ~np.isnan(baseline.values[:, columns]).all(axis=1)
    every = {scores.queries[row] for row in np.flatnonzero(has_value | had_value).tolist()}
    unpaired = sorted(every - set(pairs.queries))
    if not unpaired:
        return notes
    verb = "has" if len(unpaired) == 1 else "have"
    text = f"{plural(len(unpaired), 'query')} {verb} a value on one side only and cannot be compared"
    return [*notes, Note("unpaired", f"{text}: {query_sample(unpaired)}")]


def sensitivity_notes(compared: Sequence[ComparedMeasure], rule: GateRule) -> list[Note]:
    """A note about what this number of queries cannot show."""
    skewed = [
        Note("skewness", f"{row.measure}: {row.decision.caveat}")
        for row in compared
        if row.decision.caveat and row.decision.outcome == "worse"
    ]
    return [*skewed, *_unseen_notes(compared, rule), *_size_notes(compared, rule)]


def _unseen_notes(compared: Sequence[ComparedMeasure], rule: GateRule) -> list[Note]:
    """What a claim that nothing got worse would overlook, if the queries are too few for it."""
    measures_of: dict[UnseenLosses, list[str]] = {}
    for row in compared:
        unseen = row.decision.unseen
        if unseen is not None and row.decision.overlooks_losses and unseen.smallest_margin is not None:
            measures_of.setdefault(unseen, []).append(row.title)
    return [
        Note(
            "unseen-losses",
            f"{', '.join(measures)}: no drop of {given(rule.margin)} or more observed; {unseen.sentence()}",
        )
        for unseen, measures in measures_of.items()
    ]


def _size_notes(compared: Sequence[ComparedMeasure], rule: GateRule) -> list[Note]:
    compared = [row for row in compared if row.reason is None]
    if not compared or any(row.decision.outcome == "undecided" for row in compared):
        return []
    sizes = [(row.decision.units, row.decision.changes_needed or 0) for row in compared]
    short = [(units, -needed) for units, needed in sizes if units < needed]
    if short:
        units, needed = min(short)
        text = f"{plural(units, 'query')} cannot show any drop at alpha {given(rule.alpha)}"
        return [Note("few-queries", f"{text}: at least {-needed} are needed")]
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
