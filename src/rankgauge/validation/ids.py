"""Ids that are odd by themselves, and queries whose lines are scattered."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.io.checks.invisible import CODE, holding, spelt
from rankgauge.io.checks.odd import TOGETHER, taken_up_again
from rankgauge.validation.table import Table


def invisible(table: Table) -> None:
    """Query and document ids with control characters, no-break or zero-width spaces."""
    queries = np.intersect1d(holding(table.rows.query), table.first)  # once a query is enough
    _add_invisible(table, "query", table.rows.query, queries)
    _add_invisible(table, "document", table.rows.doc, holding(table.rows.doc))


def _add_invisible(table: Table, what: str, ids: Ids, rows: Ints) -> None:
    table.add(
        CODE,
        rows,
        expected="ids of characters that can be seen",
        found=lambda at: f"{what} {spelt(ids[int(rows[at])])}",
    )


def scattered(table: Table) -> None:
    """Queries whose lines do not stand together: where each of them is taken up again."""
    rows = taken_up_again(table.query)
    table.add(
        "split-query",
        rows,
        expected=TOGETHER,
        found=lambda at: f"{table.of(int(rows[at]))} again after other queries",
    )
