"""Ids that differ only in spelling: case, quotation marks, leading zeros or Unicode normalization.

Each rewriting is a function from a column of ids to a column of ids; only ids without an exact match take part.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import IdIndex, Ids, Ints, concatenate

QUOTES = b"\"'`"
ZERO = 0x30
_LOWER = np.frombuffer(bytes(range(256)).lower(), dtype=np.uint8)


def folded(ids: Ids) -> Ids:
    """Ids in lower case; those that are not ASCII are case-folded by Unicode's rules."""
    lowered = Ids(_LOWER[ids.buffer], ids.start, ids.length)
    return _each(lowered, _beyond_ascii(lowered), str.casefold)


def unquoted(ids: Ids) -> Ids:
    """Ids without surrounding quotation marks."""
    first, last = ids.buffer[ids.start], ids.buffer[ids.start + ids.length - 1]
    quoted = (ids.length > 2) & (first == last) & np.isin(first, np.frombuffer(QUOTES, dtype=np.uint8))
    return Ids(ids.buffer, ids.start + quoted, ids.length - 2 * quoted)


def without_zeros(ids: Ids) -> Ids:
    """Ids without leading zeros."""
    start, length = ids.start.copy(), ids.length.copy()
    rows = np.arange(len(ids))
    while len(rows := rows[(ids.buffer[start[rows]] == ZERO) & (length[rows] > 1)]):
        start[rows] += 1
        length[rows] -= 1
    return Ids(ids.buffer, start, length)


def normalized(ids: Ids) -> Ids:
    """Ids in Unicode normal form NFKC, which leaves ASCII unchanged."""
    return _each(ids, _beyond_ascii(ids), lambda text: unicodedata.normalize("NFKC", text))


# The code of each rewriting, its description, and its function.
REWRITINGS: dict[str, tuple[str, Callable[[Ids], Ids]]] = {
    "ids-case": ("ignoring case", folded),
    "ids-quotes": ("without quotation marks", unquoted),
    "ids-zeros": ("without leading zeros", without_zeros),
    "ids-unicode": ("after Unicode normalization", normalized),
}


def near_matches(
    first_ids: Ids, first_group: Ints, second_ids: Ids, second_group: Ints
) -> Iterator[tuple[str, Ints, Ints]]:
    """For each rewriting: its code, and the rows of both columns that match by it."""
    first, second = np.arange(len(first_ids)), np.arange(len(second_ids))
    for code, (_, rewrite) in REWRITINGS.items():
        if not len(first) or not len(second):
            return
        index = IdIndex(rewrite(first_ids.take(first)), first_group[first])
        matching, index_rows = index.find(rewrite(second_ids.take(second)), second_group[second])
        # Each id once: a second match adds nothing.
        index_rows, unique = np.unique(index_rows, return_index=True)
        matching = matching[unique]
        if len(matching):
            yield code, first[index_rows], second[matching]
            first, second = np.delete(first, index_rows), np.delete(second, matching)


def _beyond_ascii(ids: Ids) -> Ints:
    high = np.flatnonzero(ids.buffer >= 0x80)
    if not len(high):
        return high
    return np.flatnonzero(np.searchsorted(high, ids.start) < np.searchsorted(high, ids.start + ids.length))


def _each(ids: Ids, rows: Ints, change: Callable[[str], str]) -> Ids:
    """The ids, with those of the given rows changed one by one."""
    if not len(rows):
        return ids
    changed = Ids.from_bytes(
        [
            change(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            for value in ids.take(rows)
        ]
    )
    position = np.arange(len(ids))
    position[rows] = len(ids) + np.arange(len(rows))
    return concatenate([ids, changed]).take(position)


def unpaired(count: int, *rows: Ints) -> NDArray[np.bool_]:
    """For each of ``count`` rows, whether it is in none of the lists."""
    remaining = np.ones(count, dtype=bool)
    for paired_rows in rows:
        remaining[paired_rows] = False
    return remaining
