"""A system and the baseline over the queries that both have: one difference per measure, on the measure's scale.

Means differ by their difference. Geometric means differ by a ratio: values become logarithms, and so do the difference,
its interval and the minimum detectable difference. Sums differ by the difference of the sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.comparability import UNPAIRED, Incomparable
from rankgauge.comparison.significance import TestedDifference, UnseenLosses
from rankgauge.comparison.statistics_options import Statistics, is_significant
from rankgauge.core.arrays import GEOMETRIC_FLOOR, Floats
from rankgauge.core.formatting import plural, text_of
from rankgauge.core.verdicts import Comparative, DifferenceOutcome, difference_outcome
from rankgauge.evaluation.caveats import Note
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate, each
from rankgauge.measures.measure import Aggregate, Direction, Measure
from rankgauge.stats.effects import Effect, effect
from rankgauge.stats.intervals import exponential
from rankgauge.stats.results import Interval

Mask = NDArray[np.bool_]


def shared_queries(system: Scores, baseline: Scores, columns: Sequence[int] = ()) -> Mask:
    """The queries that both sides were asked and average, with a value of each of some measures, by their column."""
    shared: Mask = system.averaged & baseline.averaged & system.asked & baseline.asked
    for column in columns:
        shared = shared & ~np.isnan(system.values[:, column]) & ~np.isnan(baseline.values[:, column])
    return shared


@dataclass(frozen=True)
class Difference:
    """One system against the baseline on one measure."""

    system: str
    measure: str
    n: int
    value: float | None
    baseline: float | None
    difference: float | None
    interval: Interval
    p: float | None
    p_corrected: float | None
    effect: Effect
    too_few_queries: bool = False  # whether no p can be small enough with this number of queries
    detectable: float | None = None  # the minimum detectable difference: 80% power, at the corrected level
    changes_needed: int | None = None  # one-way changes that would be significant, if few queries changed
    reason: str | None = None  # why there is no p
    queries_needed: int | None = None  # for 80% power at the target difference and the corrected level
    caveat: str | None = None  # what the test cannot see, if the difference is significant
    rope: float | None = None  # differences within ± this do not matter
    largest: float = math.inf  # possible difference of one query
    aggregate: Aggregate = "mean"
    direction: Direction = 1  # the sign of an improvement; 0 if the measure is neither good nor bad
    spelling: str = ""  # of the measure, if it was asked for by another name
    not_comparable: Incomparable | None = None  # why nothing was tested, if the results of both sides do not allow it

    @property
    def shown(self) -> str:
        """The name of the measure as it is shown."""
        return self.spelling or self.measure

    @property
    def is_ratio(self) -> bool:
        """Whether differences are logarithms of ratios: those of geometric means."""
        return self.aggregate == "gmean"

    @property
    def is_unchanged(self) -> bool:
        """Whether no query differs."""
        return self.n > 0 and self.effect.ties == self.n

    @property
    def improves(self) -> bool:
        """Whether the system is better than the baseline, significantly or not."""
        return (self.difference or 0.0) * self.direction > 0

    @property
    def comparative(self) -> Comparative:
        """What the system is, compared with the baseline: better or worse, or higher or lower without a direction."""
        if self.direction:
            return "better" if self.improves else "worse"
        return "higher" if (self.difference or 0.0) > 0 else "lower"

    def is_significant(self, alpha: float) -> bool:
        """Whether the corrected p is at most alpha."""
        return is_significant(self.p_corrected, alpha)

    @property
    def is_negligible(self) -> bool:
        """Whether the whole interval lies within the region of practical equivalence."""
        low, high = self.interval.low, self.interval.high
        return self.rope is not None and low is not None and high is not None and -self.rope <= low <= high <= self.rope

    @property
    def independent(self) -> int:
        """The number of queries, or of units if queries share them."""
        return self.n if self.interval.units is None else self.interval.units

    @property
    def unseen_losses(self) -> UnseenLosses:
        """The total losses that this number of queries cannot rule out."""
        alpha = round(1 - self.interval.confidence, 12)
        return UnseenLosses(self.independent, alpha, self.largest, of_units=self.interval.units is not None)

    @property
    def smallest_margin(self) -> float | None:
        """The smallest region of practical equivalence that this number of queries supports."""
        return None if self.rope is None else self.unseen_losses.smallest_margin

    @property
    def supports_equivalence(self) -> bool:
        """Whether the queries are enough to call a difference equivalent or negligible."""
        return self.rope is not None and self.unseen_losses.allow(self.rope)

    def outcome(self, alpha: float) -> DifferenceOutcome:
        """What the difference is: better or worse, equivalent, or neither is known."""
        if self.not_comparable is not None:
            return "not comparable"
        return difference_outcome(
            self.comparative if self.is_significant(alpha) else None,
            "equivalent" if self.is_negligible and self.supports_equivalence else None,
            is_unchanged=self.is_unchanged,
            is_too_few=self.too_few_queries,
        )

    def mark(self, alpha: float) -> str:
        """▲ if significantly better, ▼ if significantly worse, else nothing."""
        return ("▲" if self.improves else "▼") if self.direction and self.is_significant(alpha) else ""

    def text(self, difference: float) -> str:
        """A difference of this measure as text: with its sign, or as a ratio."""
        return text_of(exponential(difference), "ratio") if self.is_ratio else text_of(difference, "difference")


def turned(row: Difference, system: str) -> Difference:
    """The baseline of a difference, called ``system`` now, against its system."""
    interval = row.interval
    if interval.low is not None and interval.high is not None:
        estimate = None if interval.estimate is None else -interval.estimate
        interval = replace(interval, low=-interval.high, high=-interval.low, estimate=estimate)
    return replace(
        row,
        system=system,
        value=row.baseline,
        baseline=row.value,
        difference=None if row.difference is None else -row.difference,
        interval=interval,
        effect=replace(row.effect, wins=row.effect.losses, losses=row.effect.wins),
    )


@dataclass(frozen=True)
class GroupDifference:
    """A difference within a group of queries, corrected over all systems, measures and groups of a column."""

    by: str
    label: str
    difference: Difference
    opposite: bool  # whether it is opposite to the overall direction


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

    def __init__(
        self,
        system: Scores,
        baseline: Scores,
        statistics: Statistics,
        problems: Mapping[int, Incomparable] = MappingProxyType({}),
    ) -> None:
        self.system, self.baseline, self.statistics = system, baseline, statistics
        self.problems = problems  # column → why the two sides cannot be compared on its measure
        self.name = system.run
        self.system_values, self.baseline_values = on_scale(system), on_scale(baseline)
        self.shared = shared_queries(system, baseline)
        self.units = system.columns.get("unit")

    def values(self, column: int, queries: Mask) -> SharedValues:
        """A measure for the queries that have a value of both systems."""
        kept = self._kept(column, queries)
        return SharedValues(self.system_values[kept, column], self.baseline_values[kept, column], kept)

    def _kept(self, column: int, queries: Mask) -> Mask:
        """The queries with a value of both systems; none if the two cannot be compared on this measure."""
        if column in self.problems:
            return np.zeros_like(queries)
        return queries & shared_queries(self.system, self.baseline, [column])

    def masked_values(self, column: int, queries: Mask) -> tuple[Floats, Floats]:
        """A measure of both systems for all queries: NaN where either has no value."""
        kept = self._kept(column, queries)
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
        problem = self.problems.get(column) or (None if n else Incomparable(UNPAIRED, measure.shown))
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
            reason=tested.reason if problem is None else str(problem),
            caveat=tested.caveat,
            rope=self.statistics.rope_of(*measure.definition.range) if is_mean else None,
            largest=measure.definition.range[1] - measure.definition.range[0],
            aggregate=kind,
            direction=measure.definition.direction,
            spelling=measure.spelling,
            not_comparable=problem,
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
