"""A run and a baseline over the queries that both have, and what this number of queries cannot show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankgauge.comparison.gate.baseline import Baseline, query_sample
from rankgauge.comparison.gate.decide import Decision, Rule, decide
from rankgauge.comparison.gate.result import ComparedMeasure
from rankgauge.comparison.intervals import difference_range
from rankgauge.comparison.shared_queries import shared_queries
from rankgauge.comparison.stored import aligned_scores
from rankgauge.comparison.testing import PairedColumns
from rankgauge.core.formatting import given, number, percent, plural
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.notes import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.spec import Measure
from rankgauge.stats.between_runs import RunNoise, family_noise
from rankgauge.stats.detectable import POWER
from rankgauge.stats.results import Interval


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """The queries that have values on both sides, and these values: queries × gated measures."""

    measures: tuple[Measure, ...]
    queries: list[str]
    before: Floats
    now: Floats
    units: np.ndarray[Any, Any] | None
    noise: tuple[RunNoise | None, ...] = ()  # of whole runs, by measure

    @property
    def turned(self) -> PairedColumns:
        """Both values, with the sign turned if lower is better: a positive difference is better."""
        signs = np.array([float(measure.definition.direction) for measure in self.measures])
        ranges = tuple(map(difference_range, self.measures))  # which are symmetric
        return PairedColumns(signs * self.now, signs * self.before, ranges, self.units, noise=self.noise)

    @property
    def improvement(self) -> Floats:
        """Now − before, positive if it got better."""
        return self.turned.differences


def pair_queries(scores: Scores, stored: Baseline, gated: int) -> PairedQueries:
    """The first ``gated`` measures of the scores beside those of the baseline."""
    measures = scores.measures[:gated]
    current = replace(scores, measures=measures, values=scores.values[:, :gated], requested=scores.requested[:gated])
    baseline = aligned_scores(stored, current)
    rows = np.flatnonzero(shared_queries(current, baseline, range(gated)))
    if not len(rows):
        raise InputError(
            f"no query has values both in {shown(scores.run)} and in the baseline {shown(stored.run)}",
            hint="both must be made with the same queries",
        )
    units = scores.columns.get("unit")
    queries = [scores.queries[row] for row in rows.tolist()]
    query_units = None if units is None else np.asarray(units)[rows]
    return PairedQueries(
        measures,
        queries,
        baseline.values[rows],
        current.values[rows],
        query_units,
        family_noise([stored.run_noise(measure.name, queries, query_units) for measure in measures]),
    )


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
    """One row per gated measure and baseline; all are tested together."""
    decisions = decide(several[0].turned if len(several) == 1 else joint_columns(several), rule)
    count = len(several[0].measures)
    return [_rows(pairs, decisions[count * place : count * (place + 1)]) for place, pairs in enumerate(several)]


def _rows(pairs: PairedQueries, decisions: Sequence[Decision]) -> tuple[ComparedMeasure, ...]:
    rows = []
    for column, (measure, decision) in enumerate(zip(pairs.measures, decisions, strict=True)):
        before, now = pairs.before[:, column], pairs.now[:, column]
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


def unpaired_notes(scores: Scores, stored: Baseline, pairs: PairedQueries) -> list[Note]:
    """A note about the queries that have a value on one side only."""
    every = {scores.queries[row] for row in np.flatnonzero(scores.averaged).tolist()} | set(stored.queries)
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
    units = compared[0].decision.units
    needed = [row.decision.changes_needed for row in compared if row.decision.changes_needed is not None]
    if needed and units < max(needed):
        text = f"{plural(units, 'query')} cannot show any drop at alpha {given(rule.alpha)}"
        return [Note("few-queries", f"{text}: at least {max(needed)} are needed")]
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
