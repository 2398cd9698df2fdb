"""Find quotes in chunks: exactly or, if they are not there as written, approximately.

A chunk contains a quote, or the part of it that the chunk's edges leave: a part that ends in the middle of a chunk is
another sentence with the same words, and does not count.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.progress import phase
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.reading_options import DEFAULT_MATCHING
from rankgauge.labels.gold.gold_labels import GoldLabels, GoldPassage
from rankgauge.labels.gold.normalized_text import ChunkIds, NormalizedChunk, NormalizedText, chunk_blocks, normalized
from rankgauge.labels.gold.quote_matches import (
    PAIR_BITS,
    ExactMatcher,
    NearText,
    Piece,
    QuoteMatches,
    SeedIndex,
    covered_characters,
    with_cut_space,
)

MatchProgress = Callable[[int, int | None], None]  # chunks compared, chunks in total if that is known


def match_labels(
    labels: GoldLabels,
    corpus: Corpus,
    tolerance: float = DEFAULT_MATCHING.tolerance,
    progress: MatchProgress | None = None,
) -> QuoteMatches:
    """Which chunks contain which parts of the passages, each of which has its text, and of those that are forbidden.

    Forbidden text is matched without edits: a stale version may differ from the right one in a number.
    """
    matches = _match_passages(labels.passages, corpus, tolerance, progress)
    if not labels.forbidden:
        return matches
    return replace(matches, forbidden=_match_passages(labels.forbidden, corpus, 0.0, None))


def _match_passages(
    passages: Sequence[GoldPassage], corpus: Corpus, tolerance: float, progress: MatchProgress | None
) -> QuoteMatches:
    quotes = [str(passage.text) for passage in passages]
    spans = {number: passage for number, passage in enumerate(passages) if passage.is_span}
    return match_quotes(quotes, corpus, tolerance, spans, progress)


def match_quotes(
    quotes: Sequence[str],
    corpus: Corpus,
    tolerance: float = DEFAULT_MATCHING.tolerance,
    spans: Mapping[int, GoldPassage] | None = None,
    progress: MatchProgress | None = None,
) -> QuoteMatches:
    """Which chunks contain which parts of the quotes; ``spans`` are those whose place in a document is known.

    ``tolerance`` is the largest edit distance, as a share of the characters that are compared. It is used only for a
    quote that the chunks together do not contain exactly, up to that share: a sentence that differs in a number is not
    taken for the one that is there word by word.
    """
    texts = [normalized(quote) for quote in quotes]
    sizes = [len(text) for text in texts]
    ids = ChunkIds(corpus.source)
    exact = ExactMatcher(texts, spans)
    pieces: list[Piece] = []
    for block in _reported(corpus, progress):
        ids.add(block)
        pieces += exact.find(block)
    ids.check()
    covered = covered_characters(pieces, sizes).tolist()
    cut = [piece for piece in exact.within_words if covered[piece.quote] < sizes[piece.quote]]
    if cut:
        pieces = list({*pieces, *cut})
        covered = covered_characters(pieces, sizes).tolist()
    incomplete = [number for number, size in enumerate(sizes) if covered[number] < (1 - tolerance) * size]
    nearest = {}
    if incomplete:
        approximate = ApproximateMatcher(texts, incomplete, tolerance)
        for block in _reported(corpus, progress, len(ids.names)):
            approximate.add(block)
        pieces = _merged(pieces, approximate.pieces())
        found = {piece.quote for piece in pieces}
        near = {number: approximate.nearest(number) for number in incomplete if number not in found}
        nearest = {number: text for number, text in near.items() if text is not None}
    found = {piece.quote for piece in pieces}
    words = {number: word for number, word in sorted(exact.words.items()) if number not in found}
    return QuoteMatches(texts, ids.names, sorted(pieces), frozenset(exact.repeated), nearest, words)


def _reported(
    corpus: Corpus, progress: MatchProgress | None, total: int | None = None
) -> Iterator[Sequence[NormalizedChunk]]:
    """The blocks of chunks; tells how far they are."""
    completed = 0
    with phase("matching quotes" if total is None else "matching edited quotes", "chunk") as matching:
        report = progress or (lambda done, of: matching.report(done, of or 0))
        for block in chunk_blocks(corpus):
            yield block
            completed += len(block)
            report(completed, total)


def _merged(exact: Sequence[Piece], approximate: Sequence[Piece]) -> list[Piece]:
    """All pieces, without an approximate one in the place of an exact one."""
    exact_pairs = {(piece.quote, piece.chunk) for piece in exact}
    return [*exact, *(piece for piece in approximate if (piece.quote, piece.chunk) not in exact_pairs)]


# Approximate matches, for text that was cleaned differently: within an edit distance, where enough n-grams agree.

MIN_APPROXIMATE_PIECE = 32  # characters of a quote that a chunk must contain, if they are matched with edits
APPROXIMATE_GRAM = 8
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
        self._index = SeedIndex({number: quotes[number] for number in numbers}, largest=APPROXIMATE_GRAM, most=COMMON)
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
        if len(self._quotes[number]) < APPROXIMATE_GRAM:
            return 0
        indexed = self._indexed.get(number, [])
        count = bisect_left(indexed, end - APPROXIMATE_GRAM + 1) - bisect_left(indexed, start)
        return -(-(count - shared) // APPROXIMATE_GRAM)

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
        slack = int(self._tolerance * len(self._quotes[number])) + APPROXIMATE_GRAM
        size = np.searchsorted(ordered, ordered + slack, side="right") - np.arange(len(ordered))
        begin = int(np.argmax(size))
        members = order[begin : begin + int(size[begin])]
        by_position = members[np.argsort(candidate.text_position[members], kind="stable")]
        return _Alignment(int(diagonal[by_position[0]]), int(diagonal[by_position[-1]]), len(members))


# The edit distance of a pattern to the best matching part of a text, by bits: columns of the dynamic program are the
# bits of two integers (Myers 1999, in the form of Hyyrö 2003), so that one step handles a character of the text
# whatever the length of the pattern.


def best_distance(pattern: str, text: str) -> int:
    """The smallest number of insertions, deletions and substitutions between the pattern and any part of the text."""
    masks: dict[str, int] = {}
    for index, character in enumerate(pattern):
        masks[character] = masks.get(character, 0) | 1 << index
    full = (1 << len(pattern)) - 1
    last = 1 << len(pattern) - 1 if pattern else 0
    increases, decreases = full, 0  # of neighboring cells of a column
    distance = smallest = len(pattern)
    for character in text:
        matches = masks.get(character, 0)
        diagonal = (((matches & increases) + increases) ^ increases) | matches | decreases
        up = decreases | (full & ~(diagonal | increases))
        down = increases & diagonal
        if up & last:
            distance += 1
        elif down & last:
            distance -= 1
            if distance < smallest:
                smallest = distance
        up = up << 1 & full  # no 1 comes in: the match may begin anywhere in the text
        increases = (down << 1 | ~(diagonal | up)) & full
        decreases = up & diagonal
    return smallest
