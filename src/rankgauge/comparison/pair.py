"""A system and the baseline over the queries that both have: one difference per measure, on the measure's scale.

Means differ by their difference. Geometric means differ by a ratio: values become logarithms, and so do the difference,
its interval and the minimum detectable difference. Sums differ by the difference of the sums.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.comparison.intervals import difference_interval_of
from rankgauge.comparison.result import Difference
from rankgauge.comparison.shared_queries import Mask, shared_queries
from rankgauge.core.formatting import plural
from rankgauge.core.tables import GEOMETRIC_FLOOR, Column, Floats
from rankgauge.evaluation.notes import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.numbers import each
from rankgauge.measures.spec import Measure
from rankgauge.stats.effect_size import Effect, effect
from rankgauge.stats.results import Interval
from rankgauge.stats.samples import paired
from rankgauge.stats.seeds import Resampling
from rankgauge.stats.tests import equivalence, paired_test

if TYPE_CHECKING:
    from rankgauge.comparison.statistics import Statistics


def on_scale(scores: Scores) -> Floats:
    """The values of each query, as logarithms if they are averaged geometrically."""
    values = scores.values.copy()
    for column, measure in enumerate(scores.measures):
        if measure.definition.aggregate == "gmean":
            present = ~np.isnan(values[:, column])
            values[present, column] = each(np.maximum(values[present, column], GEOMETRIC_FLOOR), math.log)
    return values


class Pair:
    """A system and the baseline."""

    def __init__(self, system: Scores, baseline: Scores, statistics: Statistics) -> None:
        self.system, self.baseline, self.statistics = system, baseline, statistics
        self.name = system.run
        self.system_values, self.baseline_values = on_scale(system), on_scale(baseline)
        self.shared = shared_queries(system, baseline)
        self.units = system.columns.get("unit")

    def values(self, column: int, queries: Mask) -> tuple[Floats, Floats, Mask]:
        """A measure of the system and of the baseline, for the queries that have both; and which these are."""
        kept = queries & shared_queries(self.system, self.baseline, [column])
        return self.system_values[kept, column], self.baseline_values[kept, column], kept

    def all_differences(self, column: int) -> Floats:
        """The differences on a measure for all queries: 0 if one side has no value."""
        differences = self.system_values[:, column] - self.baseline_values[:, column]
        return np.nan_to_num(np.where(self.shared, differences, 0.0))

    def differences(self, queries: Mask | None = None, labels: tuple[str, ...] = ()) -> list[Difference]:
        """One per measure; p is not corrected yet, so the minimum detectable difference is not known either."""
        queries = self.shared if queries is None else self.shared & queries
        return [self._difference(column, queries, labels) for column in range(len(self.system.measures))]

    def _difference(self, column: int, queries: Mask, labels: tuple[str, ...]) -> Difference:
        measure, statistics = self.system.measures[column], self.statistics
        system_values, baseline_values, kept = self.values(column, queries)
        n = len(system_values)
        units = None if self.units is None else self.units[kept]
        resampling: dict[str, Any] = {
            "units": units,
            "resampling": Resampling(
                statistics.resamples, statistics.seed, (self.baseline.run, self.name, measure.name, *labels)
            ),
        }
        tested = paired_test(
            statistics.test, system_values, baseline_values, alternative=statistics.alternative, **resampling
        )
        kind = measure.definition.aggregate
        factor = n if kind == "sum" else 1
        mean = float(np.cumsum(system_values - baseline_values)[-1]) / n if n else None
        interval = difference_interval_of(
            system_values,
            baseline_values,
            measure,
            confidence=statistics.confidence,
            units=units,
            alternative=statistics.alternative,
        )
        spread = _spread(system_values, baseline_values, units)
        margin = statistics.equivalence_margin if kind == "mean" else None
        p_equivalent = None if margin is None else _p_equivalent(system_values, baseline_values, margin, resampling)
        return Difference(
            system=self.name,
            measure=measure.name,
            n=n,
            value=aggregate(self.system.values[kept, column], kind) if n else None,
            baseline=aggregate(self.baseline.values[kept, column], kind) if n else None,
            difference=None if mean is None else mean * factor,
            interval=_scaled(interval, factor),
            p=tested.p,
            p_corrected=tested.p,
            effect=_effect(system_values, baseline_values, measure),
            spread=None if spread is None else (spread[0] * factor, spread[1]),
            reason=tested.reason,
            p_equivalent=p_equivalent,
            p_equivalent_corrected=p_equivalent,
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
            notes.append(Note("same-run", f"{self.name} and {self.baseline.run} are the same file"))
        return notes


def _effect(system_values: Floats, baseline_values: Floats, measure: Measure) -> Effect:
    """The size of the difference; queries on which the system is better are wins, also if lower is better."""
    sizes = effect(system_values, baseline_values)
    return replace(sizes, wins=sizes.losses, losses=sizes.wins) if measure.definition.direction < 0 else sizes


def _spread(system_values: Floats, baseline_values: Floats, units: Column | None) -> tuple[float, int] | None:
    """The standard deviation of the differences as if each unit were one query, and the number of units."""
    sample = paired(system_values, baseline_values, units)
    if sample.units < 2 or sample.constant:
        return None
    return sample.standard_error * math.sqrt(sample.units), sample.units


def _p_equivalent(
    system_values: Floats, baseline_values: Floats, margin: float, resampling: dict[str, Any]
) -> float | None:
    """The p value of two one-sided tests: t, or sign flips if all queries differ by the same amount."""
    by_t = equivalence(system_values, baseline_values, margin=margin, units=resampling["units"])
    if by_t.p is not None or len(system_values) < 2:
        return by_t.p
    return equivalence(system_values, baseline_values, margin=margin, test="randomization", **resampling).p


def _scaled(interval: Interval, factor: int) -> Interval:
    """The interval of a sum from that of a mean."""
    low, high, estimate = (
        None if value is None else value * factor for value in (interval.low, interval.high, interval.estimate)
    )
    return replace(interval, low=low, high=high, estimate=estimate)
