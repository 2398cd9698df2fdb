"""Rows out of any table with named columns: delimited text, JSON Lines, Arrow, data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.tables import Floats
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.names import Columns, Kind, find
from rankgauge.io.rows import Rows


class Table(Protocol):
    """Columns by name. What cannot be read of a cell becomes a fault, and an empty id or a NaN here."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def line(self) -> Ints:
        """The line of each row; zeros where there are no lines."""

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids, none of them empty."""

    def texts(self, name: str) -> Ids:
        """A column of texts, perhaps empty."""

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers."""


def rows_of(faults: Faults, table: Table, kind: Kind, columns: Columns | None = None) -> Rows:
    """The rows of a table, with a fault for each that is wrong."""
    found = find(faults.source, table.names, kind, columns)
    query = table.ids(faults, found["query"], "query id")
    doc = table.ids(faults, found["doc"], "document id")
    note_blanks(faults, query, table.line, "query id")
    note_blanks(faults, doc, table.line, "document id")
    good = (query.length > 0) & (doc.length > 0)
    if kind == "qrels":
        value = table.numbers(faults, found["grade"], "grade")
        good &= graded(faults, value, table.line, query, doc)
    elif "score" in found:
        value = table.numbers(faults, found["score"], "score")
        note_infinite(faults, value, table.line, query, doc)
        good &= ~np.isnan(value)
    else:
        value = table.numbers(faults, found["rank"], "rank")
        good &= ~np.isnan(value)
    more = {role: table.texts(found[role]) for role in ("iter", "rank", "tag") if role in found}
    rows = Rows(
        faults, table.line, query, doc, value, iters=more.get("iter"), rank=more.get("rank"), tag=more.get("tag")
    ).kept(good)
    return rows if kind == "qrels" or "score" in found else scored_by_rank(rows)


def graded(faults: Faults, grades: Floats, line: Ints, query: Ids, doc: Ids) -> NDArray[np.bool_]:
    """Which grades are within the limits; NaN has its fault already."""
    bad = np.flatnonzero(np.abs(grades) > LARGEST_GRADE)
    faults.add(
        "grade",
        line[bad],
        expected=f"a number from {-LARGEST_GRADE} to {LARGEST_GRADE} as grade",
        found=lambda at: f"{grades[bad[at]]:g}" + _of(line, query, doc, int(bad[at])),
    )
    return np.abs(grades) <= LARGEST_GRADE


def note_infinite(faults: Faults, scores: Floats, line: Ints, query: Ids, doc: Ids) -> None:
    """Warn of infinite scores: they have a place in an order, but seldom a meaning."""
    infinite = np.flatnonzero(np.isinf(scores))
    faults.add(
        "infinite-score",
        line[infinite],
        expected="a finite score",
        found=lambda at: f"{scores[infinite[at]]:g}" + _of(line, query, doc, int(infinite[at])),
        severity="warning",
    )


def note_blanks(faults: Faults, ids: Ids, line: Ints, what: str) -> None:
    """Warn of ids with blanks around them: they are exact, and match only ids that have the same."""
    if not len(ids):
        return
    last = ids.buffer[ids.start + np.maximum(ids.length - 1, 0)]
    odd = np.flatnonzero((ids.length > 0) & ((ids.buffer[ids.start] == 0x20) | (last == 0x20)))
    faults.add(
        "blank-around-id",
        line[odd],
        expected=f"a {what} without blanks around it",
        found=lambda at: f"{shown(ids[int(odd[at])])}, taken as it stands",
        severity="warning",
    )


def scored_by_rank(rows: Rows) -> Rows:
    """Rows whose value is a rank, with scores that make that order: the deepest rank of a query gets 1."""
    rank, group = rows.value, rows.group()
    bad = np.flatnonzero((rank < 0) | (rank != np.floor(rank)) | (rank > 2**53))
    rows.faults.add(
        "rank",
        rows.line[bad],
        expected="a whole number as rank",
        found=lambda at: f"{rank[bad[at]]:g}" + _of(rows.line, rows.query, rows.doc, int(bad[at])),
    )
    by = np.lexsort((rank, group))
    twice = by[1:][(rank[by][1:] == rank[by][:-1]) & (group[by][1:] == group[by][:-1])]
    rows.faults.add(
        "duplicate-rank",
        rows.line[twice],
        expected="each rank once in a query's results",
        found=lambda at: f"rank {rank[twice[at]]:.0f} again for query {shown(rows.query[int(twice[at])])}",
    )
    deepest = np.zeros(int(group.max(initial=-1)) + 1)
    np.maximum.at(deepest, group, rank)
    return replace(rows, value=deepest[group] + 1 - rank)


def _of(line: Ints, query: Ids, doc: Ids, row: int) -> str:
    """The query and document of a row that has no line."""
    return "" if line[row] else f" for document {shown(doc[row])} of query {shown(query[row])}"
