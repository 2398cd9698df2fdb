"""The parts of quotes that chunks contain, and what is known of quotes that are in no chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ints
from rankgauge.errors import InputError
from rankgauge.io.corpus.chunking import Chunk
from rankgauge.labels.gold.gold_labels import GoldPassage
from rankgauge.labels.gold.normalized_text import NormalizedChunk

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


# Exact matches: a quote, or what a chunk's edges leave of it, is in the chunk character
# by character.
#
# Hashed n-grams of the quotes are looked up in one pass over all chunks; approximate
# matching begins with them too.

MIN_SPLIT_QUOTE = 32  # a shorter quote counts only as a whole
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
        self.words: dict[int, str] = {}  # the first word of which a quote is a part, by the number of the quote

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
                if number in self._spans:
                    self.within_words.append(piece)
                elif number not in self.words:
                    self.words[number] = _words_around(text, start + place, end + place)
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


def _words_around(text: str, begin: int, end: int) -> str:
    """A part of a text with the rest of the words in which it begins and ends."""
    while splits_word(text, begin):
        begin -= 1
    while splits_word(text, end):
        end += 1
    return text[begin:end]


def with_cut_space(quote: str, end: int) -> int:
    """The end of a piece; a space at which the quote was cut belongs to the piece before it."""
    return end + 1 if quote[end : end + 1] == " " else end


# Where quotes and chunks share a run of characters.
#
# The index holds n-grams of the quotes, which are few; chunks stream past it, joined into blocks, and every n-gram of a
# block is hashed and looked up by NumPy. The time grows with the characters of chunks and quotes, not with their
# product, unless quotes and chunks repeat the same words in every combination: then the number of places is limited.

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


# Parts of quotes that the edges of chunks leave, found by their hashes: a near miss costs no comparison.
#
# A chunk that cuts a quote begins with the end of it, ends with its beginning, or lies within it. Hashes of all ends
# and of all beginnings of the quotes are in sorted tables. In a chunk, only the places where some quote begins or ends,
# by its first or last n-gram, are looked up there.

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


def shortest_piece(quote: str) -> int:
    """The fewest characters of a quote that a chunk must contain."""
    return MIN_PIECE if len(quote) >= MIN_SPLIT_QUOTE else len(quote)


def splits_word(text: str, position: int) -> bool:
    """Whether a position is inside a word, in scripts that separate words by spaces."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    return before.isalnum() and after.isalnum() and max(before, after) < "\u0590"
