"""Exact matches: a quote, or what a chunk's edges leave of it, is in the chunk character by character."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rankgauge.io.corpus.chunking.chunks import Chunk
from rankgauge.labels.gold.chunks import NormalizedChunk
from rankgauge.labels.gold.edges import CutIndex
from rankgauge.labels.gold.labels import GoldPassage
from rankgauge.labels.gold.pieces import MIN_PIECE, MIN_SPLIT_QUOTE, Piece, shortest_piece, splits_word
from rankgauge.labels.gold.seeds import SeedIndex

GRAM = MIN_PIECE
CONTEXT = 24  # characters on each side by which occurrences are distinguished


class ExactMatcher:
    """Finds quotes in blocks of chunks, and which of them occur at more than one place.

    A whole quote contains the n-gram of it that the fewest quotes share; a part of it that a chunk's edge cuts off is
    next to that edge. A quote is not found inside another word. A span may begin or end there: it is found so in the
    chunks whose ids say that they are from its place, and ``within_words`` has what other chunks contain of it so.
    """

    def __init__(self, quotes: Sequence[str], spans: Mapping[int, GoldPassage] | None = None) -> None:
        self._quotes, self._spans = quotes, spans or {}
        self._whole = SeedIndex(dict(enumerate(quotes)), largest=GRAM)
        long = [number for number, quote in enumerate(quotes) if len(quote) >= MIN_SPLIT_QUOTE]
        self._cut = CutIndex(quotes, long, GRAM)
        self._contexts: dict[int, tuple[str, str]] = {}
        self.repeated: set[int] = set()
        self.within_words: list[Piece] = []

    def find(self, block: Sequence[NormalizedChunk]) -> Iterator[Piece]:
        """The pieces in a block of chunks, each once."""
        texts = [chunk.text for chunk in block]
        seeds = self._whole.find(texts)
        cut = self._cut.find(texts, [chunk.edges for chunk in block])
        places = {
            *zip(seeds.text.tolist(), seeds.quote.tolist(), seeds.diagonal.tolist(), strict=True),
            *zip(cut.text.tolist(), cut.quote.tolist(), cut.place.tolist(), strict=True),
        }
        found: set[Piece] = set()
        for text, quote, place in sorted(places):
            piece = self._piece(block[text], quote, place)
            if piece is not None and piece not in found:
                found.add(piece)
                yield piece

    def _piece(self, chunk: NormalizedChunk, number: int, place: int) -> Piece | None:
        """The part of a quote that a chunk contains if the quote would begin at a place in it."""
        quote, text = self._quotes[number], chunk.text
        end = min(len(quote), len(text) - place)
        for edge in chunk.edges:
            start = max(0, edge - place)
            if end - start < shortest_piece(quote) or quote[start:end] != text[start + place : end + place]:
                continue
            piece = Piece(number, chunk.number, start, with_cut_space(quote, end), start + place)
            is_in_word = (start == 0 and splits_word(text, place)) or (
                end == len(quote) and splits_word(text, end + place)
            )
            if is_in_word and not self._is_from(chunk, number):
                self.within_words += [piece] if number in self._spans else []
                continue
            if start == 0 and end == len(quote):
                self._note_context(number, text[max(0, place - CONTEXT) : place], text[end + place :][:CONTEXT])
            return piece
        return None

    def _is_from(self, chunk: NormalizedChunk, number: int) -> bool:
        """Whether a chunk says that it has the place of a span."""
        span = self._spans.get(number)
        if span is None:
            return False
        document = str(span.document).encode("utf-8", "surrogateescape")
        return Chunk.overlaps(chunk.document.id, document, span.start, span.end)

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
