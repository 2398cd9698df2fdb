"""Ids that are not the same, but would be if somebody had written them with more care.

Each way of writing is a function from a column of ids to a column of ids; only ids that found no partner as they
are take part.
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
    """In lower case; ids that are not plain ASCII by Unicode's rules."""
    lowered = Ids(_LOWER[ids.buffer], ids.start, ids.length)
    return _each(lowered, _beyond_ascii(lowered), str.casefold)


def unquoted(ids: Ids) -> Ids:
    """Without quotation marks around them."""
    first, last = ids.buffer[ids.start], ids.buffer[ids.start + ids.length - 1]
    quoted = (ids.length > 2) & (first == last) & np.isin(first, np.frombuffer(QUOTES, dtype=np.uint8))
    return Ids(ids.buffer, ids.start + quoted, ids.length - 2 * quoted)


def without_zeros(ids: Ids) -> Ids:
    """Without zeros in front."""
    start, length = ids.start.copy(), ids.length.copy()
    rows = np.arange(len(ids))
    while len(rows := rows[(ids.buffer[start[rows]] == ZERO) & (length[rows] > 1)]):
        start[rows] += 1
        length[rows] -= 1
    return Ids(ids.buffer, start, length)


def normalised(ids: Ids) -> Ids:
    """In Unicode's normal form; plain ASCII is in it already."""
    return _each(ids, _beyond_ascii(ids), lambda text: unicodedata.normalize("NFKC", text))


# The code of each way, what ids have in common then, and how to write them so.
WAYS: dict[str, tuple[str, Callable[[Ids], Ids]]] = {
    "ids-case": ("ignoring case", folded),
    "ids-quotes": ("without quotation marks", unquoted),
    "ids-zeros": ("without leading zeros", without_zeros),
    "ids-unicode": ("after Unicode normalisation", normalised),
}


def partners(wanted: Ids, group: Ints, ids: Ids, groups: Ints) -> Iterator[tuple[str, Ints, Ints]]:
    """For each way of writing: its code, rows of ``wanted`` and the rows of ``ids`` that they match by it."""
    here, there = np.arange(len(wanted)), np.arange(len(ids))
    for code, (_, written) in WAYS.items():
        if not len(here) or not len(there):
            return
        known = IdIndex(written(wanted.take(here)), group[here])
        found, where = known.find(written(ids.take(there)), groups[there])
        # Each of both once: a second id that is written alike says nothing new.
        where, first = np.unique(where, return_index=True)
        found = found[first]
        if len(found):
            yield code, here[where], there[found]
            here, there = np.delete(here, where), np.delete(there, found)


def _beyond_ascii(ids: Ids) -> Ints:
    high = np.flatnonzero(ids.buffer >= 0x80)
    if not len(high):
        return high
    return np.flatnonzero(np.searchsorted(high, ids.start) < np.searchsorted(high, ids.start + ids.length))


def _each(ids: Ids, rows: Ints, change: Callable[[str], str]) -> Ids:
    """The ids with some of them changed one by one."""
    if not len(rows):
        return ids
    changed = Ids.from_bytes(
        [
            change(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            for value in ids.take(rows)
        ]
    )
    place = np.arange(len(ids))
    place[rows] = len(ids) + np.arange(len(rows))
    return concatenate([ids, changed]).take(place)


def unpaired(count: int, *rows: Ints) -> NDArray[np.bool_]:
    """Which of so many rows are in none of the lists."""
    rest = np.ones(count, dtype=bool)
    for some in rows:
        rest[some] = False
    return rest
