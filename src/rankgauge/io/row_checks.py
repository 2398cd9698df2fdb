"""Checks that listen to the rows of a source as they are read, whatever its format. They change nothing.

What is wrong or odd is added to the faults of the source, with its line; which of it stops an evaluation is decided by
its severity there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.core.ids import Ints, repeated
from rankgauge.core.qrels import JudgmentKind
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.invisible import report_invisible
from rankgauge.io.checks.ranks import report_contradictions

SPLIT_QUERY = "split-query"
CONTIGUOUS_LINES = "the lines of each query to be contiguous"
ONE_DOCUMENT_ONCE = "each document once in the ranking of a query"
ONE_JUDGMENT = "one judgment of each document for a query"
ONE_JUDGMENT_PER_GROUP = "one judgment of each document by a group (and subgroup) for a query"
EXPECTED_JUDGMENTS: dict[JudgmentKind, str] = {
    "grades": ONE_JUDGMENT,
    "groups": ONE_JUDGMENT_PER_GROUP,
    "preferences": ONE_JUDGMENT_PER_GROUP,
    "subtopics": "one judgment of each document for a subtopic of a query",
}
DUPLICATE_HINT = "keep each document once per query, or keep the first: on_duplicate='first', --on-duplicate first"


# -- results ----------------------------------------------------------------------------------------------------


def check_results(faults: Faults, rows: Batch, offsets: Ints, max_id_bytes: int) -> None:
    """Report what is odd in rows of whole queries, each of them contiguous; ``offsets`` say where they begin."""
    report_long_ids(faults, rows, max_id_bytes)
    if rows.rank is not None:
        report_contradictions(faults, rows.line, rows.query.__getitem__, rows.rank.take, rows.value, offsets)
    if not rows.is_visible:
        report_invisible(faults, rows.line, rows.query, rows.doc)


def report_duplicates(faults: Faults, rows: Batch, first_rows: Ints, repeated_rows: Ints) -> None:
    """Add documents that appear twice in the ranking of a query."""

    def describe(at: int) -> str:
        row = int(repeated_rows[at])
        place = _first_place(faults, rows, int(first_rows[at]))
        return f"document {shown(rows.doc[row])} again for query {shown(rows.query[row])}{place}"

    faults.add(
        "duplicate-document",
        rows.line[repeated_rows],
        expected=ONE_DOCUMENT_ONCE,
        found=describe,
        action=DUPLICATE_HINT,
    )


def report_long_ids(faults: Faults, rows: Batch, limit: int) -> None:
    """Add a fault for each id that is longer than a line may be."""
    for what, ids in (("query id", rows.query), ("document id", rows.doc)):
        if int(ids.length.max(initial=0)) <= limit:
            continue
        long_rows = np.flatnonzero(ids.length > limit)
        lengths = ids.length[long_rows].tolist()
        faults.add(
            "long-id",
            rows.line[long_rows],
            expected=f"a {what} of at most {limit} bytes",
            found=[str(length) for length in lengths].__getitem__,
            action="raise the limit: --set reading.max_line=SIZE",
        )


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


# -- judgments --------------------------------------------------------------------------------------------------


def check_judgments(faults: Faults, rows: Batch) -> None:
    """Report what is odd in all judgments of a source: blank lines and invisible characters."""
    faults.add(
        "blank-line",
        rows.blank,
        expected="a judgment on each line",
        found="a blank line, skipped (trec_eval rejects it)",
        severity="warning",
    )
    report_invisible(faults, rows.line, rows.query, rows.doc)


def report_repeated_judgments(faults: Faults, rows: Batch, judgments: JudgmentKind, *, by_iter: bool = False) -> None:
    """Add documents with two judgments: for a query, for a query and iter or subtopic, or by a judgment group."""
    is_grouped = judgments != "grades"
    group = rows.group(by_iter=by_iter or is_grouped, by_subgroup=is_grouped)
    first_rows, repeated_rows = repeated(rows.doc, group)
    if len(repeated_rows) and not by_iter and not is_grouped:
        check_no_subtopics(faults, rows, group, first_rows, repeated_rows)
    agree = rows.value[first_rows] == rows.value[repeated_rows]

    def describe(at: int) -> str:
        first, again = int(first_rows[at]), int(repeated_rows[at])
        grades = ", with the same grade" if agree[at] else f", {rows.value[first]:g} and {rows.value[again]:g}"
        judged_for = _judged_for(rows, again, judgments)
        return f"document {shown(rows.doc[again])} judged again {judged_for}{_first_place(faults, rows, first)}{grades}"

    faults.add(
        "duplicate-judgment",
        rows.line[repeated_rows],
        expected=EXPECTED_JUDGMENTS[judgments],
        found=describe,
        action=lambda at: "keep one of the two" + (", as `rankgauge qrels validate --fix` does" if agree[at] else ""),
    )


def _judged_for(rows: Batch, row: int, judgments: JudgmentKind) -> str:
    """The query of a judgment, and its group or subtopic."""
    query = f"query {shown(rows.query[row])}"
    if judgments == "grades" or rows.iters is None:
        return f"for {query}"
    group = shown(rows.iters[row])
    return f"for subtopic {group} of {query}" if judgments == "subtopics" else f"by group {group} for {query}"


def check_no_subtopics(faults: Faults, rows: Batch, query: Ints, first_rows: Ints, repeated_rows: Ints) -> None:
    """Raise if documents have several judgments because there is one for each subtopic."""
    from rankgauge.io.checks.subtopics import SUBTOPIC_HINT, describe_subtopics, is_by_subtopic  # few files need it

    if rows.iters is not None and is_by_subtopic(query, rows.iters, rows.doc, repeated_rows):
        found = describe_subtopics(rows.query, rows.iters, rows.doc, int(first_rows[0]), repeated_rows)
        line = int(rows.line[repeated_rows[0]]) if faults.has_lines else None
        message = f"expected {ONE_JUDGMENT}, found {found}"
        raise InputError.at(faults.source, line or None, message, hint=SUBTOPIC_HINT)


def _first_place(faults: Faults, rows: Batch, row: int) -> str:
    line = faults.describe_line(int(rows.line[row]))
    return f" (first on {line})" if line else ""
