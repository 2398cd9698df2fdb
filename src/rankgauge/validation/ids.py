"""Ids with invisible characters, and queries whose lines are not contiguous."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.io.checks.invisible import INVISIBLE_CHARACTER, VISIBLE_IDS, escape_id, rows_with_invisible
from rankgauge.io.row_checks import CONTIGUOUS_LINES, resumed_rows
from rankgauge.validation.table import CheckedRows


def report_invisible_characters(table: CheckedRows) -> None:
    """Report query and document ids with control characters, no-break or zero-width spaces."""
    query_rows = np.intersect1d(rows_with_invisible(table.rows.query), table.first_rows)  # once per query is enough
    _add_invisible(table, "query", table.rows.query, query_rows)
    _add_invisible(table, "document", table.rows.doc, rows_with_invisible(table.rows.doc))


def _add_invisible(table: CheckedRows, what: str, ids: Ids, rows: Ints) -> None:
    table.add(
        INVISIBLE_CHARACTER,
        rows,
        expected=VISIBLE_IDS,
        found=lambda at: f"{what} {escape_id(ids[int(rows[at])])}",
    )


def report_split_queries(table: CheckedRows) -> None:
    """Report queries whose lines are not contiguous, at the line where each of them resumes."""
    rows = resumed_rows(table.query)
    table.add(
        "split-query",
        rows,
        expected=CONTIGUOUS_LINES,
        found=lambda at: f"{table.describe_query(int(rows[at]))} again after other queries",
    )
