"""A run and a baseline over the queries that both have, and what this number of queries cannot show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankgauge.comparison.gate.baseline import Baseline, query_sample
from rankgauge.comparison.gate.decide import Rule, decide
from rankgauge.comparison.gate.result import ComparedMeasure
from rankgauge.comparison.intervals import difference_interval_of
from rankgauge.comparison.shared_queries import shared_queries
from rankgauge.comparison.stored import aligned_scores
from rankgauge.core.formatting import percent, plural
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.notes import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.spec import Measure


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """The queries that have values on both sides, and these values: queries × gated measures."""

    measures: tuple[Measure, ...]
    queries: list[str]
    before: Floats
    now: Floats
    units: np.ndarray[Any, Any] | None

    @property
    def improvement(self) -> Floats:
        """Now − before, with the sign turned if lower is better: positive is better."""
        signs = np.array([float(measure.definition.direction) for measure in self.measures])
        improvement: Floats = signs * (self.now - self.before)
        return improvement


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
    return PairedQueries(
        measures,
        [scores.queries[row] for row in rows.tolist()],
        baseline.values[rows],
        current.values[rows],
        None if units is None else np.asarray(units)[rows],
    )


def compare_measures(pairs: PairedQueries, rule: Rule) -> tuple[ComparedMeasure, ...]:
    """One row per gated measure."""
    decisions = decide(pairs.improvement, rule, units=pairs.units)
    rows = []
    for column, (measure, decision) in enumerate(zip(pairs.measures, decisions, strict=True)):
        before, now = pairs.before[:, column], pairs.now[:, column]
        rows.append(
            ComparedMeasure(
                measure=measure.name,
                before=aggregate(before, "mean") or 0.0,
                now=aggregate(now, "mean") or 0.0,
                interval=difference_interval_of(
                    now, before, measure, confidence=rule.statistics.confidence, units=pairs.units
                ),
                lower_is_better=measure.definition.direction < 0,
                decision=decision,
            )
        )
    return tuple(rows)


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
    units = compared[0].decision.units
    if rule.uses_signs and 0.5**units > rule.alpha:
        fewest = math.ceil(-math.log2(rule.alpha))
        text = f"{plural(units, 'query')} cannot show any drop at alpha {rule.alpha:g}: at least {fewest} are needed"
        return [Note("few-queries", text)]
    insensitive = [row for row in compared if row.decision.queries_needed is not None]
    if not insensitive:
        return []
    drops = ", ".join(f"{row.decision.detectable:.4f} in {row.measure}" for row in insensitive)
    needed = max(row.decision.queries_needed or 0 for row in insensitive)
    return [
        Note(
            "small-query-set",
            f"{plural(units, 'query')} are too few to detect a drop of the margin, {rule.margin:g}: with "
            f"{percent(rule.power)} power they detect drops from {drops} on; about {needed:,} queries would do",
        )
    ]
