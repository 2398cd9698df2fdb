"""Ids that are odd by themselves, and queries whose lines are scattered."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints
from rankgauge.errors import shown
from rankgauge.validation.table import Table

# The bytes that are, or may begin, a character that cannot be seen.
_SUSPECT = np.zeros(256, dtype=bool)
_SUSPECT[[*range(0x01, 0x09), *range(0x0E, 0x20), 0x7F, 0xC2, 0xE2, 0xE3, 0xEF]] = True


def invisible(table: Table) -> None:
    """Query and document ids with control characters, no-break or zero-width spaces."""
    queries = np.intersect1d(_holding(table.rows.query), table.first)  # once a query is enough
    _add_invisible(table, "query", table.rows.query, queries)
    _add_invisible(table, "document", table.rows.doc, _holding(table.rows.doc))


def _add_invisible(table: Table, what: str, ids: Ids, rows: Ints) -> None:
    table.add(
        "invisible-character",
        rows,
        expected="ids of characters that can be seen",
        found=lambda at: f"{what} {spelt(ids[int(rows[at])])}",
    )


def scattered(table: Table) -> None:
    """Queries whose lines do not stand together: where each of them is taken up again."""
    query = table.query
    changes = np.flatnonzero(query[1:] != query[:-1]) + 1
    back = changes[query[changes] <= np.maximum.accumulate(query)[changes - 1]] if len(changes) else changes
    rows = np.sort(back[np.unique(query[back], return_index=True)[1]])
    table.add(
        "split-query",
        rows,
        expected="the lines of a query together",
        found=lambda at: f"{table.of(int(rows[at]))} again after other queries",
    )


def _holding(ids: Ids) -> Ints:
    """The rows whose id has such a character."""
    at = _places(ids.buffer)
    if not len(at):
        return at
    return np.flatnonzero(np.searchsorted(at, ids.start) < np.searchsorted(at, ids.start + ids.length))


def _places(buffer: NDArray[np.uint8]) -> Ints:
    """Where in a buffer such characters begin. White space separates ids and is never part of one here.

    Beside ASCII's control characters these are, as UTF-8: C1 controls, the no-break space and the soft hyphen; spaces,
    joiners and marks of U+2000–200F, U+2028–202F and U+205F–206F; the ideographic space and the byte order mark.
    """
    suspect = np.flatnonzero(_SUSPECT[buffer[:-2]])
    lead = suspect[buffer[suspect] >= 0x80]
    one, two, three = buffer[lead], buffer[lead + 1], buffer[lead + 2]
    hidden = (one == 0xC2) & (((two >= 0x80) & (two <= 0xA0)) | (two == 0xAD))
    hidden |= (
        (one == 0xE2) & (two == 0x80) & (((three >= 0x80) & (three <= 0x8F)) | ((three >= 0xA8) & (three <= 0xAF)))
    )
    hidden |= (one == 0xE2) & (two == 0x81) & (three >= 0x9F) & (three <= 0xAF)
    hidden |= (one == 0xE3) & (two == 0x80) & (three == 0x80)
    hidden |= (one == 0xEF) & (two == 0xBB) & (three == 0xBF)
    return np.sort(np.concatenate([suspect[buffer[suspect] < 0x80], lead[hidden]]))


def spelt(value: bytes) -> str:
    """An id with everything that is not plain ASCII written out, since the point is what cannot be seen."""
    text = value.decode("utf-8", "surrogateescape")
    return shown("".join(c if " " < c < "\x7f" else c.encode("unicode_escape").decode("ascii") for c in text))
