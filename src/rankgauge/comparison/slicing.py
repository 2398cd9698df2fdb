"""Differences within groups of queries, and whether they differ between groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankgauge.comparison.family import corrected, listed
from rankgauge.comparison.pair import Pair
from rankgauge.comparison.result import Difference, Interaction, SliceDifference
from rankgauge.comparison.statistics import Statistics, one_by_one, over
from rankgauge.evaluation.slices import groups
from rankgauge.stats.correction import correct
from rankgauge.stats.interaction import RESAMPLES, interaction

SMALLEST_SLICE = 2


def sliced(
    pairs: Sequence[Pair], totals: Sequence[Difference], by: str, how: Statistics
) -> tuple[list[SliceDifference], str]:
    """The differences within the groups of a column, and over what they are corrected: all that the column shows."""
    found = [one for pair in pairs for one in _within(pair, by)]
    labels, rows = [label for label, _ in found], [row for _, row in found]
    measures = len(pairs[0].system.measures)
    family = listed(rows, how, (len(pairs), "system"), (measures, "measure"), (len(set(labels)), "group"))
    total = {(row.system, row.measure): row.difference or 0.0 for row in totals}
    return [
        SliceDifference(by, label, row, (row.difference or 0.0) * total[row.system, row.measure] < 0)
        for label, row in zip(labels, corrected(rows, family, how), strict=True)
    ], family.said


def _within(pair: Pair, by: str) -> list[tuple[str, Difference]]:
    """One system, measure by measure, in each group of at least two queries."""
    found = [
        (label, pair.differences(chosen, (by, label)))
        for label, chosen in groups(pair.system.columns, by)
        if int((chosen & pair.both).sum()) >= SMALLEST_SLICE
    ]
    return [(label, rows[place]) for place in range(len(pair.system.measures)) for label, rows in found]


def interactions(pairs: Sequence[Pair], by: Sequence[str], how: Statistics) -> tuple[list[Interaction], str]:
    """Whether groups differ, for every column, system and measure, corrected over all of them; and the correction."""
    measures = len(pairs[0].system.measures)
    found = [_interaction(pair, place, name) for name in by for pair in pairs for place in range(measures)]
    method = one_by_one(how.correction)
    adjusted = correct([one.p for one in found], method)
    said = over(method, adjusted.family, (len(by), "column"), (len(pairs), "system"), (measures, "measure"))
    return [replace(one, p_corrected=p) for one, p in zip(found, adjusted.p, strict=True)], said


def _interaction(pair: Pair, place: int, by: str) -> Interaction:
    """Whether the differences differ between the groups that have at least two queries; p is not corrected yet."""
    measure, how = pair.system.measures[place].name, pair.statistics
    found = {label: pair.values(place, pair.both & chosen) for label, chosen in groups(pair.system.columns, by)}
    large = {label: values for label, values in found.items() if len(values[0]) >= SMALLEST_SLICE}
    if len(large) < 2:
        reason = "fewer than two groups with at least two queries"
        return Interaction(by, pair.name, measure, None, None, reason)
    tested = interaction(
        np.concatenate([one - other for one, other, _ in large.values()]),
        [label for label, (one, _, _) in large.items() for _ in one],
        units=None if pair.units is None else np.concatenate([pair.units[kept] for _, _, kept in large.values()]),
        resamples=min(how.resamples, RESAMPLES),
        seed=how.seed,
        labels=(pair.base.run, pair.name, measure, by),
    )
    return Interaction(by, pair.name, measure, tested.p, tested.p, tested.reason)
