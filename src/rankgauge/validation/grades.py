"""Judgments: grades, documents judged twice, queries that cannot be scored."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ints, repeated
from rankgauge.core.tables import count_by
from rankgauge.errors import shown
from rankgauge.validation.table import Table


def duplicates(table: Table, *, by_subtopic: bool = False) -> None:
    """A document judged twice for a query (and subtopic): with the same grade, or with another."""
    first, again = repeated(table.rows.doc, table.rows.group(by_iter=True) if by_subtopic else table.query)
    same = table.rows.value[first] == table.rows.value[again]
    _add_twice(table, "duplicate-judgment", first[same], again[same])
    _add_twice(table, "conflicting-judgment", first[~same], again[~same])


def _add_twice(table: Table, code: str, first: Ints, again: Ints) -> None:
    grade = table.rows.value
    table.add(
        code,
        again,
        expected="one judgment of each document for a query",
        found=lambda at: (
            f"document {shown(table.rows.doc[int(again[at])])} of {table.of(int(again[at]))} again, with grade "
            f"{grade[again[at]]:g} after {grade[first[at]]:g}{table.first_on(int(first[at]))}"
        ),
    )


def low_grades(table: Table) -> None:
    """Zero and negative grades: legal, and worth knowing."""
    grade = table.rows.value
    _add_grades(table, "zero-grade", grade == 0, "grades above 0, where only relevant documents are wanted")
    _add_grades(table, "negative-grade", grade < 0, "grades from 0")


def _add_grades(table: Table, code: str, chosen: NDArray[np.bool_], expected: str) -> None:
    rows = np.flatnonzero(chosen)
    table.add(
        code,
        rows,
        expected=expected,
        found=lambda at: (
            f"grade {table.rows.value[rows[at]]:g} of document {shown(table.rows.doc[int(rows[at])])} for "
            f"{table.of(int(rows[at]))}"
        ),
    )


def without_relevant(table: Table) -> None:
    """Queries without any document of a grade above 0."""
    relevant = count_by(table.query[table.rows.value > 0], len(table.queries))
    rows = table.first[relevant == 0]
    table.add(
        "no-relevant",
        rows,
        expected="at least one relevant document a query",
        found=lambda at: f"none among {table.sizes[table.query[rows[at]]]} judged for {table.of(int(rows[at]))}",
    )
    bare = table.rows.empty
    table.add_lines(
        "no-relevant",
        np.zeros(len(bare), dtype=np.int64),
        expected="at least one relevant document a query",
        found=lambda at: f"nothing judged for query {shown(bare[at])}",
    )


def shallow(table: Table, limit: int | None) -> None:
    """Queries with fewer judged documents than wanted."""
    if limit is None:
        return
    rows = table.first[table.sizes < limit]
    table.add(
        "shallow-pool",
        rows,
        expected=f"at least {limit} judged documents a query",
        found=lambda at: f"{table.sizes[table.query[rows[at]]]} for {table.of(int(rows[at]))}",
    )
