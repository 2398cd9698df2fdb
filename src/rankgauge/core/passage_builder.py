"""From tables of passages, chunks and pieces to judgments by text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.core.arrays import frozen, offsets_of
from rankgauge.core.ids import IdIndex, Ids, Ints, numbered, repeated
from rankgauge.core.passage_judgments import PassageJudgments, chunk_shares
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, shown


@dataclass(frozen=True, eq=False)
class PassageRows:
    """One row per gold passage: its query, its name, and its length in characters, after normalization."""

    query: Ids
    name: Ids
    length: Ints


@dataclass(frozen=True, eq=False)
class ChunkRows:
    """One row per query and chunk: every chunk that covers gold, and every retrieved chunk.

    The ideal ranking is made of these chunks.
    """

    query: Ids
    doc: Ids


@dataclass(frozen=True, eq=False)
class PieceRows:
    """One row per part of a passage that a chunk covers; ``passage`` and ``chunk`` are rows of the other tables.

    ``start`` and ``end`` (exclusive) are characters of the passage. A chunk may cover several parts of a passage.
    """

    passage: Ints
    chunk: Ints
    start: Ints
    end: Ints


def build_passage_judgments(
    passages: PassageRows,
    chunks: ChunkRows,
    pieces: PieceRows,
    *,
    coverage: float,
    tolerance: float = 0.0,
    name: str = "gold",
) -> Qrels:
    """Judgments from tables whose rows are in any order.

    The queries are those that have passages, each with a name of its own within its query. The grade of a chunk is the
    largest share of a passage that it covers by itself. A passage or a chunk listed twice for a query is an error.
    """
    passage_query, queries = numbered(passages.query)
    chunk_query = _numbers_of(chunks.query, queries)
    _check_rows(passages, chunks, pieces, passage_query, chunk_query)
    passage_order = np.lexsort((numbered(passages.name)[0], passage_query))
    chunk_order = np.lexsort((numbered(chunks.doc)[0], chunk_query))
    chunk_rows = _inverse(chunk_order)
    passage, ordinal = _inverse(passage_order)[pieces.passage], chunk_rows[pieces.chunk]
    piece_order = np.lexsort((pieces.start, ordinal, passage))
    piece_query = passage_query[pieces.passage[piece_order]]
    docs = chunks.doc.take(chunk_order)
    judgments = PassageJudgments(
        docs=docs,
        passages=passages.name.take(passage_order),
        passage_offsets=frozen(offsets_of(passage_query, len(queries))),
        passage_length=frozen(passages.length[passage_order]),
        offsets=frozen(offsets_of(piece_query, len(queries))),
        passage=frozen(passage[piece_order]),
        ordinal=frozen(ordinal[piece_order]),
        start=frozen(pieces.start[piece_order]),
        end=frozen(pieces.end[piece_order]),
        coverage=float(coverage),
        tolerance=float(tolerance),
    )
    return Qrels(
        name=name,
        queries=queries,
        offsets=frozen(offsets_of(chunk_query, len(queries))),
        docs=docs,
        grades=frozen(chunk_shares(judgments)),
        by_group=judgments,
    )


def _numbers_of(query: Ids, queries: Ids) -> Ints:
    """The number of each row's query; raises if it has no passages."""
    index = IdIndex(queries, np.zeros(len(queries), dtype=np.int64))
    rows, number = index.find(query, np.zeros(len(query), dtype=np.int64))
    if len(rows) != len(query):
        missing = np.setdiff1d(np.arange(len(query)), rows)
        raise ValueError(f"chunks of a query without passages: {shown(query[int(missing[0])])}")
    out = np.empty(len(query), dtype=np.int64)
    out[rows] = number
    return out


def _check_rows(
    passages: PassageRows, chunks: ChunkRows, pieces: PieceRows, passage_query: Ints, chunk_query: Ints
) -> None:
    for what, names, query, number in (
        ("chunk", chunks.doc, chunks.query, chunk_query),
        ("gold passage", passages.name, passages.query, passage_query),
    ):
        _, again = repeated(names, number)
        if len(again):
            row = int(again[0])
            raise InputError(f"{what} {shown(names[row])} is listed twice for query {shown(query[row])}")
    if np.any(passages.length < 1):
        row = int(np.flatnonzero(passages.length < 1)[0])
        raise InputError(f"gold passage {shown(passages.name[row])} of query {shown(passages.query[row])} is empty")
    limit = passages.length[pieces.passage]
    if np.any((pieces.start < 0) | (pieces.end < pieces.start) | (pieces.end > limit)):
        raise ValueError("a piece is not within its passage")
    if np.any(passage_query[pieces.passage] != chunk_query[pieces.chunk]):
        raise ValueError("a piece has a passage and a chunk of different queries")


def _inverse(order: Ints) -> Ints:
    out = np.empty_like(order)
    out[order] = np.arange(len(order))
    return out
