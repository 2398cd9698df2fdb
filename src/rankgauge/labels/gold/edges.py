"""Parts of quotes that the edges of chunks leave, found by their hashes: a near miss costs no comparison.

A chunk that cuts a quote begins with the end of it, ends with its beginning, or lies within it. Hashes of all ends and
of all beginnings of the quotes are in sorted tables. In a chunk, only the places where some quote begins or ends, by
its first or last n-gram, are looked up there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ints
from rankgauge.labels.gold.seeds import TextBlock, check_places

MAX_WINDOWS = 1 << 27  # parts of quotes that a block of chunks may be compared with


class CutPlaces(NamedTuple):
    """Texts, quotes, and where each quote would begin in its text: before it, if the text begins within the quote."""

    text: Ints
    quote: Ints
    place: Ints


@dataclass(frozen=True, eq=False)
class _QuoteParts:
    """Parts of quotes by their hashes."""

    hashes: NDArray[np.uint64]
    quote: Ints
    start: Ints

    @classmethod
    def of(cls, hashes: NDArray[np.uint64], quote: Ints, start: Ints) -> _QuoteParts:
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], quote[order], start[order])

    def find(self, hashes: NDArray[np.uint64]) -> tuple[Ints, Ints]:
        """Rows of the hashes, and rows of this table that have the same, in pairs."""
        first, last = (np.searchsorted(self.hashes, hashes, side=side) for side in ("left", "right"))
        counts = last - first
        check_places(int(counts.sum()))
        rows = np.repeat(np.arange(len(hashes)), counts)
        return rows, np.arange(len(rows)) + np.repeat(first - np.cumsum(counts) + counts, counts)


class CutIndex:
    """The quotes that may be cut, and their parts of at least ``gram`` characters."""

    def __init__(self, quotes: Sequence[str], numbers: Sequence[int], gram: int) -> None:
        self._gram = gram
        self._numbers = np.array(numbers, dtype=np.int64)
        self._block = TextBlock([quotes[number] for number in numbers])
        begins, sizes = self._block.begins, self._block.sizes
        quote = np.repeat(np.arange(len(numbers)), np.maximum(sizes - gram, 0))
        start = np.arange(len(quote)) - np.repeat(np.cumsum(sizes - gram) - sizes + gram, sizes - gram) + 1
        base, size = begins[quote], sizes[quote]
        self._beginnings = _QuoteParts.of(self._block.parts(base, base + size - start), quote, np.zeros_like(start))
        self._ends = _QuoteParts.of(self._block.parts(base + start, base + size), quote, start)
        grams = self._block.hashes(gram) if len(numbers) else np.zeros(0, dtype=np.uint32)
        self._grams = np.unique(grams)
        self._first_grams = np.unique(grams[begins])
        self._last_grams = np.unique(grams[begins + sizes - gram])
        self._longest = int(sizes.max(initial=0))

    def find(self, texts: Sequence[str], edges: Sequence[tuple[int, ...]]) -> CutPlaces:
        """Where the texts have what their edges leave of a quote; each may begin at several places."""
        if not len(self._numbers):
            return CutPlaces(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
        block = TextBlock(texts)
        text = np.repeat(np.arange(len(texts)), [len(each) for each in edges])
        edge = np.array([place for each in edges for place in each], dtype=np.int64)
        parts = [self._at_end(block), *self._at_begin(block, text, edge), *self._within(block, text, edge)]
        return CutPlaces(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _at_end(self, block: TextBlock) -> CutPlaces:
        """Quotes whose beginning is the end of a text."""
        text, position = self._gram_places(block, self._first_grams)
        begin = block.begins[text]
        rows, found = self._beginnings.find(block.parts(begin + position, begin + block.sizes[text]))
        return CutPlaces(text[rows], self._numbers[self._beginnings.quote[found]], position[rows])

    def _at_begin(self, block: TextBlock, text: Ints, edge: Ints) -> list[CutPlaces]:
        """Quotes whose end is the beginning of a text, at the first or the second of its edges."""
        found_text, position = self._gram_places(block, self._last_grams)
        out = []
        first = np.searchsorted(text, np.arange(len(block.sizes)))
        counts = np.diff(np.append(first, len(text)))
        for number in range(int(counts.max(initial=0))):
            has_edge = counts[found_text] > number
            texts, ends = found_text[has_edge], position[has_edge] + self._gram
            begins = edge[first[texts] + number]
            is_long = ends - begins >= self._gram
            texts, ends, begins = texts[is_long], ends[is_long], begins[is_long]
            base = block.begins[texts]
            rows, found = self._ends.find(block.parts(base + begins, base + ends))
            place = begins[rows] - self._ends.start[found]
            out.append(CutPlaces(texts[rows], self._numbers[self._ends.quote[found]], place))
        return out

    def _within(self, block: TextBlock, text: Ints, edge: Ints) -> list[CutPlaces]:
        """Quotes that have a whole text, from an edge on, in their middle.

        Such a text begins and ends with n-grams of quotes, which is rare. Texts of each length are looked up at once.
        """
        length = block.sizes[text] - edge
        rows = np.flatnonzero((length >= self._gram) & (length <= self._longest - 2))
        first = block.begins[text[rows]] + edge[rows]
        last = first + length[rows] - self._gram
        grams = block.hashes(self._gram)
        rows = rows[_are_in(grams[first], self._grams) & _are_in(grams[last], self._grams)]
        sizes = np.unique(length[rows])
        check_places(int(sum(self._window_counts(size).sum() for size in sizes.tolist())), MAX_WINDOWS)
        out = []
        for size in sizes.tolist():
            members = rows[length[rows] == size]
            begin = block.begins[text[members]] + edge[members]
            hashes = block.parts(begin, begin + size)
            table = self._windows(size, hashes)
            found_rows, found = table.find(hashes)
            place = edge[members[found_rows]] - table.start[found]
            out.append(CutPlaces(text[members[found_rows]], self._numbers[table.quote[found]], place))
        return out

    def _window_counts(self, size: int) -> Ints:
        """How many parts of some size are in the middle of each quote."""
        return np.maximum(self._block.sizes - size - 1, 0)

    def _windows(self, size: int, hashes: NDArray[np.uint64]) -> _QuoteParts:
        """The parts of some size in the middle of a quote that have one of some hashes."""
        counts = self._window_counts(size)
        quote = np.repeat(np.arange(len(counts)), counts)
        start = np.arange(len(quote)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
        begin = self._block.begins[quote] + start
        parts = self._block.parts(begin, begin + size)
        is_found = np.isin(parts, hashes)
        return _QuoteParts.of(parts[is_found], quote[is_found], start[is_found])

    def _gram_places(self, block: TextBlock, grams: NDArray[np.uint32]) -> tuple[Ints, Ints]:
        """The texts and positions that have one of some n-grams."""
        rows = np.flatnonzero(_are_in(block.hashes(self._gram), grams))
        text, position, is_within = block.places(rows, self._gram)
        return text[is_within], position[is_within]


def _are_in(hashes: NDArray[np.uint32], known: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each hash is one of some that are sorted; unlike ``isin``, this hardly depends on how many these are."""
    found = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    return np.asarray(known[found] == hashes)
