"""Approximate matches, for text that was cleaned differently: within an edit distance, where enough n-grams agree."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

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


class ApproximateMatcher:
    """Collects the chunks most like each quote, and then compares them with it."""

    def __init__(self, quotes: Sequence[str], numbers: Sequence[int], tolerance: float) -> None:
        self._quotes, self._tolerance = quotes, tolerance
        self._index = SeedIndex({number: quotes[number] for number in numbers}, largest=GRAM, most=COMMON)
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
                for piece in self._compared(number, candidate):
                    if 0 < piece.distance <= int(self._tolerance * (piece.end - piece.start)):
                        pieces.append(piece)
                        break
        return pieces

    def nearest(self, number: int) -> NearText | None:
        """The text most like a quote."""
        near: NearText | None = None
        for candidate in sorted(self._best[number], reverse=True)[:8]:
            for piece in self._compared(number, candidate):
                distance = piece.distance + len(self._quotes[number]) - (piece.end - piece.start)
                if near is None or distance < near.distance:
                    source = NormalizedText.of(candidate.chunk.document.full_text)
                    text = source.source(piece.place, piece.place + piece.end - piece.start)
                    near = NearText(candidate.chunk.document.id, text, distance)
        return near

    def _compared(self, number: int, candidate: _Candidate) -> list[Piece]:
        """What the chunk's edges leave of the quote, with its edit distance: a piece for each edge it may begin at."""
        quote, text = self._quotes[number], candidate.chunk.text
        first, last = self._alignment(number, candidate)
        pieces: list[Piece] = []
        end = min(len(quote), len(text) - last)
        for edge in candidate.chunk.edges:
            start = max(0, edge - first)
            if end - start < min(len(quote), MIN_APPROXIMATE_PIECE):
                continue
            slack = int(self._tolerance * (end - start)) + 1
            window = text[max(edge, start + first - slack) : end + last + slack]
            distance = best_distance(quote[start:end], window)
            place = max(edge, start + first)
            pieces.append(Piece(number, candidate.chunk.number, start, with_cut_space(quote, end), place, distance))
        return pieces

    def _alignment(self, number: int, candidate: _Candidate) -> tuple[int, int]:
        """Where the quote would begin in the chunk, by the first and by the last n-gram of the densest stretch."""
        diagonal = candidate.text_position - candidate.quote_position
        order = np.argsort(diagonal, kind="stable")
        ordered = diagonal[order]
        slack = int(self._tolerance * len(self._quotes[number])) + GRAM
        size = np.searchsorted(ordered, ordered + slack, side="right") - np.arange(len(ordered))
        begin = int(np.argmax(size))
        members = order[begin : begin + int(size[begin])]
        by_position = members[np.argsort(candidate.text_position[members], kind="stable")]
        return int(diagonal[by_position[0]]), int(diagonal[by_position[-1]])
