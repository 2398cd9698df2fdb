"""Approximate matches, for text that was cleaned differently: within an edit distance, where enough n-grams agree."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.labels.gold.chunks import NormalizedChunk
from rankgauge.labels.gold.edit_distance import best_distance
from rankgauge.labels.gold.exact import with_cut_space
from rankgauge.labels.gold.normalization import NormalizedText
from rankgauge.labels.gold.pieces import MIN_APPROXIMATE_PIECE, NearText, Piece
from rankgauge.labels.gold.seeds import PAIR_BITS, SeedIndex

GRAM = 8
MIN_SHARED = 3  # n-grams that a chunk and a quote must share
COMMON = 16  # an n-gram at more places in the quotes than this tells nothing
CANDIDATES = 32  # chunks per quote that are compared character by character


@dataclass(frozen=True, order=True)
class _Candidate:
    """A chunk that shares n-grams with a quote, and where."""

    shared: int
    order: int  # the negative number of the chunk: of equals, the first in the corpus wins
    chunk: NormalizedChunk = field(compare=False)
    quote_position: Ints = field(compare=False)
    text_position: Ints = field(compare=False)


class _Overlap(NamedTuple):
    """The characters ``start`` to ``end`` of a quote, and the part of a chunk that they may match."""

    start: int
    end: int
    place: int
    window: slice
    least_distance: int

    @property
    def size(self) -> int:
        return self.end - self.start


class _Alignment(NamedTuple):
    """Where a quote would begin in a chunk, by the first and by the last of some n-grams that they share."""

    first: int
    last: int
    shared: int  # the number of these n-grams


class ApproximateMatcher:
    """Collects the chunks most like each quote, and then compares them with it."""

    def __init__(self, quotes: Sequence[str], numbers: Sequence[int], tolerance: float) -> None:
        self._quotes, self._tolerance = quotes, tolerance
        self._index = SeedIndex({number: quotes[number] for number in numbers}, largest=GRAM, most=COMMON)
        self._indexed = {number: places.tolist() for number, places in self._index.positions().items()}
        self._best: dict[int, list[_Candidate]] = {number: [] for number in numbers}
        self._least = np.full(len(quotes), MIN_SHARED)  # n-grams that a further candidate of each quote needs

    def add(self, block: Sequence[NormalizedChunk]) -> None:
        """Look for candidates in a block of chunks."""
        seeds = self._index.find([chunk.text for chunk in block])
        pairs, shared = np.unique(seeds.pair, return_counts=True)
        quotes = pairs & ((1 << PAIR_BITS) - 1)
        is_candidate = shared >= self._least[quotes]
        pairs, shared = pairs[is_candidate], shared[is_candidate]
        if not len(pairs):
            return
        rows = np.flatnonzero(np.isin(seeds.pair, pairs))
        rows = rows[np.argsort(seeds.pair[rows], kind="stable")]
        ends = np.cumsum(shared)
        for pair, count, end in zip(pairs.tolist(), shared.tolist(), ends.tolist(), strict=True):
            part = rows[end - count : end]
            quote, chunk = pair & ((1 << PAIR_BITS) - 1), block[pair >> PAIR_BITS]
            if count < self._least[quote]:
                continue
            positions = seeds.quote_position[part], seeds.text_position[part]
            candidate = _Candidate(count, -chunk.number, chunk, *positions)
            best = self._best[quote]
            heapq.heappush(best, candidate)
            if len(best) > CANDIDATES:
                heapq.heappop(best)
                self._least[quote] = best[0].shared + 1

    def pieces(self) -> list[Piece]:
        """The pieces within the tolerance. One without edits is not among them: it was refused as an exact match."""
        pieces = []
        for number, candidates in self._best.items():
            for candidate in candidates:
                for overlap in self._overlaps(number, candidate):
                    most = int(self._tolerance * overlap.size)
                    piece = self._piece(number, candidate, overlap) if overlap.least_distance <= most else None
                    if piece is not None and 0 < piece.distance <= most:
                        pieces.append(piece)
                        break
        return pieces

    def nearest(self, number: int) -> NearText | None:
        """The text most like a quote."""
        near: NearText | None = None
        for candidate in sorted(self._best[number], reverse=True)[:8]:
            for overlap in self._overlaps(number, candidate):
                left_out = len(self._quotes[number]) - overlap.size
                if near is not None and overlap.least_distance + left_out >= near.distance:
                    continue
                piece = self._piece(number, candidate, overlap)
                if near is None or piece.distance + left_out < near.distance:
                    source = NormalizedText.of(candidate.chunk.document.full_text)
                    text = source.source(piece.place, piece.place + overlap.size)
                    near = NearText(candidate.chunk.document.id, text, piece.distance + left_out)
        return near

    def _overlaps(self, number: int, candidate: _Candidate) -> Iterator[_Overlap]:
        """What the chunk's edges leave of the quote: a part for each edge it may begin at."""
        quote, text = self._quotes[number], candidate.chunk.text
        first, last, shared = self._alignment(number, candidate)
        end = min(len(quote), len(text) - last)
        for edge in candidate.chunk.edges:
            start = max(0, edge - first)
            if end - start < min(len(quote), MIN_APPROXIMATE_PIECE):
                continue
            slack = int(self._tolerance * (end - start)) + 1
            window = slice(max(edge, start + first - slack), max(end + last + slack, 0))
            yield _Overlap(
                start, end, max(edge, start + first), window, self._least_distance(number, start, end, shared)
            )

    def _least_distance(self, number: int, start: int, end: int, shared: int) -> int:
        """A lower bound of the edit distance: one edit changes at most as many n-grams as an n-gram has characters.

        The others are on diagonals of the chunk that are close together, of which ``shared`` is the largest number.
        """
        if len(self._quotes[number]) < GRAM:
            return 0
        indexed = self._indexed.get(number, [])
        count = bisect_left(indexed, end - GRAM + 1) - bisect_left(indexed, start)
        return -(-(count - shared) // GRAM)

    def _piece(self, number: int, candidate: _Candidate, overlap: _Overlap) -> Piece:
        """The overlap as a piece, with its edit distance."""
        quote = self._quotes[number]
        distance = best_distance(quote[overlap.start : overlap.end], candidate.chunk.text[overlap.window])
        end = with_cut_space(quote, overlap.end)
        return Piece(number, candidate.chunk.number, overlap.start, end, overlap.place, distance)

    def _alignment(self, number: int, candidate: _Candidate) -> _Alignment:
        """How the densest stretch of shared n-grams aligns the quote with the chunk."""
        diagonal = candidate.text_position - candidate.quote_position
        order = np.argsort(diagonal, kind="stable")
        ordered = diagonal[order]
        slack = int(self._tolerance * len(self._quotes[number])) + GRAM
        size = np.searchsorted(ordered, ordered + slack, side="right") - np.arange(len(ordered))
        begin = int(np.argmax(size))
        members = order[begin : begin + int(size[begin])]
        by_position = members[np.argsort(candidate.text_position[members], kind="stable")]
        return _Alignment(int(diagonal[by_position[0]]), int(diagonal[by_position[-1]]), len(members))
