"""A run and a baseline over the queries that both have, and what so many queries cannot show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.comparison.gate.baseline import LISTED, Baseline
from rankgauge.comparison.gate.decide import Rule, decide
from rankgauge.comparison.gate.result import Compared
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.evaluation.evaluate import Scores
from rankgauge.evaluation.notes import Note
from rankgauge.measures.aggregates import aggregate


@dataclass(frozen=True, eq=False)
class Pairs:
    """The queries that have values on both sides, and these values: queries × gated measures."""

    queries: list[str]
    before: Floats
    now: Floats
    better: Floats  # now − before, turned so that positive is better
    units: np.ndarray[Any, Any] | None


def pair(scores: Scores, stored: Baseline, gated: int) -> Pairs:
    """The first ``gated`` measures of the scores beside those of the baseline."""
    measures = scores.measures[:gated]
    columns = np.column_stack([stored.column(measure.name) for measure in measures])
    rows, others = [], []
    for row in np.flatnonzero(scores.averaged).tolist():
        other = stored.row_of.get(scores.queries[row])
        if other is not None and not np.isnan([scores.values[row, :gated], columns[other]]).any():
            rows.append(row)
            others.append(other)
    if not rows:
        raise InputError(
            f"no query has values in {shown(scores.run)} and in the baseline {shown(stored.run)}",
            hint="both must be made with the same queries",
        )
    before, now = columns[others], scores.values[rows, :gated]
    signs = np.array([-1.0 if measure.definition.better == "lower" else 1.0 for measure in measures])
    units = scores.columns.get("unit")
    queries = [scores.queries[row] for row in rows]
    return Pairs(queries, before, now, signs * (now - before), None if units is None else np.asarray(units)[rows])


def compare(scores: Scores, pairs: Pairs, rule: Rule) -> tuple[Compared, ...]:
    """A row for each gated measure."""
    decisions = decide(pairs.better, rule, units=pairs.units)
    return tuple(
        Compared(
            measure=measure.name,
            before=aggregate(pairs.before[:, place], "mean") or 0.0,
            now=aggregate(pairs.now[:, place], "mean") or 0.0,
            lower_is_better=measure.definition.better == "lower",
            decision=decision,
        )
        for place, (measure, decision) in enumerate(zip(scores.measures, decisions, strict=False))
    )


def unpaired(scores: Scores, stored: Baseline, pairs: Pairs) -> list[Note]:
    """The queries that have a value on one side only."""
    every = {scores.queries[row] for row in np.flatnonzero(scores.averaged).tolist()} | set(stored.queries)
    left = sorted(every - set(pairs.queries))
    if not left:
        return []
    listed = ", ".join(shown(query) for query in left[:LISTED]) + (", …" if len(left) > LISTED else "")
    count = "1 query has" if len(left) == 1 else f"{len(left)} queries have"
    return [Note("unpaired", f"{count} no value on one side and cannot be compared: {listed}")]


def too_few(compared: Sequence[Compared], rule: Rule) -> list[Note]:
    """What so many queries cannot show."""
    units = compared[0].decision.units
    if 0.5**units > rule.alpha:
        least = math.ceil(-math.log2(rule.alpha))
        few = "1 query" if units == 1 else f"{units} queries"
        text = f"{few} cannot show any drop at alpha {rule.alpha:g}: at least {least} are needed"
        return [Note("few-queries", text)]
    blind = [row for row in compared if row.decision.needed is not None]
    if not blind:
        return []
    seen = ", ".join(f"{row.decision.detectable:.4f} in {row.measure}" for row in blind)
    needed = max(row.decision.needed or 0 for row in blind)
    return [
        Note(
            "small-query-set",
            f"{units} queries are too few to see a drop of the margin, {rule.margin:g}: at {rule.power:.0%} power they "
            f"see drops from {seen} on; about {needed:,} queries would do",
        )
    ]
