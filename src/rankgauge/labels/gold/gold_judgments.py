"""From matches to judgments: how passages count, the passages of each query, and what each chunk covers of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from rankgauge.core import ids as ids_module
from rankgauge.core.formatting import listing
from rankgauge.core.ids import Ids, Ints, encode_id, numbered
from rankgauge.core.passage_builder import ChunkRows, PartRows, PassageRows, PieceRows, build_passage_judgments
from rankgauge.core.passage_judgments import Unit
from rankgauge.core.qrels import ANSWERABLE, Qrels
from rankgauge.core.run import Run
from rankgauge.core.settings import check_settings, setting_of
from rankgauge.errors import InputError, shown
from rankgauge.io.corpus.chunking import token_spans
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.reading_options import PassageMatching
from rankgauge.labels.gold.exact_matching import ExactMatcher
from rankgauge.labels.gold.gold_labels import GoldLabels, GoldPassage
from rankgauge.labels.gold.normalized_text import NormalizedChunk, NormalizedText, Tokenizer, TokenPlaces, normalized
from rankgauge.labels.gold.quote_matches import MIN_PIECE, Piece, QuoteMatches


@dataclass(frozen=True)
class GoldOptions:
    """How much of a passage must be retrieved, how exactly texts must agree, and what a token is.

    A passage is found at the rank where the chunks so far cover the share ``coverage`` of it. ``tolerance`` is the
    largest edit distance, as a share of the characters compared, for a passage that the chunks do not contain exactly.
    ``tokenizer`` gives the start and end of each token of a text: by default words and punctuation marks.
    """

    coverage: float = setting_of(PassageMatching, "coverage")
    tolerance: float = setting_of(PassageMatching, "tolerance")
    tokenizer: Tokenizer = token_spans

    def __post_init__(self) -> None:
        check_settings(self)


def gold_judgments(
    labels: GoldLabels, matches: QuoteMatches, corpus: Corpus, runs: Sequence[Run], options: GoldOptions
) -> Qrels:
    """Judgments of the chunks that contain gold, and of those that the runs retrieved, which have lengths to count."""
    query = Ids.from_text([passage.query for passage in labels.passages], "query id")
    forbidden = _forbidden_chunks(labels, matches.forbidden, options.coverage)
    matches = _without_edits_in(forbidden, labels, matches)
    pairs = _Pairs.of(query, matches, runs)
    lengths = _chunk_lengths(corpus, pairs.docs, options.tokenizer)
    quotes = [TokenPlaces.of(text, options.tokenizer) for text in matches.quotes]
    gold = GoldText.of(labels.passages, matches, quotes)
    qrels = build_passage_judgments(
        PassageRows(
            query,
            Ids.from_text(labels.passage_names(), "passage"),
            _units([(quote.characters, len(quote)) for quote in quotes]),
            gold.own_lengths(),
        ),
        ChunkRows(pairs.query, pairs.doc, _units([(lengths[doc].characters, len(lengths[doc])) for doc in pairs.doc])),
        PieceRows(
            np.array([piece.quote for piece in matches.pieces], dtype=np.int64),
            pairs.piece_rows,
            np.array([piece.start for piece in matches.pieces], dtype=np.int64),
            np.array([piece.end for piece in matches.pieces], dtype=np.int64),
        ),
        gold.parts(pairs.piece_rows, lengths),
        coverage=options.coverage,
        tolerance=options.tolerance,
        name=labels.name,
    )
    qrels = qrels.with_queries([encode_id(name, "query id") for name in labels.unanswerable])
    qrels = qrels.with_columns(labels.columns) if labels.columns else qrels
    if labels.unanswerable:
        nothing = set(labels.unanswerable)
        qrels = qrels.with_columns({ANSWERABLE: {name: name not in nothing for name in qrels.queries.to_text()}})
    qrels = _with_forbidden(qrels, forbidden, options.coverage)
    # Other chunks, or another run on them, are not other labels: stored baselines stay comparable.
    qrels.__dict__["sha256"] = _labels_sha256(labels, options)
    return qrels


ForbiddenChunks = dict[str, dict[str, str]]  # by query: why each chunk is forbidden


def _forbidden_chunks(labels: GoldLabels, matches: QuoteMatches | None, coverage: float) -> ForbiddenChunks:
    """The chunks that must not be returned: by id, and those that contain a forbidden quote."""
    names = set(labels.queries)
    chunks = {query: dict.fromkeys(ids, "listed by its id") for query, ids in labels.forbidden_ids.items()}
    found = [] if matches is None else matches.chunks_of_quotes(coverage)
    for passage, docs in zip(labels.forbidden, found, strict=matches is not None):
        own = chunks.setdefault(passage.query, {})  # a quote that no chunk contains guards its query, too
        for doc in docs:
            own.setdefault(doc.decode("utf-8", "surrogateescape"), f"which contains {shown(str(passage.text))}")
    return {query: docs for query, docs in chunks.items() if query in names}


def _without_edits_in(forbidden: ForbiddenChunks, labels: GoldLabels, matches: QuoteMatches) -> QuoteMatches:
    """The matches but for gold that a forbidden chunk contains only with edits: it is the stale version of the gold."""
    if not forbidden or not matches.approximate:
        return matches
    names = [chunk.decode("utf-8", "surrogateescape") for chunk in matches.chunk_ids]
    kept = [
        piece
        for piece in matches.pieces
        if not piece.distance or names[piece.chunk] not in forbidden.get(labels.passages[piece.quote].query, {})
    ]
    return replace(matches, pieces=kept)


def _with_forbidden(qrels: Qrels, forbidden: ForbiddenChunks, coverage: float) -> Qrels:
    """The judgments with the chunks that must not be returned; one that is relevant is an error."""
    if not forbidden:
        return qrels
    queries = qrels.queries.to_text()
    for number, doc, share in zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades.tolist(), strict=True):
        if share >= coverage - 1e-12 and doc in forbidden.get(queries[number], {}):
            raise InputError(
                f"chunk {shown(doc)} is both forbidden ({forbidden[queries[number]][doc]}) and relevant for query "
                f"{shown(queries[number])}",
                hint="leave it out of one of the two lists, or use smaller chunks",
            )
    return replace(qrels, forbidden={query: tuple(docs) for query, docs in forbidden.items()})


def _labels_sha256(labels: GoldLabels, options: GoldOptions) -> str:
    passages = sorted((passage.query, normalized(str(passage.text)), *_span(passage)) for passage in labels.passages)
    facts: list[object] = ["rankgauge gold 1", passages, options.coverage, options.tolerance]
    if labels.unanswerable or labels.forbidden or labels.forbidden_ids:
        quotes = sorted((passage.query, normalized(str(passage.text)), *_span(passage)) for passage in labels.forbidden)
        facts += [sorted(labels.unanswerable), quotes, sorted(labels.forbidden_ids.items())]
    content = json.dumps(facts)
    return hashlib.sha256(content.encode("ascii")).hexdigest()


def _span(passage: GoldPassage) -> tuple[object, ...]:
    """What decides which text a passage shares with others."""
    return (passage.document, passage.start, passage.end) if passage.is_span else ()


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Each query with each of its chunks, once; ``piece_rows`` are the rows of the pieces' chunks."""

    query: Ids
    doc: Ids
    docs: Ids
    piece_rows: Ints

    @classmethod
    def of(cls, passage_query: Ids, matches: QuoteMatches, runs: Sequence[Run]) -> _Pairs:
        passage = np.array([piece.quote for piece in matches.pieces], dtype=np.int64)
        chunks = Ids.from_bytes([matches.chunk_ids[piece.chunk] for piece in matches.pieces])
        gold = set(passage_query.to_text())
        parts = [(passage_query.take(passage), chunks)]
        for run in runs:
            judged = run.select(
                np.array([n for n, name in enumerate(run.queries.to_text()) if name in gold], dtype=int)
            )
            parts.append((judged.queries.take(judged.query), judged.docs))
        query = ids_module.concatenate([query for query, _ in parts])
        doc = ids_module.concatenate([doc for _, doc in parts])
        doc_number, docs = numbered(doc)
        _, first, row = np.unique(
            numbered(query)[0] * max(len(docs), 1) + doc_number, return_index=True, return_inverse=True
        )
        return cls(query.take(first), doc.take(first), docs, row[: len(chunks)])


def _chunk_lengths(corpus: Corpus, docs: Ids, tokenizer: Tokenizer) -> dict[bytes, TokenPlaces]:
    """The tokens of some chunks; raises if the corpus does not have one of them."""
    needed = set(docs)
    lengths = {
        document.id: TokenPlaces.of(NormalizedChunk.of(number, document).text, tokenizer)
        for number, document in enumerate(corpus)
        if document.id in needed
    }
    if len(lengths) < len(needed):
        missing = sorted(needed - set(lengths))
        raise InputError(
            f"{len(missing):,} of {len(needed):,} retrieved chunks have no text in {corpus.source}: "
            f"{listing(map(shown, missing))}",
            hint="name the chunks that the run was made from: --chunks CHUNKS",
        )
    return lengths


def _units(values: Sequence[tuple[int, int]]) -> dict[Unit, Ints]:
    """Pairs of a number of characters and a number of tokens, as columns."""
    columns = np.array(values, dtype=np.int64).reshape(-1, 2)
    return {"characters": columns[:, 0], "tokens": columns[:, 1]}


# Where gold is: the gold text of each query, in which text that passages share is there once.
#
# Passages share text in three ways. Spans of one document overlap there. A quote is part of another one, or the end of
# one is the beginning of another, by as many characters as count as a part of a quote. A chunk contains two passages
# one over the other, however short the overlap is; of two spans of one document this says nothing, as their places are
# known. Shared text belongs to the longest of its passages; a passage that is part of several belongs to the first of
# these.

FEW_QUOTES = 20
ABSENT = -2  # neither a position nor next to one


class _Placed(NamedTuple):
    """A part of a passage at a place of a text: ``size`` units, the first of which is ``begin`` among all gold."""

    passage: int
    begin: int
    size: int
    place: int


class _Text(NamedTuple):
    """A text that contains several passages of one query: a document, a passage itself, or a chunk."""

    placed: Sequence[_Placed]
    is_chunk: bool = False


@dataclass(frozen=True, eq=False)
class GoldText:
    """The position of each character and of each token of all passages, laid end to end, in the gold text.

    A character or a token whose position is its own number is there for the first time.
    """

    matches: QuoteMatches
    places: Sequence[TokenPlaces]  # of each passage
    character_begins: Ints
    token_begins: Ints
    characters: Ints
    tokens: Ints

    @classmethod
    def of(cls, passages: Sequence[GoldPassage], matches: QuoteMatches, places: Sequence[TokenPlaces]) -> GoldText:
        """Find out which text the passages share; ``places`` are the tokens of their normalized texts."""
        begins, token_begins = (
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            for sizes in ([len(text) for text in matches.quotes], [len(tokens) for tokens in places])
        )
        documents: dict[str, int] = {}
        numbers = [
            documents.setdefault(str(passage.document), len(documents)) if passage.is_span else ABSENT
            for passage in passages
        ]
        texts = _texts_with_several(passages, matches, begins)
        characters = _first_positions(texts, begins, np.array(numbers, dtype=np.int64))
        starts = [place.starts + begin for place, begin in zip(places, begins.tolist(), strict=False)]
        ends = [place.ends + begin for place, begin in zip(places, begins.tolist(), strict=False)]
        tokens = _first_tokens(characters, _joined(starts), _joined(ends))
        return cls(matches, places, begins, token_begins, characters, tokens)

    def own_lengths(self) -> dict[Unit, Ints]:
        """How many characters and tokens each passage has that belong to no other passage."""
        units: dict[Unit, tuple[Ints, Ints]] = {
            "characters": (self.characters, self.character_begins),
            "tokens": (self.tokens, self.token_begins),
        }
        lengths: dict[Unit, Ints] = {}
        for unit, (positions, begins) in units.items():
            own = np.concatenate([[0], np.cumsum(positions == np.arange(len(positions)))])
            lengths[unit] = np.diff(own[begins])
        return lengths

    def parts(self, rows: Ints, chunks: Mapping[bytes, TokenPlaces]) -> dict[Unit, PartRows]:
        """Where the gold is in chunks: each unit of a chunk counts once, for the longest passage that it belongs to.

        ``rows`` are the rows of the pieces' chunks, each of which is for one query.
        """
        by_row: dict[int, list[Piece]] = {}
        for row, piece in zip(rows.tolist(), self.matches.pieces, strict=True):
            by_row.setdefault(row, []).append(piece)
        characters, tokens = _PartTable(self.characters), _PartTable(self.tokens)
        for row, pieces in by_row.items():
            chunk = chunks[self.matches.chunk_ids[pieces[0].chunk]]
            pieces = sorted(pieces, key=lambda piece: (*self._priority(piece.quote), piece.place))
            characters.add(row, (_placed(piece, self.character_begins) for piece in pieces), chunk.characters)
            tokens.add(row, (self._placed_tokens(piece, chunk) for piece in pieces), len(chunk))
        return {"characters": characters.rows(), "tokens": tokens.rows()}

    def _priority(self, passage: int) -> tuple[int, int]:
        return -len(self.matches.quotes[passage]), passage

    def _placed_tokens(self, piece: Piece, chunk: TokenPlaces) -> _Placed:
        """The tokens that a piece has completely; the first one is where its first character is in the chunk."""
        quote = self.places[piece.quote]
        first, last = quote.within(piece.start, piece.end)
        place = 0
        if first < last:
            place = chunk.at(piece.place + int(quote.starts[first]) - piece.start)
        return _Placed(piece.quote, int(self.token_begins[piece.quote]) + first, last - first, place)


class _PartTable:
    """Collects parts of chunks."""

    def __init__(self, positions: Ints) -> None:
        self._positions = positions
        self._rows: list[Ints] = []

    def add(self, row: int, pieces: Iterable[_Placed], size: int) -> None:
        """Add the parts of a chunk of some size; the first of two pieces at the same place counts."""
        text = np.full(size, ABSENT)
        for piece in pieces:
            place = text[piece.place : piece.place + piece.size]
            positions = self._positions[piece.begin : piece.begin + len(place)]
            place[:] = np.where(place == ABSENT, positions, place)
        is_first = text != ABSENT
        is_first[1:] &= np.diff(text) != 1
        is_last = text != ABSENT
        is_last[:-1] &= np.diff(text) != 1
        begin, end = np.flatnonzero(is_first), np.flatnonzero(is_last) + 1
        self._rows.append(np.stack([np.full(len(begin), row), begin, end - begin, text[begin]], axis=1))

    def rows(self) -> PartRows:
        """All parts."""
        return PartRows(*np.concatenate([np.zeros((0, 4), dtype=np.int64), *self._rows]).T)


def _first_positions(texts: Iterable[_Text], begins: Ints, documents: Ints) -> Ints:
    """The position of each character, given texts that contain several passages, the most certain ones first.

    ``documents`` has the number of the document of each span.
    """
    shared: dict[int, list[tuple[int, Ints]]] = {}
    sizes = np.diff(begins)

    def priority(passage: int) -> tuple[int, int]:
        return -int(sizes[passage]), passage

    for placed, is_chunk in texts:
        text = np.full(max(piece.place + piece.size for piece in placed), ABSENT)
        for piece in sorted(placed, key=lambda piece: (*priority(piece.passage), piece.place)):
            place = text[piece.place : piece.place + piece.size]
            others = place.copy()
            place[:] = np.where(place == ABSENT, np.arange(piece.begin, piece.begin + piece.size), place)
            owner = np.searchsorted(begins, others, side="right") - 1
            others[owner == piece.passage] = ABSENT
            if is_chunk and documents[piece.passage] != ABSENT:
                others[documents[owner] == documents[piece.passage]] = ABSENT
            if np.any(others != ABSENT):
                shared.setdefault(piece.passage, []).append((piece.begin, others))
    positions = np.arange(int(begins[-1]))
    for passage in sorted(shared, key=priority):  # the passages that it shares text with are complete
        for begin, others in shared[passage]:
            own = np.arange(begin, begin + len(others))
            takes = np.flatnonzero((others != ABSENT) & (positions[own] == own))
            positions[own[takes]] = positions[others[takes]]
    return positions


def _first_tokens(characters: Ints, starts: Ints, ends: Ints) -> Ints:
    """The position of each token: that of the token which has its first character."""
    own = np.arange(len(starts))
    if not len(starts):
        return own
    first = characters[starts]
    token = np.searchsorted(starts, first, side="right") - 1
    tokens: Ints = np.where((token >= 0) & (first < ends[token]), token, own)
    while not np.array_equal(tokens, tokens[tokens]):  # a passage may begin in the middle of a token of another
        tokens = tokens[tokens]
    return tokens


def _texts_with_several(passages: Sequence[GoldPassage], matches: QuoteMatches, begins: Ints) -> Iterator[_Text]:
    """Every text in which passages of one query are at known places: documents, passages themselves, chunks."""
    sizes = np.diff(begins)
    for rows in _overlapping_spans(passages):
        places = _places_within([passages[row] for row in rows])
        yield _Text(
            [_Placed(row, int(begins[row]), int(sizes[row]), place) for row, place in zip(rows, places, strict=True)]
        )
    queries: dict[str, list[int]] = {}
    for row, passage in enumerate(passages):
        queries.setdefault(passage.query, []).append(row)
    for rows in queries.values():
        for pieces in _within_each_other(rows, matches.quotes):
            yield _Text([_placed(piece, begins) for piece in pieces])
    chunks: dict[tuple[str, int], list[Piece]] = {}
    for piece in matches.pieces:
        chunks.setdefault((passages[piece.quote].query, piece.chunk), []).append(piece)
    for pieces in chunks.values():
        if len(pieces) > 1:
            yield _Text([_placed(piece, begins) for piece in pieces], is_chunk=True)


def _placed(piece: Piece, begins: Ints) -> _Placed:
    return _Placed(piece.quote, int(begins[piece.quote]) + piece.start, piece.end - piece.start, piece.place)


def _within_each_other(rows: Sequence[int], quotes: Sequence[str]) -> Iterator[list[Piece]]:
    """Each quote of a query as if it were a chunk, with the other quotes, or the parts of them, that it contains."""
    texts = [quotes[row] for row in rows]
    if len(texts) <= FEW_QUOTES and not any(
        one[:MIN_PIECE] in other or one[-MIN_PIECE:] in other for one, other in permutations(texts, 2)
    ):
        return  # most queries: no quote begins or ends within another one
    nowhere = CorpusDocument(b"", "", "")
    by_text: dict[int, list[Piece]] = {}
    block = [NormalizedChunk(number, nowhere, text, 0) for number, text in enumerate(texts)]
    for piece in ExactMatcher(texts).find(block):
        by_text.setdefault(piece.chunk, []).append(piece._replace(quote=rows[piece.quote]))
    yield from (pieces for pieces in by_text.values() if len(pieces) > 1)


def _overlapping_spans(passages: Sequence[GoldPassage]) -> Iterator[list[int]]:
    """The rows of spans of one query and document that overlap, in their order."""
    spans: dict[tuple[str, str], list[int]] = {}
    for row, passage in enumerate(passages):
        if passage.is_span:
            spans.setdefault((passage.query, str(passage.document)), []).append(row)
    for rows in spans.values():
        members: list[int] = []
        reached = 0
        for row in sorted(rows, key=lambda row: (passages[row].start, passages[row].end)):
            if members and passages[row].start >= reached:
                yield from [members] if len(members) > 1 else []
                members = []
            members.append(row)
            reached = max(reached, passages[row].end)
        yield from [members] if len(members) > 1 else []


def _places_within(spans: Sequence[GoldPassage]) -> list[int]:
    """Where overlapping spans, in their order, begin in the normalized text of all of them together."""
    first, parts, reached = spans[0].start, [], spans[0].start
    for span in spans:
        if reached < span.end:
            parts.append(str(span.text)[reached - span.start :])
            reached = span.end
    union = NormalizedText.of("".join(parts))
    places = []
    for span in spans:
        place = int(np.searchsorted(union.starts, span.start - first))
        places.append(place + (union.text[place : place + 1] == " "))
    return places


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
