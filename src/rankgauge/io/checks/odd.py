"""Warnings and notes about rows that are read all the same, whatever the format of the file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.tables import offsets_of
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.invisible import report_invisible
from rankgauge.io.checks.ranks import report_contradictions
from rankgauge.io.rows import Rows

SPLIT_QUERY = "split-query"
CONTIGUOUS_LINES = "the lines of each query to be contiguous"


def report_odd_qrels(rows: Rows) -> None:
    """Report blank lines and invisible characters."""
    rows.faults.add(
        "blank-line",
        rows.blank,
        expected="a judgment on each line",
        found="a blank line, skipped (trec_eval rejects it)",
        severity="warning",
    )
    report_invisible(rows.faults, rows.line, rows.query, rows.doc)


def report_odd_run(rows: Rows) -> None:
    """Report ranks that contradict scores, invisible characters, and queries whose rows are not contiguous."""
    query, queries = rows.query.distinct
    is_split = np.any(query[1:] < query[:-1])
    if is_split:
        resumed = resumed_rows(query)
        report_split_queries(rows.faults, rows.line[resumed], lambda at: rows.query[int(resumed[at])])
    if rows.rank is not None and len(rows):
        order = np.argsort(query, kind="stable") if is_split else np.arange(len(rows))
        rank = rows.rank.take(order)
        report_contradictions(
            rows.faults,
            rows.line[order],
            rows.query.take(order).__getitem__,
            rank.take,
            rows.value[order],
            offsets_of(query, len(queries)),
        )
    report_invisible(rows.faults, rows.line, rows.query, rows.doc)


def report_odd_rows(rows: Rows, offsets: Ints) -> None:
    """The same for rows of whole queries, each of them contiguous; ``offsets`` say where they begin."""
    if rows.rank is not None:
        report_contradictions(rows.faults, rows.line, rows.query.__getitem__, rows.rank.take, rows.value, offsets)
    report_invisible(rows.faults, rows.line, rows.query, rows.doc)


def resumed_rows(query: Ints) -> Ints:
    """The first row at which each split query resumes; queries are numbered in the order of appearance."""
    changes = np.flatnonzero(query[1:] != query[:-1]) + 1
    back = changes[query[changes] <= np.maximum.accumulate(query)[changes - 1]] if len(changes) else changes
    return np.sort(back[np.unique(query[back], return_index=True)[1]])


def report_split_queries(faults: Faults, lines: Ints, query: Callable[[int], bytes]) -> None:
    """Add the lines on which split queries resume."""
    faults.add(
        SPLIT_QUERY,
        lines,
        expected=CONTIGUOUS_LINES,
        found=lambda at: f"query {shown(query(at))} again after other queries",
        severity="note",
    )
