"""Differences within groups of queries, and whether they differ between groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankgauge.comparison.family import Hypothesis, make_family
from rankgauge.comparison.pair import Pair
from rankgauge.comparison.result import Difference, GroupDifference, Interaction
from rankgauge.comparison.shared_queries import Mask
from rankgauge.comparison.statistics import (
    CORRECTION_LABELS,
    Statistics,
    describe_family,
    separate_correction,
    separately_corrected,
)
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Column
from rankgauge.evaluation.groups import groups
from rankgauge.stats.correction import correct
from rankgauge.stats.group_interaction import interaction
from rankgauge.stats.samples import unit_numbers
from rankgauge.stats.seeds import RESAMPLES, Resampling

MIN_GROUP_SIZE = 2


def group_differences(
    pairs: Sequence[Pair], totals: Sequence[Difference], by: str, statistics: Statistics
) -> tuple[list[GroupDifference], str]:
    """The differences within the groups of a column, and the family they are corrected over: the whole column."""
    labeled = [(label, cell) for pair in pairs for label, cell in _cells(pair, by)]
    labels = [label for label, _ in labeled]
    if not labeled:
        return [], CORRECTION_LABELS["none"]
    factors = (len(pairs), "system"), (len(pairs[0].system.measures), "measure"), (len(set(labels)), "group")
    strata = _strata([members for _, members in groups(pairs[0].system.columns, by)], pairs[0].units)
    family = make_family([cell for _, cell in labeled], separately_corrected(statistics), *factors, strata=strata)
    total = {(row.system, row.measure): row.difference or 0.0 for row in totals}
    return [
        GroupDifference(by, label, row, _is_opposite(row, total[row.system, row.measure], statistics.alpha))
        for label, row in zip(labels, family.rows, strict=True)
    ], family.description


def _strata(groups: Sequence[Mask], units: Column | None) -> Column | None:
    """The group of each query, so that draws keep the sizes of groups; None if a unit belongs to several."""
    stratum = np.zeros(len(groups[0]), dtype=np.int64)
    for number, members in enumerate(groups, start=1):
        stratum[members] = number
    if units is None or len({*zip(units.tolist(), stratum.tolist(), strict=True)}) == len(set(units.tolist())):
        return stratum
    return None


def _is_opposite(row: Difference, total: float, alpha: float) -> bool:
    """Whether a group differs significantly, and against the overall direction."""
    return row.is_significant(alpha) and (row.difference or 0.0) * total < 0


def _cells(pair: Pair, by: str) -> list[tuple[str, Hypothesis]]:
    """One system, measure by measure, in each group that is large enough."""
    by_group = [
        (label, members & pair.shared)
        for label, members in groups(pair.system.columns, by)
        if int((members & pair.shared).sum()) >= MIN_GROUP_SIZE
    ]
    return [
        (label, Hypothesis(pair, column, members))
        for column in range(len(pair.system.measures))
        for label, members in by_group
    ]


def interactions(pairs: Sequence[Pair], by: Sequence[str], statistics: Statistics) -> tuple[list[Interaction], str]:
    """Whether groups differ, per column, system and measure, corrected over all of them; and that family."""
    measures = len(pairs[0].system.measures)
    alpha = statistics.strictest_alpha(len(by) * len(pairs) * measures)
    tests = [_interaction(pair, index, column, alpha) for column in by for pair in pairs for index in range(measures)]
    method = separate_correction(statistics.correction)
    corrected = correct([test.p for test in tests], method)
    factors = (len(by), "column"), (len(pairs), "system"), (measures, "measure")
    family = describe_family(method, corrected.family, *factors)
    return [replace(test, p_corrected=p) for test, p in zip(tests, corrected.p, strict=True)], family


def _interaction(pair: Pair, index: int, by: str, alpha: float) -> Interaction:
    """Whether the differences differ between the groups that are large enough; p is not corrected yet.

    ``alpha`` is the strictest level that the correction can leave to this p, which must be small enough to reach it.
    """
    measure, statistics = pair.system.measures[index].name, pair.statistics
    values = pair.values(index, pair.shared)
    rows = np.cumsum(values.kept) - 1  # of the values, which only some queries have
    by_label = {label: np.flatnonzero(members & values.kept) for label, members in groups(pair.system.columns, by)}
    large = {label: queries for label, queries in by_label.items() if _units(pair, queries) >= MIN_GROUP_SIZE}
    if len(large) < 2:
        noun = "queries" if pair.units is None else "units"
        reason = f"fewer than two groups with at least {MIN_GROUP_SIZE} {noun}"
        return Interaction(by, pair.name, measure, None, None, reason)
    queries = np.concatenate(list(large.values()))
    tested = interaction(
        (values.system - values.baseline)[rows[queries]],
        [label for label, members in large.items() for _ in members],
        units=None if pair.units is None else pair.units[queries],
        alpha=alpha,
        resampling=Resampling(min(statistics.resamples or RESAMPLES, RESAMPLES), statistics.seed, (measure, by)),
    )
    return Interaction(by, pair.name, measure, tested.p, tested.p, tested.reason)


def _units(pair: Pair, queries: Ints) -> int:
    """The number of units among some queries; without units each query is one."""
    return len(queries) if pair.units is None else len(set(unit_numbers(pair.units[queries], len(queries)).tolist()))
