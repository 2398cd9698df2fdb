"""Checks that listen to the rows of a source as they are read, whatever its format. They change nothing.

Duplicates, split queries, long ids, invisible characters. What is wrong or odd is added to the faults of the source,
with its line; which of it stops an evaluation is decided by its severity there. Ranks are checked in ``rank_checks``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.batch import NO_LINES, Batch
from rankgauge.core.formatting import listing
from rankgauge.core.ids import DELETE, PADDING, Ids, Interner, Ints, repeated
from rankgauge.core.qrels import JudgmentKind
from rankgauge.errors import InputError, escape_id, shown
from rankgauge.io.byte_streams import SELECTOR_MARK
from rankgauge.io.faults import Faults
from rankgauge.io.rank_checks import report_contradictions

SPLIT_QUERY = "split-query"
CONTIGUOUS_LINES = "the lines of each query to be contiguous"
ONE_DOCUMENT_ONCE = "each document once in the ranking of a query"
ONE_JUDGMENT = "one judgment of each document for a query"
EXPECTED_JUDGMENTS: dict[JudgmentKind, str] = {
    "grades": ONE_JUDGMENT,
    "subtopics": "one judgment of each document for a subtopic of a query",
}
MAX_SYSTEMS = 6  # named in a message
MIN_CUT_BYTES = 16  # shorter ids are seldom cut
DUPLICATE_HINT = (
    "keep each document once per query, or keep the first: on_duplicate='first', --set reading.on_duplicate=first"
)


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
        action=lambda at: _truncated_hint(rows, int(repeated_rows[at])) or DUPLICATE_HINT,
    )


def _truncated_hint(rows: Batch, repeated: int) -> str | None:
    """What to do if ids are the same because they were cut: keeping the first would hide other documents.

    They were if they end with an ellipsis, or if no id of the query is longer and some are shorter.
    """
    doc, query = rows.doc[repeated], rows.query[repeated]
    begin, end = repeated, repeated
    while begin > 0 and rows.query[begin - 1] == query:
        begin -= 1
    while end < len(rows.doc) and rows.query[end] == query:
        end += 1
    lengths = rows.doc.length[begin:end]
    is_cut = len(doc) >= MIN_CUT_BYTES and len(doc) == int(lengths.max()) > int(lengths.min())
    if is_cut or doc.endswith((b"...", "…".encode())):
        return f"the ids look truncated, at {len(doc)} bytes: write them in full"
    return None


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
    group = rows.group(by_iter=by_iter or is_grouped)
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
        action=lambda at: "keep one of the two" + (", as `rankgauge runs validate --fix` does" if agree[at] else ""),
    )


def _judged_for(rows: Batch, row: int, judgments: JudgmentKind) -> str:
    """The query of a judgment, and its subtopic."""
    query = f"query {shown(rows.query[row])}"
    if judgments == "grades" or rows.iters is None:
        return f"for {query}"
    return f"for subtopic {shown(rows.iters[row])} of {query}"


def check_no_subtopics(faults: Faults, rows: Batch, query: Ints, first_rows: Ints, repeated_rows: Ints) -> None:
    """Raise if documents have several judgments because there is one for each subtopic."""
    from rankgauge.io.formats.subtopics import SUBTOPIC_HINT, describe_subtopics, is_by_subtopic  # few files need it

    if rows.iters is not None and is_by_subtopic(query, rows.iters, rows.doc, repeated_rows):
        found = describe_subtopics(rows.query, rows.iters, rows.doc, int(first_rows[0]), repeated_rows)
        line = int(rows.line[repeated_rows[0]]) if faults.has_lines else None
        message = f"expected {ONE_JUDGMENT}, found {found}"
        raise InputError.at(faults.source, line or None, message, hint=SUBTOPIC_HINT)


def _first_place(faults: Faults, rows: Batch, row: int) -> str:
    line = faults.describe_line(int(rows.line[row]))
    return f" (first on {line})" if line else ""


# Ids with invisible characters: controls, no-break and zero-width spaces.

INVISIBLE_CHARACTER = "invisible-character"
VISIBLE_IDS = "ids of visible characters"
SEARCHED_BYTES = 1 << 18  # looked at together, so that intermediate results stay in the cache


def report_invisible(faults: Faults, line: Ints, query: Ids, doc: Ids) -> None:
    """Add a warning for each document id with an invisible character, and for the first row of each such query id."""
    positions = _invisible_positions(query.buffer)
    if query.buffer is doc.buffer and not len(positions):
        return
    query_rows = _first_rows(query, _rows_at(query, positions))
    doc_rows = _rows_at(doc, positions) if query.buffer is doc.buffer else rows_with_invisible(doc)
    rows = np.concatenate([query_rows, doc_rows])
    order = np.argsort(rows, kind="stable")

    def describe(at: int) -> str:
        place = int(order[at])
        what, ids = ("query", query) if place < len(query_rows) else ("document", doc)
        return f"{what} {escape_id(ids[int(rows[place])])}"

    faults.add(INVISIBLE_CHARACTER, line[rows[order]], expected=VISIBLE_IDS, found=describe, severity="warning")


def _first_rows(query: Ids, rows: Ints) -> Ints:
    """The first of the rows of each query."""
    if not len(rows):
        return rows
    rows = rows[query.take(rows).changes()]
    return rows[np.sort(np.unique(Interner()(query.take(rows)), return_index=True)[1])]


def rows_with_invisible(ids: Ids) -> Ints:
    """The rows whose id has an invisible character."""
    return _rows_at(ids, _invisible_positions(ids.buffer))


def _rows_at(ids: Ids, positions: Ints) -> Ints:
    """The rows whose id includes one of these positions of the buffer."""
    if not len(positions):
        return positions
    begins, ends = np.searchsorted(positions, ids.start), np.searchsorted(positions, ids.start + ids.length)
    return np.flatnonzero(begins < ends)


def _invisible_positions(buffer: NDArray[np.uint8]) -> Ints:
    """Where invisible characters begin in a buffer. White space separates ids and is never part of one here.

    Besides ASCII's control characters these are, in UTF-8: C1 controls, the no-break space and the soft hyphen; spaces,
    joiners and marks of U+2000–200F, U+2028–202F and U+205F–206F; the ideographic space and the byte order mark.
    """
    text = buffer[: len(buffer) - PADDING]
    if len(text) and text.min() > ord(" ") and text.max() < DELETE:
        return NO_LINES
    chunks = [
        _suspect_positions(text[begin : begin + SEARCHED_BYTES]) + begin
        for begin in range(0, len(text), SEARCHED_BYTES)
    ]
    suspect = np.concatenate([NO_LINES, *chunks])
    control, lead = suspect[buffer[suspect] <= DELETE], suspect[buffer[suspect] > DELETE]
    one, two, three = buffer[lead], buffer[lead + 1], buffer[lead + 2]
    is_hidden = (one == 0xC2) & (((two >= 0x80) & (two <= 0xA0)) | (two == 0xAD))
    is_hidden |= (
        (one == 0xE2) & (two == 0x80) & (((three >= 0x80) & (three <= 0x8F)) | ((three >= 0xA8) & (three <= 0xAF)))
    )
    is_hidden |= (one == 0xE2) & (two == 0x81) & (three >= 0x9F) & (three <= 0xAF)
    is_hidden |= (one == 0xE3) & (two == 0x80) & (three == 0x80)
    is_hidden |= (one == 0xEF) & (two == 0xBB) & (three == 0xBF)
    return np.sort(np.concatenate([control, lead[is_hidden]]))


def _suspect_positions(text: NDArray[np.uint8]) -> Ints:
    """Control characters except NUL and white space, and everything that is not ASCII."""
    # Bytes are unsigned: a value below the number subtracted wraps around to a large one.
    is_suspect = text - np.uint8(0x01) < 8
    is_suspect |= text - np.uint8(0x0E) < 18
    is_suspect |= text >= DELETE
    return np.flatnonzero(is_suspect)


def several_systems(source: str, names: list[str]) -> InputError:
    """The error of a log or table that holds several systems where one is expected."""
    return InputError.at(
        source,
        None,
        f"expected one system, found {listing(map(shown, names), MAX_SYSTEMS)}",
        hint=f"choose one by its name: {source}{SELECTOR_MARK}{names[0]}; evaluate, evaluate_runs and compare take all",
    )


def find_system(source: str, names: Sequence[str], name: str) -> int:
    """Which of the systems of a source is meant by a name; raises if none is called so."""
    if name in names:
        return list(names).index(name)
    known = "the only one" if len(names) == 1 else "the systems"
    verb = "is" if len(names) == 1 else "are"
    raise InputError.at(
        source, None, f"no system is called {shown(name)}; {known} {verb} {listing(map(shown, names), MAX_SYSTEMS)}"
    )
