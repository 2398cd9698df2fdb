"""A system and the baseline over the queries that both have: one difference per measure, on the measure's scale.

Means differ by their difference. Geometric means differ by a ratio: values become logarithms, and so do the difference,
its interval and the minimum detectable difference. Sums differ by the difference of the sums.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.comparison.result import Difference
from rankgauge.comparison.shared_queries import Mask, shared_queries
from rankgauge.core.formatting import plural
from rankgauge.core.tables import GEOMETRIC_FLOOR, Floats
from rankgauge.evaluation.notes import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.numbers import each
from rankgauge.measures.spec import Measure
from rankgauge.stats.effect_size import Effect, effect
from rankgauge.stats.results import Interval

if TYPE_CHECKING:
    from rankgauge.comparison.statistics import Statistics
    from rankgauge.comparison.testing import TestedDifference


def on_scale(scores: Scores) -> Floats:
    """The values of each query, as logarithms if they are averaged geometrically."""
    values = scores.values.copy()
    for column, measure in enumerate(scores.measures):
        if measure.definition.aggregate == "gmean":
            present = ~np.isnan(values[:, column])
            values[present, column] = each(np.maximum(values[present, column], GEOMETRIC_FLOOR), math.log)
    return values


class SharedValues(NamedTuple):
    """A measure of the system and of the baseline for the same queries."""

    system: Floats
    baseline: Floats
    kept: Mask  # which of all queries these are


class Pair:
    """A system and the baseline."""

    def __init__(self, system: Scores, baseline: Scores, statistics: Statistics) -> None:
        self.system, self.baseline, self.statistics = system, baseline, statistics
        self.name = system.run
        self.system_values, self.baseline_values = on_scale(system), on_scale(baseline)
        self.shared = shared_queries(system, baseline)
        self.units = system.columns.get("unit")

    def values(self, column: int, queries: Mask) -> SharedValues:
        """A measure for the queries that have a value of both systems."""
        kept = queries & shared_queries(self.system, self.baseline, [column])
        return SharedValues(self.system_values[kept, column], self.baseline_values[kept, column], kept)

    def masked_values(self, column: int, queries: Mask) -> tuple[Floats, Floats]:
        """A measure of both systems for all queries: NaN where either has no value."""
        kept = queries & shared_queries(self.system, self.baseline, [column])
        return (
            np.where(kept, self.system_values[:, column], np.nan),
            np.where(kept, self.baseline_values[:, column], np.nan),
        )

    def difference(self, column: int, queries: Mask, tested: TestedDifference) -> Difference:
        """A measure over some queries, with the result of its test."""
        measure = self.system.measures[column]
        system_values, baseline_values, kept = self.values(column, queries)
        n = len(system_values)
        kind = measure.definition.aggregate
        factor = n if kind == "sum" else 1
        mean = float(np.cumsum(system_values - baseline_values)[-1]) / n if n else None
        is_mean = kind == "mean" and self.statistics.alternative == "two-sided"
        return Difference(
            system=self.name,
            measure=measure.name,
            n=n,
            value=aggregate(self.system.values[kept, column], kind) if n else None,
            baseline=aggregate(self.baseline.values[kept, column], kind) if n else None,
            difference=None if mean is None else mean * factor,
            interval=_scaled(tested.interval, factor),
            p=tested.p,
            p_corrected=tested.p_corrected,
            effect=_effect(system_values, baseline_values, measure),
            too_few_queries=tested.too_few_queries,
            detectable=None if tested.detectable is None else tested.detectable * factor,
            changes_needed=tested.changes_needed,
            reason=tested.reason,
            caveat=tested.caveat,
            rope=self.statistics.rope_of(*measure.definition.range) if is_mean else None,
            aggregate=kind,
            direction=measure.definition.direction,
        )

    def notes(self) -> list[Note]:
        """Caveats about this pair."""
        notes = []
        for run, other in [(self.system, self.baseline), (self.baseline, self.system)]:
            missing = int((run.averaged & ~other.averaged).sum())
            if missing:
                verb = "is" if missing == 1 else "are"
                text = f"{plural(missing, 'query')} of {run.run} {verb} not averaged for {other.run}: left out"
                notes.append(Note("unpaired", text))
        if self.system.run_sha256 and self.system.run_sha256 == self.baseline.run_sha256:
            notes.append(Note("same-run", f"{self.name} and {self.baseline.run} have the same content"))
        return notes


def _effect(system_values: Floats, baseline_values: Floats, measure: Measure) -> Effect:
    """The size of the difference; queries on which the system is better are wins, also if lower is better."""
    sizes = effect(system_values, baseline_values)
    return replace(sizes, wins=sizes.losses, losses=sizes.wins) if measure.definition.direction < 0 else sizes


def _scaled(interval: Interval, factor: int) -> Interval:
    """The interval of a sum from that of a mean."""
    low, high, estimate = (
        None if value is None else value * factor for value in (interval.low, interval.high, interval.estimate)
    )
    return replace(interval, low=low, high=high, estimate=estimate)
