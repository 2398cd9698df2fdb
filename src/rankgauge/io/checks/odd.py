"""What is read all the same, and a careful reader wants to know: said of a file's rows, whatever its format."""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import Interner, Ints
from rankgauge.core.tables import offsets_of
from rankgauge.errors import shown
from rankgauge.io.checks.invisible import add_invisible
from rankgauge.io.checks.ranks import add_contradictions
from rankgauge.io.rows import Rows

TOGETHER = "the lines of a query together"


def look_at_qrels(rows: Rows) -> None:
    """Blank lines and invisible characters."""
    rows.faults.add(
        "blank-line",
        rows.blank,
        expected="a judgment on each line",
        found="nothing, skipped (trec_eval refuses it)",
        severity="warning",
    )
    add_invisible(rows.faults, rows.line, rows.query, rows.doc)


def look_at_run(rows: Rows) -> None:
    """Ranks that contradict scores, invisible characters, and queries whose rows do not stand together."""
    intern = Interner()
    query = intern(rows.query)
    apart = np.any(query[1:] < query[:-1])
    if apart:
        _add_split(rows, query)
    if rows.rank is not None and len(rows):
        by = np.argsort(query, kind="stable") if apart else np.arange(len(rows))
        rank = rows.rank.take(by)
        add_contradictions(
            rows.faults,
            rows.line[by],
            rows.query.take(by).__getitem__,
            rank.take,
            rows.value[by],
            offsets_of(query, len(intern.numbers)),
        )
    add_invisible(rows.faults, rows.line, rows.query, rows.doc)


def taken_up_again(query: Ints) -> Ints:
    """Of each query whose rows stand apart, the first that does; queries are numbered as they come."""
    changes = np.flatnonzero(query[1:] != query[:-1]) + 1
    back = changes[query[changes] <= np.maximum.accumulate(query)[changes - 1]] if len(changes) else changes
    return np.sort(back[np.unique(query[back], return_index=True)[1]])


def _add_split(rows: Rows, query: Ints) -> None:
    again = taken_up_again(query)
    rows.faults.add(
        "split-query",
        rows.line[again],
        expected=TOGETHER,
        found=lambda at: f"query {shown(rows.query[int(again[at])])} again after other queries",
        severity="note",
    )
