"""A system and the baseline over the queries that both have: one difference a measure, on the scale of the measure.

Means differ by their difference. Geometric means differ by a ratio: values are taken as logarithms, and the difference,
its interval and the smallest detectable one are logarithms too. Sums differ by the difference of the sums.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.result import Difference
from rankgauge.core.tables import Column, Floats
from rankgauge.evaluation.evaluate import Scores
from rankgauge.evaluation.notes import Note
from rankgauge.measures.aggregates import SMALLEST, aggregate
from rankgauge.measures.numbers import each
from rankgauge.stats.effect import effect
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.results import Interval
from rankgauge.stats.samples import paired
from rankgauge.stats.tests import equivalence, paired_test

if TYPE_CHECKING:
    from rankgauge.comparison.statistics import Statistics

Chosen = NDArray[np.bool_]


def on_scale(scores: Scores) -> Floats:
    """The values of each query, as logarithms where they are averaged geometrically."""
    values = scores.values.copy()
    for place, measure in enumerate(scores.measures):
        if measure.definition.aggregate == "gmean":
            known = ~np.isnan(values[:, place])
            values[known, place] = each(np.maximum(values[known, place], SMALLEST), math.log)
    return values


class Pair:
    """A system and the baseline."""

    def __init__(self, system: Scores, base: Scores, statistics: Statistics) -> None:
        self.system, self.base, self.statistics = system, base, statistics
        self.name = system.run
        self.ours, self.theirs = on_scale(system), on_scale(base)
        self.both = system.averaged & base.averaged
        self.units = system.columns.get("unit")

    def values(self, place: int, chosen: Chosen) -> tuple[Floats, Floats, Chosen]:
        """The values of a measure on both sides, for chosen queries that have them."""
        one, other = self.ours[:, place], self.theirs[:, place]
        kept = chosen & ~np.isnan(one) & ~np.isnan(other)
        return one[kept], other[kept], kept

    def gaps(self, place: int) -> Floats:
        """The differences on a measure, for all queries: 0 where one side lacks it."""
        return np.nan_to_num(np.where(self.both, self.ours[:, place] - self.theirs[:, place], 0.0))

    def differences(self, chosen: Chosen | None = None, labels: tuple[str, ...] = ()) -> list[Difference]:
        """One for each measure; p is not corrected yet, and what could have been seen depends on that."""
        chosen = self.both if chosen is None else self.both & chosen
        return [self._difference(place, chosen, labels) for place in range(len(self.system.measures))]

    def _difference(self, place: int, chosen: Chosen, labels: tuple[str, ...]) -> Difference:
        measure, how = self.system.measures[place], self.statistics
        one, other, kept = self.values(place, chosen)
        units = None if self.units is None else self.units[kept]
        streams = (self.base.run, self.name, measure.name, *labels)
        drawn: dict[str, Any] = {"units": units, "resamples": how.resamples, "seed": how.seed, "labels": streams}
        tested = paired_test(how.test, one, other, alternative=how.alternative, **drawn)
        kind = measure.definition.aggregate
        times = len(one) if kind == "sum" else 1
        gap = float(np.cumsum(one - other)[-1]) / len(one) if len(one) else None
        equal = _equivalent(one, other, how.margin, drawn) if how.margin is not None and kind == "mean" else None
        spread = _spread(one, other, units)
        return Difference(
            system=self.name,
            measure=measure.name,
            n=len(one),
            value=aggregate(self.system.values[kept, place], kind) if len(one) else None,
            baseline=aggregate(self.base.values[kept, place], kind) if len(one) else None,
            difference=None if gap is None else gap * times,
            interval=_times(self._interval(one, other, units), times),
            p=tested.p,
            p_corrected=tested.p,
            effect=effect(one, other),
            spread=None if spread is None else (spread[0] * times, spread[1]),
            reason=tested.reason,
            p_equivalent=equal,
            p_equivalent_corrected=equal,
            aggregate=kind,
        )

    def _interval(self, one: Floats, other: Floats, units: Column | None) -> Interval:
        how = self.statistics
        binary = units is None and len(one) > 1 and set(np.unique([one, other]).tolist()) <= {0.0, 1.0}
        return difference_interval(
            one,
            other,
            method="newcombe" if binary else "t",
            confidence=how.confidence,
            alternative=how.alternative,
            units=units,
        )

    def notes(self) -> list[Note]:
        """What a reader must know of this pair."""
        only = [(self.system, self.base), (self.base, self.system)]
        out = []
        for one, other in only:
            missing = int((one.averaged & ~other.averaged).sum())
            if missing:
                out.append(
                    Note("unpaired", f"{missing} queries of {one.run} are not averaged for {other.run}: left out")
                )
        if self.system.run_sha256 and self.system.run_sha256 == self.base.run_sha256:
            out.append(Note("same-run", f"{self.name} and {self.base.run} are the same file"))
        return out


def _spread(one: Floats, other: Floats, units: Column | None) -> tuple[float, int] | None:
    """The standard deviation of the differences, were each unit one, and how many units there are."""
    found = paired(one, other, units)
    if found.units < 2 or found.constant:
        return None
    return found.standard_error * math.sqrt(found.units), found.units


def _equivalent(one: Floats, other: Floats, margin: float, drawn: dict[str, Any]) -> float | None:
    """p of two one-sided tests: by t, or by signs where all queries differ alike."""
    by_t = equivalence(one, other, margin=margin, units=drawn["units"])
    if by_t.p is not None or len(one) < 2:
        return by_t.p
    return equivalence(one, other, margin=margin, test="randomization", **drawn).p


def _times(interval: Interval, factor: int) -> Interval:
    """The interval of a sum from that of a mean."""
    low, high, middle = (
        None if end is None else end * factor for end in (interval.low, interval.high, interval.estimate)
    )
    return replace(interval, low=low, high=high, estimate=middle)
