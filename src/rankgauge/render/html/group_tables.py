"""The tables of query groups: every system in every group of a column, one table per measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.remarks import group_remarks
from rankgauge.comparison.result import Comparison, GroupDifference
from rankgauge.core.formatting import compact_number
from rankgauge.evaluation.groups import groups, mean_of
from rankgauge.evaluation.scores import Scores
from rankgauge.render.html.marks import NO_MARK, Mark, difference_text, mark_of

MAX_TABLE_GROUPS = 20
MAX_GROUP_TABLES = 8

Bools = NDArray[np.bool_]
GroupMean = tuple[float | None, int]  # and the number of queries


@dataclass(frozen=True)
class GroupCell:
    """One system in one group of queries."""

    value: str
    difference: str = ""
    mark: Mark = NO_MARK
    opposite: bool = False  # whether the difference is opposite to the overall direction


@dataclass(frozen=True)
class GroupRow:
    """All systems in one group of queries."""

    label: str
    queries: int
    cells: tuple[GroupCell, ...]


@dataclass(frozen=True)
class GroupTable:
    """One measure over the groups of one column."""

    by: str
    measure: str
    rows: tuple[GroupRow, ...]
    omitted: int  # groups that are not shown
    remarks: tuple[str, ...]  # whether groups differ


def group_tables(
    scores: Sequence[Scores], by: Sequence[str], comparison: Comparison | None
) -> Iterator[list[GroupTable]]:
    """For each column, its tables: one per measure, the first measure first."""
    for column in by:
        members = [list(groups(run_scores.columns, column)) for run_scores in scores]
        yield [
            _group_table(column, index, scores, [*map(partial(_means, index), scores, members)], comparison)
            for index in range(min(len(scores[0].measures), MAX_GROUP_TABLES))
        ]


def _means(index: int, scores: Scores, members: Sequence[tuple[str, Bools]]) -> dict[str, GroupMean]:
    """The mean of a measure in each group, by label, and over how many queries."""
    column = np.where(scores.averaged, scores.values[:, index], np.nan)
    values = {label: column[own & ~np.isnan(column)] for label, own in members}
    return {label: (mean_of(own), len(own)) for label, own in values.items()}


def _group_table(
    by: str, index: int, scores: Sequence[Scores], means: Sequence[dict[str, GroupMean]], comparison: Comparison | None
) -> GroupTable:
    measure = scores[0].measures[index].name
    by_size = sorted(means[0], key=lambda label: (-means[0][label][1], label))
    differences = {
        (row.label, row.difference.system): row
        for row in (() if comparison is None else comparison.groups)
        if (row.by, row.difference.measure) == (by, measure)
    }
    rows = []
    for label in sorted(by_size[:MAX_TABLE_GROUPS]):
        cells = [
            _group_cell(comparison, differences.get((label, run_scores.run)), run_means[label][0])
            for run_scores, run_means in zip(scores, means, strict=True)
        ]
        rows.append(GroupRow(label, max(run_means[label][1] for run_means in means), tuple(cells)))
    remarks = () if comparison is None else tuple(group_remarks(comparison, by, measure))
    return GroupTable(by, measure, tuple(rows), len(by_size) - len(rows), remarks)


def _group_cell(comparison: Comparison | None, row: GroupDifference | None, mean: float | None) -> GroupCell:
    if comparison is None or row is None:
        return GroupCell(compact_number(mean))
    mark = mark_of(comparison, row.difference)
    return GroupCell(compact_number(mean), difference_text(row.difference), mark, row.opposite)
