"""Differences that are tested and corrected together: over all queries, and within groups.

The first measure is the primary one: it carries the answer, and its systems are corrected for each other only. All
other measures are secondary, and are one family with all systems; those of which lower is better are another, so that
guarding against leaks or false answers costs the others no power. If there is no baseline that was chosen, three or
more systems are compared in all pairs (``system_ranking``); here, each is compared with the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.comparison.differences import Difference, GroupDifference, Mask, Pair
from rankgauge.comparison.significance import PairedColumns, difference_range, family_tests
from rankgauge.comparison.statistics_options import (
    NOT_CORRECTED,
    Statistics,
    describe_family,
)
from rankgauge.evaluation.query_groups import groups
from rankgauge.measures.measure import Direction

OTHERS, LOWER = "other measures", "lower is better"  # names of families


@dataclass(frozen=True)
class Hypothesis:
    """A system on a measure, over some of the queries that it shares with the baseline."""

    pair: Pair
    column: int
    queries: Mask

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return self.pair.system.measures[self.column].name

    @property
    def direction(self) -> Direction:
        """The sign of an improvement of the measure."""
        return self.pair.system.measures[self.column].definition.direction


@dataclass(frozen=True)
class Family:
    """Differences that were corrected together."""

    rows: tuple[Difference, ...]
    size: int  # the number of p values corrected for
    description: str
    name: str = ""


def cells_of(pairs: Sequence[Pair], columns: Sequence[int]) -> list[Hypothesis]:
    """Every system on some of the measures."""
    return [Hypothesis(pair, column, pair.shared) for pair in pairs for column in columns]


def paired_columns(cells: Sequence[Hypothesis]) -> PairedColumns:
    """The values behind the cells."""
    values = [cell.pair.masked_values(cell.column, cell.queries) for cell in cells]
    return PairedColumns(
        np.column_stack([system for system, _ in values]),
        np.column_stack([baseline for _, baseline in values]),
        tuple(difference_range(cell.pair.system.measures[cell.column]) for cell in cells),
        cells[0].pair.units,
    )


def make_family(cells: Sequence[Hypothesis], statistics: Statistics, *factors: tuple[int, str]) -> Family:
    """Test the cells together; ``factors`` say what they are."""
    tested = family_tests(paired_columns(cells), statistics)
    rows = [cell.pair.difference(cell.column, cell.queries, test) for cell, test in zip(cells, tested, strict=True)]
    rows = [with_queries_needed(row, statistics) for row in rows]
    size = sum(row.p is not None for row in rows)
    return Family(tuple(rows), size, describe_family(statistics.correction, size, *factors))


def baseline_family(pairs: Sequence[Pair], columns: Sequence[int], statistics: Statistics) -> Family | None:
    """Every system against the baseline on some of the measures; None without any."""
    if not columns:
        return None
    factors = [(len(pairs), "system"), *([] if columns[0] == 0 else [(len(columns), "measure")])]
    return make_family(cells_of(pairs, columns), statistics, *factors)


def family_columns(pairs: Sequence[Pair]) -> dict[str, list[int]]:
    """The measures of each family, by its name: the primary one, the others, and those of which lower is better."""
    primary, *others = pairs[0].system.measures
    columns: dict[str, list[int]] = {f"{primary.shown} (primary)": [0], OTHERS: [], LOWER: []}
    for column, measure in enumerate(others, 1):
        columns[LOWER if measure.definition.direction < 0 else OTHERS].append(column)
    return {name: found for name, found in columns.items() if found}


def family_sizes(families: Sequence[Family]) -> tuple[int, ...]:
    """The number of p values of the primary measure, of the others, and of those of which lower is better, if any."""
    sizes = {family.name: family.size for family in families}
    return families[0].size, sizes.get(OTHERS, 0), *([sizes[LOWER]] if LOWER in sizes else [])


def describe_families(families: Sequence[Family], statistics: Statistics) -> str:
    """The test, and the correction of each family."""
    parts = [statistics.description]
    if len(families) == 1:
        parts.append(families[0].description)
    else:
        parts += [f"{family.name}: {family.description}" for family in families]
    return "; ".join(parts)


def with_queries_needed(row: Difference, statistics: Statistics) -> Difference:
    """The row with the number of queries whose minimum detectable difference is the target difference.

    It shrinks with the square root of the number of queries.
    """
    target = statistics.target_difference
    if target is None or row.aggregate != "mean" or row.detectable is None:
        return row
    return replace(row, queries_needed=math.ceil(row.n * (row.detectable / target) ** 2))


# Differences within groups of queries.

MIN_GROUP_SIZE = 2


def group_differences(
    pairs: Sequence[Pair], totals: Sequence[Difference], by: str, statistics: Statistics
) -> tuple[list[GroupDifference], str]:
    """The differences within the groups of a column, and the family they are corrected over: the whole column."""
    labeled = [(label, cell) for pair in pairs for label, cell in _cells(pair, by)]
    labels = [label for label, _ in labeled]
    if not labeled:
        return [], NOT_CORRECTED
    total = {(row.system, row.measure): row.difference or 0.0 for row in totals}
    found: dict[int, GroupDifference] = {}
    descriptions: list[str] = []
    for is_lower in (False, True):
        members = [place for place, (_, cell) in enumerate(labeled) if (cell.direction < 0) == is_lower]
        if not members:
            continue
        cells = [labeled[place][1] for place in members]
        measures = len({cell.measure for cell in cells})
        factors = (len(pairs), "system"), (measures, "measure"), (len(set(labels)), "group")
        family = make_family(cells, statistics, *factors)
        descriptions.append(f"lower is better: {family.description}" if descriptions else family.description)
        for place, row in zip(members, family.rows, strict=True):
            is_opposite = _is_opposite(row, total[row.system, row.measure], statistics.alpha)
            found[place] = GroupDifference(by, labels[place], row, is_opposite)
    return [found[place] for place in range(len(labeled))], "; ".join(descriptions)


def _is_opposite(row: Difference, total: float, alpha: float) -> bool:
    """Whether a group differs significantly, and against the overall direction."""
    return row.is_significant(alpha) and (row.difference or 0.0) * total < 0


def _cells(pair: Pair, by: str) -> list[tuple[str, Hypothesis]]:
    """One system, on each measure that can be compared, in each group that is large enough."""
    by_group = [
        (label, members & pair.shared)
        for label, members in groups(pair.system.columns, by)
        if int((members & pair.shared).sum()) >= MIN_GROUP_SIZE
    ]
    return [
        (label, Hypothesis(pair, column, members))
        for column in range(len(pair.system.measures))
        if column not in pair.problems
        for label, members in by_group
    ]
