"""The results of each query: duplicates, ties, depth, and run tags."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import repeated, seeds
from rankgauge.errors import shown
from rankgauge.io.formats.tokens import NO_LINES
from rankgauge.io.row_checks import ONE_DOCUMENT_ONCE
from rankgauge.validation.table import CheckedRows


def report_duplicate_documents(table: CheckedRows) -> None:
    """Report documents that appear twice in the ranking of a query."""
    first_rows, repeated_rows = repeated(table.rows.doc, table.query)
    table.add(
        "duplicate-document",
        repeated_rows,
        expected=ONE_DOCUMENT_ONCE,
        found=lambda at: (
            f"document {shown(table.rows.doc[int(repeated_rows[at])])} again for "
            f"{table.describe_query(int(repeated_rows[at]))}{table.first_place(int(first_rows[at]))}"
        ),
    )


def report_tie_at_cutoff(table: CheckedRows, cutoff: int) -> None:
    """Report scores that are equal (as float32) above and below a cutoff."""
    ranked = table.ranking
    rows = np.flatnonzero((ranked.rank == cutoff) & (ranked.tie_last > cutoff))
    table.add(
        "tie-at-cutoff",
        rows,
        expected="a score above the cutoff that is higher than the next",
        found=lambda at: (
            f"the same score, {table.rows.value[rows[at]]:g}, at ranks {ranked.tie_first[rows[at]]} to "
            f"{ranked.tie_last[rows[at]]} of {table.describe_query(int(rows[at]))} (cutoff {cutoff})"
        ),
    )


def report_deep_queries(table: CheckedRows, limit: int | None) -> None:
    """Report queries with more results than allowed."""
    if limit is None:
        return
    rows = np.flatnonzero(table.ranking.rank == limit + 1)
    table.add(
        "too-deep",
        rows,
        expected=f"at most {limit} results per query",
        found=lambda at: f"{table.sizes[table.query[rows[at]]]} for {table.describe_query(int(rows[at]))}",
    )


def report_shallow_queries(table: CheckedRows, limit: int | None) -> None:
    """Report queries with fewer results than required."""
    if limit is None:
        return
    rows = table.first_rows[table.sizes < limit]
    table.add(
        "shallow-query",
        rows,
        expected=f"at least {limit} results per query",
        found=lambda at: f"{table.sizes[table.query[rows[at]]]} for {table.describe_query(int(rows[at]))}",
    )


def report_mixed_tags(table: CheckedRows) -> None:
    """Report run tags that differ from the first one: the first line of each."""
    tag = table.rows.tag
    if tag is None or not len(table):
        return
    rows = np.arange(len(tag))
    different_rows = np.flatnonzero(~tag.same(rows, tag, np.zeros_like(rows)))
    if len(different_rows):
        hashes = tag.take(different_rows).hash(seeds(np.zeros_like(different_rows)))
        different_rows = np.sort(different_rows[np.unique(hashes, return_index=True)[1]])
    table.add(
        "mixed-tags",
        different_rows if len(different_rows) else NO_LINES,
        expected=lambda at: f"one tag, {shown(tag[0])}",
        found=lambda at: shown(tag[int(different_rows[at])]),
    )
