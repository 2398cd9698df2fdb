"""The results of each query: their scores, how many there are, and which run they say they are of."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import repeated, seeds
from rankgauge.errors import shown
from rankgauge.validation.table import NONE, Table

CUTOFFS = (10, 100, 1000)


def duplicates(table: Table) -> None:
    """A document that stands twice in the results of a query."""
    first, again = repeated(table.rows.doc, table.query)
    table.add(
        "duplicate-document",
        again,
        expected="each document once in a query's results",
        found=lambda at: (
            f"document {shown(table.rows.doc[int(again[at])])} again for {table.of(int(again[at]))}"
            f"{table.first_on(int(first[at]))}"
        ),
    )


def tie(table: Table, cutoff: int) -> None:
    """Scores that are the same (as float32) on both sides of a cutoff."""
    ranked = table.ranking
    rows = np.flatnonzero((ranked.rank == cutoff) & (ranked.tie_last > cutoff))
    table.add(
        "tie-at-cutoff",
        rows,
        expected="a score above the cutoff that is higher than the next",
        found=lambda at: (
            f"the same score, {table.rows.value[rows[at]]:g}, at ranks {ranked.tie_first[rows[at]]} to "
            f"{ranked.tie_last[rows[at]]} of {table.of(int(rows[at]))} (cutoff {cutoff})"
        ),
    )


def deep(table: Table, limit: int | None) -> None:
    """Queries with more results than allowed."""
    if limit is None:
        return
    rows = np.flatnonzero(table.ranking.rank == limit + 1)
    table.add(
        "too-deep",
        rows,
        expected=f"at most {limit} results a query",
        found=lambda at: f"{table.sizes[table.query[rows[at]]]} for {table.of(int(rows[at]))}",
    )


def shallow(table: Table, limit: int | None) -> None:
    """Queries with fewer results than wanted."""
    if limit is None:
        return
    rows = table.first[table.sizes < limit]
    table.add(
        "shallow-query",
        rows,
        expected=f"at least {limit} results a query",
        found=lambda at: f"{table.sizes[table.query[rows[at]]]} for {table.of(int(rows[at]))}",
    )


def tags(table: Table) -> None:
    """Run tags other than the first one: the first line of each."""
    tag = table.rows.tag
    if tag is None or not len(table):
        return
    rows = np.arange(len(tag))
    other = np.flatnonzero(~tag.same(rows, tag, np.zeros_like(rows)))
    if len(other):
        hashes = tag.take(other).hash(seeds(np.zeros_like(other)))
        other = np.sort(other[np.unique(hashes, return_index=True)[1]])
    table.add(
        "mixed-tags",
        other if len(other) else NONE,
        expected=lambda at: f"one tag, {shown(tag[0])}",
        found=lambda at: shown(tag[int(other[at])]),
    )
