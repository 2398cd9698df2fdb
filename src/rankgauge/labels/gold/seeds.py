"""Where quotes and chunks share a run of characters: hashed n-grams, found in one pass over all chunks.

The index holds n-grams of the quotes, which are few; chunks stream past it, joined into blocks, and every n-gram of a
block is hashed and looked up by NumPy. The time grows with the characters of chunks and quotes, not with their product,
unless quotes and chunks repeat the same words in every combination: then the number of places is limited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ints
from rankgauge.errors import InputError

PAIR_BITS = 31
GRAM_SIZES = (1, 2, 4, 8, 16)  # powers of two: the hash of one size is made from that of the next smaller one
MAX_PLACES = 4 << 20  # that a block of chunks may share with quotes
_FACTOR = np.uint32(0x9E3779B1)
_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that it has an inverse modulo 2**64
_BASE_INVERSE = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))
_SEPARATOR = "\0"  # normalized texts have none
Hashes = NDArray[np.uint32]


class Seeds(NamedTuple):
    """Shared n-grams, in no particular order: which quote and where, which text of the block and where."""

    quote: Ints
    quote_position: Ints
    text: Ints
    text_position: Ints

    @property
    def diagonal(self) -> Ints:
        """Where the quote would begin in the text."""
        return self.text_position - self.quote_position

    @property
    def pair(self) -> Ints:
        """One number for each pair of a text and a quote."""
        return self.text << PAIR_BITS | self.quote


class _FoundGrams(NamedTuple):
    """Rows of hashes that were found, and where in the quotes."""

    row: Ints
    quote: Ints
    position: Ints


class _GramPlaces(NamedTuple):
    """The text of each n-gram of a block, and its position there."""

    text: Ints
    position: Ints
    is_within: NDArray[np.bool_]  # whether it lies within that text


@dataclass(frozen=True, eq=False)
class _GramTable:
    """The n-grams of one size, sorted by hash, behind a table that tells at once that most hashes are absent.

    ``hashes`` has each hash once; its n-grams are ``count`` rows from ``first`` on.
    """

    size: int
    hashes: Hashes
    first: Ints
    count: Ints
    quote: Ints
    position: Ints
    present: NDArray[np.bool_]
    shift: np.uint32

    @classmethod
    def of(cls, size: int, hashes: Hashes, quote: Ints, position: Ints) -> _GramTable:
        order = np.argsort(hashes, kind="stable")
        bits = int(np.clip(np.ceil(np.log2(64 * len(hashes) + 1)), 16, 24))
        shift = np.uint32(32 - bits)
        present = np.zeros(1 << bits, dtype=bool)
        present[hashes >> shift] = True
        unique, first, count = np.unique(hashes[order], return_index=True, return_counts=True)
        return cls(size, unique, first, count, quote[order], position[order], present, shift)

    def find(self, hashes: Hashes) -> _FoundGrams:
        """The hashes that are in the table, once for each place in the quotes."""
        rows = np.flatnonzero(self.present[hashes >> self.shift])
        if not len(rows):
            return _FoundGrams(rows, rows, rows)
        found = np.minimum(np.searchsorted(self.hashes, hashes[rows]), len(self.hashes) - 1)
        is_found = self.hashes[found] == hashes[rows]
        rows, found = rows[is_found], found[is_found]
        first, count = self.first[found], self.count[found]
        check_places(int(count.sum()))
        begins = np.cumsum(count) - count
        entry = np.repeat(first - begins, count) + np.arange(int(count.sum()))
        return _FoundGrams(np.repeat(rows, count), self.quote[entry], self.position[entry])


class SeedIndex:
    """The n-grams of some quotes: the one of each that the fewest places share, or those that ``most`` places share."""

    def __init__(self, quotes: Mapping[int, str], *, largest: int, most: int | None = None) -> None:
        by_size: dict[int, list[tuple[int, str]]] = {}
        for number, quote in quotes.items():
            size = max(size for size in GRAM_SIZES if size <= min(len(quote), largest))
            by_size.setdefault(size, []).append((number, quote))
        self._tables = [_table(size, members, most) for size, members in by_size.items()]

    def positions(self) -> dict[int, Ints]:
        """Where the n-grams of each quote are that the index has, ascending."""
        found: dict[int, Ints] = {}
        for table in self._tables:
            order = np.lexsort((table.position, table.quote))
            numbers, begins = np.unique(table.quote[order], return_index=True)
            parts = np.split(table.position[order], begins[1:])[: len(numbers)]  # none if all n-grams are too common
            found.update(zip(numbers.tolist(), parts, strict=True))
        return found

    def find(self, texts: Sequence[str]) -> Seeds:
        """Every n-gram of the texts that the index has."""
        block = TextBlock(texts)
        parts = []
        for table in self._tables:
            found = table.find(block.hashes(table.size))
            text, position, usable = block.places(found.row, table.size)
            parts.append((found.quote[usable], found.position[usable], text[usable], position[usable]))
        columns = zip(*parts, strict=True) if parts else [[np.zeros(0, dtype=np.int64)]] * 4
        return Seeds(*(np.concatenate(column) for column in columns))


def check_places(count: int, limit: int | None = None) -> None:
    """Raise if quotes and chunks share so many places that comparing them would take too long."""
    limit = MAX_PLACES if limit is None else limit
    if count > limit:
        raise InputError(
            f"quotes and chunks repeat the same words in too many combinations: {count:,} places to compare in about a "
            f"million characters of chunks, expected at most {limit:,}",
            hint="split the labels into several files, or leave out text that most quotes share",
        )


def _table(size: int, members: Sequence[tuple[int, str]], most: int | None) -> _GramTable:
    block = TextBlock([quote for _, quote in members])
    hashes = block.hashes(size)
    text, position, usable = block.places(np.arange(len(hashes)), size)
    rows = np.flatnonzero(usable)
    _, inverse, counts = np.unique(hashes[rows], return_inverse=True, return_counts=True)
    shared = counts[inverse]
    if most is not None:
        rows = rows[shared <= most]
    else:
        middle = np.array([(len(quote) - size) // 2 for _, quote in members], dtype=np.int64)
        order = np.lexsort((np.abs(position[rows] - middle[text[rows]]), shared, text[rows]))
        rows = np.sort(rows[order[np.unique(text[rows][order], return_index=True)[1]]])
    numbers = np.array([number for number, _ in members], dtype=np.int64)
    return _GramTable.of(size, hashes[rows], numbers[text[rows]], position[rows])


class TextBlock:
    """Texts joined by separators, as code points."""

    def __init__(self, texts: Sequence[str]) -> None:
        data = _SEPARATOR.join(texts).encode("utf-32-le", "surrogatepass")
        self._codes = np.frombuffer(data, dtype="<u4")
        self._sums: NDArray[np.uint64] | None = None
        self.sizes = np.array([len(text) for text in texts], dtype=np.int64)
        self.begins = np.cumsum(self.sizes + 1) - self.sizes - 1

    def hashes(self, size: int) -> Hashes:
        """The hash of the n-gram that begins at each character."""
        hashes: Hashes = (self._codes + np.uint32(1)) * _FACTOR
        power, reach = int(_FACTOR), 1
        while reach < size:
            hashes = hashes[:-reach] * np.uint32(power) + hashes[reach:]
            power, reach = power * power % (1 << 32), 2 * reach
        return hashes

    def places(self, rows: Ints, size: int) -> _GramPlaces:
        """Where n-grams are."""
        text = np.searchsorted(self.begins, rows, side="right") - 1
        position = rows - self.begins[text]
        return _GramPlaces(text, position, position + size <= self.sizes[text])

    def parts(self, begin: Ints, end: Ints) -> NDArray[np.uint64]:
        """A hash of each part of the joined texts, the same for the same characters wherever they are."""
        if self._sums is None:
            powers = np.cumprod(np.full(len(self._codes), _BASE, dtype=np.uint64))
            self._inverse = np.cumprod(np.full(len(self._codes) + 1, _BASE_INVERSE, dtype=np.uint64))
            terms = (self._codes.astype(np.uint64) + np.uint64(1)) * powers
            self._sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        sums = np.multiply(np.subtract(self._sums[end], self._sums[begin]), self._inverse[begin])
        mixed: NDArray[np.uint64] = sums ^ ((end - begin).astype(np.uint64) * _BASE_INVERSE)
        return mixed
