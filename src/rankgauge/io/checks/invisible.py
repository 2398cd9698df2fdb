"""Ids with characters that nobody can see: controls, no-break and zero-width spaces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import PADDING, Ids, Ints
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.tokens import NONE

CODE = "invisible-character"
DELETE = 0x7F
CHUNK = 1 << 18  # bytes at a time: what is computed on the way stays in the cache


def add_invisible(faults: Faults, line: Ints, query: Ids, doc: Ids) -> None:
    """A warning for each document id that has such a character, and for the first row of each such query id."""
    at = _places(query.buffer)
    if query.buffer is doc.buffer and not len(at):
        return
    rows = _touched(query, at)
    rows = rows[query.take(rows).changes()]
    _warn_of(faults, "query", query.take(rows), line[rows])
    rows = _touched(doc, at) if query.buffer is doc.buffer else holding(doc)
    _warn_of(faults, "document", doc.take(rows), line[rows])


def _warn_of(faults: Faults, what: str, ids: Ids, lines: Ints) -> None:
    faults.add(
        CODE,
        lines,
        expected="ids of characters that can be seen",
        found=lambda at: f"{what} {spelt(ids[at])}",
        severity="warning",
    )


def holding(ids: Ids) -> Ints:
    """The rows whose id has such a character."""
    return _touched(ids, _places(ids.buffer))


def _touched(ids: Ids, at: Ints) -> Ints:
    """The rows whose id holds one of these places of the buffer."""
    if not len(at):
        return at
    return np.flatnonzero(np.searchsorted(at, ids.start) < np.searchsorted(at, ids.start + ids.length))


def _places(buffer: NDArray[np.uint8]) -> Ints:
    """Where in a buffer such characters begin. White space separates ids and is never part of one here.

    Beside ASCII's control characters these are, as UTF-8: C1 controls, the no-break space and the soft hyphen; spaces,
    joiners and marks of U+2000–200F, U+2028–202F and U+205F–206F; the ideographic space and the byte order mark.
    """
    text = buffer[: len(buffer) - PADDING]
    found = [_suspect(text[begin : begin + CHUNK]) + begin for begin in range(0, len(text), CHUNK)]
    suspect = np.concatenate([NONE, *found])
    control, lead = suspect[buffer[suspect] <= DELETE], suspect[buffer[suspect] > DELETE]
    one, two, three = buffer[lead], buffer[lead + 1], buffer[lead + 2]
    hidden = (one == 0xC2) & (((two >= 0x80) & (two <= 0xA0)) | (two == 0xAD))
    hidden |= (
        (one == 0xE2) & (two == 0x80) & (((three >= 0x80) & (three <= 0x8F)) | ((three >= 0xA8) & (three <= 0xAF)))
    )
    hidden |= (one == 0xE2) & (two == 0x81) & (three >= 0x9F) & (three <= 0xAF)
    hidden |= (one == 0xE3) & (two == 0x80) & (three == 0x80)
    hidden |= (one == 0xEF) & (two == 0xBB) & (three == 0xBF)
    return np.sort(np.concatenate([control, lead[hidden]]))


def _suspect(text: NDArray[np.uint8]) -> Ints:
    """Control characters but NUL and white space, and all that is not ASCII."""
    # Bytes are unsigned: what lies below the number subtracted is far above after it.
    found = text - np.uint8(0x01) < 8
    found |= text - np.uint8(0x0E) < 18
    found |= text >= DELETE
    return np.flatnonzero(found)


def spelt(value: bytes) -> str:
    """An id with everything that is not plain ASCII written out, since the point is what cannot be seen."""
    text = value.decode("utf-8", "surrogateescape")
    return shown("".join(c if " " < c < "\x7f" else c.encode("unicode_escape").decode("ascii") for c in text))
