"""Batches of rows from any table with named columns: delimited text, JSON Lines, Arrow, data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.batch import Batch
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.tables import Floats
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.names import Columns, Kind, Wanted, find_columns

SPACE = 0x20


class CellColumns(Protocol):
    """Columns by name. A cell that cannot be read becomes a fault, and an empty id or a NaN."""

    @property
    def line(self) -> Ints:
        """The line of each row; zeros if there are no lines."""

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids, none of them empty."""

    def texts(self, name: str) -> Ids:
        """A column of texts, possibly empty."""

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers."""


class NamedColumns(CellColumns, Protocol):
    """A table that knows the names of all its columns."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""


def batch_of_table(faults: Faults, table: NamedColumns, wanted: Wanted) -> Batch:
    """The rows of a table whose columns are found by their names, with a fault for each row that is wrong."""
    return batch_from_columns(
        faults, table, wanted.kind, find_columns(faults.source, table.names, wanted.kind, wanted.columns)
    )


def batch_from_columns(faults: Faults, table: CellColumns, kind: Kind, names: Columns) -> Batch:
    """The rows of a table or of a part of one; ``names`` has the column of each role.

    Ranks without scores stay ranks (``has_ranks_only``), because a query may continue in the next part.
    """
    query = table.ids(faults, names["query"], "query id")
    doc = table.ids(faults, names["doc"], "document id")
    report_surrounding_spaces(faults, query, table.line, "query id")
    report_surrounding_spaces(faults, doc, table.line, "document id")
    is_valid = (query.length > 0) & (doc.length > 0)
    if kind == "qrels":
        value = table.numbers(faults, names["grade"], "grade")
        is_valid &= grades_within_limits(faults, value, table.line, query, doc)
    elif "score" in names:
        value = table.numbers(faults, names["score"], "score")
        report_infinite_scores(faults, value, table.line, query, doc)
        is_valid &= ~np.isnan(value)
    else:
        value = table.numbers(faults, names["rank"], "rank")
        is_valid &= ~np.isnan(value)
    optional = {role: table.texts(names[role]) for role in ("iter", "rank", "tag") if role in names}
    return Batch(
        table.line,
        query,
        doc,
        value,
        iters=optional.get("iter"),
        rank=optional.get("rank"),
        tag=optional.get("tag"),
        has_ranks_only=kind == "run" and "score" not in names,
    ).select(is_valid)


def grades_within_limits(faults: Faults, grades: Floats, line: Ints, query: Ids, doc: Ids) -> NDArray[np.bool_]:
    """Which grades are within the limits, with a fault for each that is not; NaN has its fault already."""
    bad_rows = np.flatnonzero(np.abs(grades) > LARGEST_GRADE)
    faults.add(
        "grade",
        line[bad_rows],
        expected=f"a number from {-LARGEST_GRADE} to {LARGEST_GRADE} as grade",
        found=lambda at: f"{grades[bad_rows[at]]:g}" + _describe_row(faults, query, doc, int(bad_rows[at])),
    )
    return np.abs(grades) <= LARGEST_GRADE


def report_infinite_scores(faults: Faults, scores: Floats, line: Ints, query: Ids, doc: Ids) -> None:
    """Add a warning for infinite scores: they can be ordered, but seldom mean anything."""
    infinite_rows = np.flatnonzero(np.isinf(scores))
    faults.add(
        "infinite-score",
        line[infinite_rows],
        expected="a finite score",
        found=lambda at: f"{scores[infinite_rows[at]]:g}" + _describe_row(faults, query, doc, int(infinite_rows[at])),
        severity="warning",
    )


def report_surrounding_spaces(faults: Faults, ids: Ids, line: Ints, what: str) -> None:
    """Add a warning for ids with leading or trailing spaces: ids are exact, and match only ids with the same spaces."""
    if not len(ids) or ids.has_visible_ascii_only:
        return
    last_bytes = ids.buffer[ids.start + np.maximum(ids.length - 1, 0)]
    spaced_rows = np.flatnonzero((ids.length > 0) & ((ids.buffer[ids.start] == SPACE) | (last_bytes == SPACE)))
    faults.add(
        "blank-around-id",
        line[spaced_rows],
        expected=f"a {what} without leading or trailing spaces",
        found=lambda at: f"{shown(ids[int(spaced_rows[at])])}, used as it is",
        severity="warning",
    )


def scores_from_ranks(faults: Faults, rows: Batch) -> Batch:
    """Rows of whole queries whose value is a rank, with scores in that order: the deepest rank of a query gets 1."""
    rank, group = rows.value, rows.group(by_tag=True)
    bad_rows = np.flatnonzero((rank < 0) | (rank != np.floor(rank)) | (rank > 2**53))
    faults.add(
        "rank",
        rows.line[bad_rows],
        expected="a whole number as rank",
        found=lambda at: f"{rank[bad_rows[at]]:g}" + _describe_row(faults, rows.query, rows.doc, int(bad_rows[at])),
    )
    order = np.lexsort((rank, group))
    is_repeated = (rank[order][1:] == rank[order][:-1]) & (group[order][1:] == group[order][:-1])
    repeated_rows = order[1:][is_repeated]
    faults.add(
        "duplicate-rank",
        rows.line[repeated_rows],
        expected="each rank once per query",
        found=lambda at: (
            f"rank {rank[repeated_rows[at]]:.0f} again for query {shown(rows.query[int(repeated_rows[at])])}"
        ),
    )
    deepest = np.zeros(int(group.max(initial=-1)) + 1)
    np.maximum.at(deepest, group, rank)
    with np.errstate(invalid="ignore"):  # an infinite rank is a fault already
        return replace(rows, value=deepest[group] + 1 - rank, has_ranks_only=False)


def _describe_row(faults: Faults, query: Ids, doc: Ids, row: int) -> str:
    """The query and document of a row, if the source has no lines."""
    return "" if faults.has_lines else f" for document {shown(doc[row])} of query {shown(query[row])}"
