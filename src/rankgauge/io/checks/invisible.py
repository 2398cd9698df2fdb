"""Ids with invisible characters: controls, no-break and zero-width spaces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import DELETE, PADDING, Ids, Interner, Ints
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.tokens import NO_LINES

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


def escape_id(value: bytes) -> str:
    """An id with everything but plain ASCII escaped, because what matters is what cannot be seen."""
    text = value.decode("utf-8", "surrogateescape")
    return shown("".join(c if " " < c < "\x7f" else c.encode("unicode_escape").decode("ascii") for c in text))
