"""Exact matches: a quote, or what a chunk's edges leave of it, is in the chunk character by character."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.labels.gold.chunks import Chunk
from rankgauge.labels.gold.pieces import MIN_PIECE, Piece, splits_word
from rankgauge.labels.gold.seeds import SeedIndex

GRAM = 16
STEP = MIN_PIECE - GRAM + 1  # the widest at which every piece contains an n-gram of the index
CONTEXT = 24  # characters on each side by which occurrences are told apart


class ExactMatcher:
    """Finds quotes in blocks of chunks, and which of them occur at more than one place."""

    def __init__(self, quotes: Sequence[str]) -> None:
        self._quotes = quotes
        self._sizes = np.array([len(quote) for quote in quotes], dtype=np.int64)
        self._index = SeedIndex(dict(enumerate(quotes)), largest=GRAM, step=STEP)
        self._contexts: dict[int, tuple[str, str]] = {}
        self.repeated: set[int] = set()

    def find(self, block: Sequence[Chunk]) -> Iterator[Piece]:
        """The pieces in a block of chunks, each once."""
        seeds = self._index.find([chunk.text for chunk in block])
        order = np.lexsort((seeds.diagonal, seeds.pair))
        columns = np.stack([seeds.text[order], seeds.quote[order], seeds.diagonal[order]])
        is_new = np.ones(columns.shape[1], dtype=bool)
        is_new[1:] = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
        begins = np.flatnonzero(is_new)
        places = columns[:, begins]
        shared = np.diff(begins, append=columns.shape[1])
        found: set[Piece] = set()
        for text, quote, place in places[:, shared >= self._needed(block, *places)].T.tolist():
            piece = self._piece(block[text], quote, place)
            if piece is not None and piece not in found:
                found.add(piece)
                yield piece

    def _needed(self, block: Sequence[Chunk], text: Ints, quote: Ints, place: Ints) -> Ints:
        """How many n-grams of the index a quote and a chunk share, if the chunk contains what its edges leave of it."""
        size = self._sizes[quote]
        length = np.array([len(chunk.text) for chunk in block], dtype=np.int64)[text]
        body = np.array([chunk.body for chunk in block], dtype=np.int64)[text]
        start, end = np.maximum(0, body - place), np.minimum(size, length - place)
        last = (end - np.minimum(GRAM, size)) // STEP
        needed: Ints = last + 1 - -(-start // STEP)
        return needed

    def _piece(self, chunk: Chunk, number: int, place: int) -> Piece | None:
        """The part of a quote that a chunk contains if the quote would begin at a place in it."""
        quote, text = self._quotes[number], chunk.text
        end = min(len(quote), len(text) - place)
        for edge in chunk.edges:
            start = max(0, edge - place)
            if end - start < min(len(quote), MIN_PIECE) or quote[start:end] != text[start + place : end + place]:
                continue
            if (start == 0 and splits_word(text, place)) or (end == len(quote) and splits_word(text, end + place)):
                continue
            if start == 0 and end == len(quote):
                self._note_context(number, text[max(0, place - CONTEXT) : place], text[end + place :][:CONTEXT])
            return Piece(number, chunk.number, start, with_cut_space(quote, end))
        return None

    def _note_context(self, number: int, before: str, after: str) -> None:
        """Compare what surrounds two occurrences: chunks that overlap show the same one twice."""
        first = self._contexts.setdefault(number, (before, after))
        is_same = (first[0].endswith(before) or before.endswith(first[0])) and (
            first[1].startswith(after) or after.startswith(first[1])
        )
        if not is_same:
            self.repeated.add(number)


def with_cut_space(quote: str, end: int) -> int:
    """The end of a piece; a space at which the quote was cut belongs to the piece before it."""
    return end + 1 if quote[end : end + 1] == " " else end
