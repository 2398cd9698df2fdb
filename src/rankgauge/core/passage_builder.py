"""From tables of passages, chunks and pieces to judgments by text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.core.arrays import frozen, offsets_of
from rankgauge.core.ids import IdIndex, Ids, Ints, numbered, repeated
from rankgauge.core.passage_judgments import Extents, PassageJudgments, Unit, chunk_shares
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, shown


@dataclass(frozen=True, eq=False)
class PassageRows:
    """One row per gold passage: its query, its name, and its length in each unit.

    ``own_length`` leaves out text that belongs to another passage of the query already, so that the gold text of a
    query is the sum.
    """

    query: Ids
    name: Ids
    length: Mapping[Unit, Ints]
    own_length: Mapping[Unit, Ints]


@dataclass(frozen=True, eq=False)
class ChunkRows:
    """One row per query and chunk: every chunk that covers gold, and every retrieved chunk, with its length.

    The ideal ranking is made of these chunks. Chunks that were retrieved but cover nothing are needed for precision,
    IoU and budgets. Lengths are counted in the same text as those of passages: after normalization.
    """

    query: Ids
    doc: Ids
    length: Mapping[Unit, Ints]


@dataclass(frozen=True, eq=False)
class PieceRows:
    """One row per part of a passage that a chunk covers; ``passage`` and ``chunk`` are rows of the other tables.

    ``start`` and ``end`` (exclusive) are characters of the passage. A chunk may cover several parts of a passage.
    """

    passage: Ints
    chunk: Ints
    start: Ints
    end: Ints


@dataclass(frozen=True, eq=False)
class PartRows:
    """One row per stretch of gold in a chunk, in one unit; the parts of a chunk do not overlap.

    A part begins at ``within_chunk`` in its chunk and at ``position`` in the gold text of its query: any line of
    numbers on which each unit of gold is at one position, whichever chunk it is in.
    """

    chunk: Ints
    within_chunk: Ints
    length: Ints
    position: Ints


def build_passage_judgments(
    passages: PassageRows,
    chunks: ChunkRows,
    pieces: PieceRows,
    parts: Mapping[Unit, PartRows],
    *,
    coverage: float,
    tolerance: float = 0.0,
    name: str = "gold",
) -> Qrels:
    """Judgments from tables whose rows are in any order; characters are needed in ``parts``, tokens are optional.

    The queries are those that have passages, each with a name of its own within its query. The grade of a chunk is the
    largest share of a passage that it covers by itself. A passage or a chunk listed twice for a query is an error.
    """
    passage_query, queries = numbered(passages.query)
    chunk_query = _numbers_of(chunks.query, queries)
    _check_rows(passages, chunks, pieces, passage_query, chunk_query)
    _check_parts(chunks, parts)
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
        passage_length=frozen(passages.length["characters"][passage_order]),
        offsets=frozen(offsets_of(piece_query, len(queries))),
        passage=frozen(passage[piece_order]),
        ordinal=frozen(ordinal[piece_order]),
        start=frozen(pieces.start[piece_order]),
        end=frozen(pieces.end[piece_order]),
        extents={
            unit: _extents(
                passages.own_length[unit][passage_order],
                chunks.length[unit][chunk_order],
                offsets_of(chunk_query, len(queries)),
                replace(rows, chunk=chunk_rows[rows.chunk]),
            )
            for unit, rows in parts.items()
        },
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


def _extents(own_length: Ints, chunk_length: Ints, chunk_offsets: Ints, parts: PartRows) -> Extents:
    """The extents of sorted passages and chunks; the parts are in any order, but name sorted chunks."""
    order = np.lexsort((parts.within_chunk, parts.chunk))
    chunk = parts.chunk[order]
    return Extents(
        own_length=frozen(own_length),
        chunk_length=frozen(chunk_length),
        part_offsets=frozen(np.searchsorted(chunk, chunk_offsets)),
        ordinal=frozen(chunk),
        within_chunk=frozen(parts.within_chunk[order]),
        length=frozen(parts.length[order]),
        position=frozen(parts.position[order]),
    )


def _check_parts(chunks: ChunkRows, parts: Mapping[Unit, PartRows]) -> None:
    for unit, rows in parts.items():
        order = np.lexsort((rows.within_chunk, rows.chunk))
        chunk, begin, length = rows.chunk[order], rows.within_chunk[order], rows.length[order]
        end = begin + length
        is_wrong = (begin < 0) | (length < 1) | (end > chunks.length[unit][chunk])
        is_wrong[1:] |= (chunk[1:] == chunk[:-1]) & (begin[1:] < end[:-1])
        if np.any(is_wrong):
            raise ValueError(f"a part is not within its chunk, or overlaps another one ({unit})")


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
    for lengths in passages.length.values():
        if np.any(lengths < 1):
            row = int(np.flatnonzero(lengths < 1)[0])
            raise InputError(f"gold passage {shown(passages.name[row])} of query {shown(passages.query[row])} is empty")
    limit = passages.length["characters"][pieces.passage]
    if np.any((pieces.start < 0) | (pieces.end < pieces.start) | (pieces.end > limit)):
        raise ValueError("a piece is not within its passage")
    if np.any(passage_query[pieces.passage] != chunk_query[pieces.chunk]):
        raise ValueError("a piece has a passage and a chunk of different queries")


def _inverse(order: Ints) -> Ints:
    out = np.empty_like(order)
    out[order] = np.arange(len(order))
    return out
