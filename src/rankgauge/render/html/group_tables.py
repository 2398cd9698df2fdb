"""The tables of query groups: every system in every group of a column, one table per measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankgauge.comparison.remarks import group_remarks
from rankgauge.comparison.result import Comparison, GroupDifference
from rankgauge.core.formatting import compact_number
from rankgauge.evaluation.groups import GroupSummary
from rankgauge.evaluation.scores import Scores
from rankgauge.render.html.marks import NO_MARK, Mark, difference_text, mark_of

MAX_TABLE_GROUPS = 20
MAX_GROUP_TABLES = 8


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
        groups = [run_scores.by(column) for run_scores in scores]
        measures = scores[0].measures[:MAX_GROUP_TABLES]
        yield [_group_table(column, measure.name, scores, groups, comparison) for measure in measures]


def _group_table(
    by: str,
    measure: str,
    scores: Sequence[Scores],
    groups: Sequence[Sequence[GroupSummary]],
    comparison: Comparison | None,
) -> GroupTable:
    means = [{group.label: group for group in run_groups if group.measure == measure} for run_groups in groups]
    by_size = sorted(means[0], key=lambda label: (-means[0][label].n, label))
    differences = {
        (row.label, row.difference.system): row
        for row in (() if comparison is None else comparison.groups)
        if (row.by, row.difference.measure) == (by, measure)
    }
    rows = []
    for label in sorted(by_size[:MAX_TABLE_GROUPS]):
        cells = [
            _group_cell(comparison, differences.get((label, run_scores.run)), run_means[label].mean)
            for run_scores, run_means in zip(scores, means, strict=True)
        ]
        rows.append(GroupRow(label, max(run_means[label].n for run_means in means), tuple(cells)))
    remarks = () if comparison is None else tuple(group_remarks(comparison, by, measure))
    return GroupTable(by, measure, tuple(rows), len(by_size) - len(rows), remarks)


def _group_cell(comparison: Comparison | None, row: GroupDifference | None, mean: float | None) -> GroupCell:
    if comparison is None or row is None:
        return GroupCell(compact_number(mean))
    mark = mark_of(comparison, row.difference)
    return GroupCell(compact_number(mean), difference_text(row.difference), mark, row.opposite)
