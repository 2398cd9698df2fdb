"""The parts of quotes that chunks contain, and what is known of quotes that are in no chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rankgauge.core.ids import Ints

MIN_PIECE = 16  # characters of a quote that a chunk must contain, unless it contains the whole quote


class Piece(NamedTuple):
    """A chunk contains the characters ``start`` to ``end`` of a normalized quote, but for ``distance`` edits.

    The piece begins at character ``place`` of the normalized chunk.
    """

    quote: int
    chunk: int
    start: int
    end: int
    place: int
    distance: int = 0


class NearText(NamedTuple):
    """The text that is most like a quote that was not found, and its edit distance."""

    chunk: bytes
    text: str
    distance: int


@dataclass(frozen=True, eq=False)
class QuoteMatches:
    """Which chunk contains which part of which quote.

    ``repeated`` are quotes that occur at more than one place, ``approximate`` those that were matched with edits,
    ``nearest`` has the most similar text for those that are in no chunk, ``words`` the words of which some of these are
    a part.
    """

    quotes: Sequence[str]  # normalized
    chunk_ids: Sequence[bytes]
    pieces: Sequence[Piece]
    repeated: frozenset[int] = frozenset()
    nearest: dict[int, NearText] = field(default_factory=dict)
    words: dict[int, str] = field(default_factory=dict)
    forbidden: QuoteMatches | None = None  # those of quotes that must not be returned

    def chunks_of_quotes(self, coverage: float) -> list[list[bytes]]:
        """For each quote the chunks that cover enough of it by themselves, or else the one that covers most."""
        by_pair: dict[tuple[int, int], list[Piece]] = {}
        for piece in self.pieces:
            by_pair.setdefault((piece.quote, piece.chunk), []).append(piece._replace(quote=0))
        shares: list[dict[int, float]] = [{} for _ in self.quotes]
        for (quote, chunk), pieces in by_pair.items():
            size = len(self.quotes[quote])
            shares[quote][chunk] = float(covered_characters(pieces, [size])[0]) / size
        chosen = []
        for by_chunk in shares:
            enough = [chunk for chunk, share in sorted(by_chunk.items()) if share >= coverage - 1e-12]
            if by_chunk and not enough:
                enough = [max(by_chunk, key=lambda chunk: (by_chunk[chunk], -chunk))]
            chosen.append([self.chunk_ids[chunk] for chunk in enough])
        return chosen

    @property
    def approximate(self) -> frozenset[int]:
        """Quotes that some chunk contains only with edits."""
        return frozenset(piece.quote for piece in self.pieces if piece.distance)

    @property
    def missing(self) -> Sequence[int]:
        """Quotes of which no chunk contains any part."""
        found = {piece.quote for piece in self.pieces}
        return [number for number in range(len(self.quotes)) if number not in found]


def covered_characters(pieces: Sequence[Piece], sizes: Sequence[int]) -> Ints:
    """The number of characters of each quote that is in at least one chunk."""
    covered = np.zeros(len(sizes), dtype=np.int64)
    reached: dict[int, int] = {}
    for piece in sorted(pieces, key=lambda piece: (piece.quote, piece.start)):
        begin = max(piece.start, reached.get(piece.quote, 0))
        if piece.end > begin:
            covered[piece.quote] += piece.end - begin
            reached[piece.quote] = piece.end
    return covered
