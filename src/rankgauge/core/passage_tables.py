"""From tables of passages, chunks and pieces to judgments by text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rankgauge.core.group_judgments import numbered
from rankgauge.core.ids import IdIndex, Ids, Ints, repeated
from rankgauge.core.passage_judgments import Extents, PassageJudgments, Unit
from rankgauge.core.passage_segments import chunk_shares
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import frozen, offsets_of
from rankgauge.errors import InputError, shown

DEFAULT_COVERAGE = 0.5
DEFAULT_TOLERANCE = 0.1
LARGEST_TOLERANCE = 0.3


@dataclass(frozen=True, eq=False)
class PassageRows:
    """One row per gold passage: its query, its name, and its length in each unit.

    ``position`` says where each passage begins in the gold text of its query, which is any line of numbers on which
    passages that share text overlap. Without it, the passages of a query are laid end to end, as if none shared text
    with another.
    """

    query: Ids
    name: Ids
    length: Mapping[Unit, Ints]
    position: Mapping[Unit, Ints] | None = None


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

    ``start`` and ``end`` (exclusive) are counted from the beginning of the passage, ``within_chunk``, where the piece
    begins, from the beginning of the chunk. A chunk may cover several parts of a passage.
    """

    passage: Ints
    chunk: Ints
    start: Mapping[Unit, Ints]
    end: Mapping[Unit, Ints]
    within_chunk: Mapping[Unit, Ints]


def build_passage_judgments(
    passages: PassageRows,
    chunks: ChunkRows,
    pieces: PieceRows,
    *,
    coverage: float = DEFAULT_COVERAGE,
    tolerance: float = 0.0,
    name: str = "gold",
) -> Qrels:
    """Judgments from tables whose rows are in any order; characters are needed, tokens are optional.

    The queries are those that have passages, each with a name of its own within its query. The grade of a chunk is the
    largest share of a passage that it covers by itself. A passage or a chunk listed twice for a query is an error.
    """
    if not 0 < coverage <= 1:
        raise InputError(f"coverage must be a number above 0 and at most 1, found {coverage:g}")
    passage_query, queries = numbered(passages.query)
    chunk_query = _numbers_of(chunks.query, queries)
    _check_rows(passages, chunks, pieces, passage_query, chunk_query)
    passage_order = np.lexsort((numbered(passages.name)[0], passage_query))
    chunk_order = np.lexsort((numbered(chunks.doc)[0], chunk_query))
    passage, ordinal = _inverse(passage_order)[pieces.passage], _inverse(chunk_order)[pieces.chunk]
    piece_order = np.lexsort((pieces.start["characters"], ordinal, passage))
    piece_query = passage_query[pieces.passage[piece_order]]
    docs = chunks.doc.take(chunk_order)
    judgments = PassageJudgments(
        docs=docs,
        passages=passages.name.take(passage_order),
        passage_offsets=frozen(offsets_of(passage_query, len(queries))),
        offsets=frozen(offsets_of(piece_query, len(queries))),
        passage=frozen(passage[piece_order]),
        ordinal=frozen(ordinal[piece_order]),
        extents={
            unit: Extents(
                passage_position=frozen(_positions(passages, unit, passage_order)),
                passage_length=frozen(passages.length[unit][passage_order]),
                chunk_length=frozen(chunks.length[unit][chunk_order]),
                start=frozen(pieces.start[unit][piece_order]),
                end=frozen(pieces.end[unit][piece_order]),
                within_chunk=frozen(pieces.within_chunk[unit][piece_order]),
            )
            for unit in passages.length
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


def _positions(passages: PassageRows, unit: Unit, order: Ints) -> Ints:
    """Where each passage begins, for passages in an order."""
    if passages.position is not None:
        return passages.position[unit][order]
    length = passages.length[unit][order]
    ends: Ints = np.cumsum(length)
    return ends - length


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
    for unit, lengths in passages.length.items():
        if np.any(lengths < 1):
            row = int(np.flatnonzero(lengths < 1)[0])
            raise InputError(f"gold passage {shown(passages.name[row])} of query {shown(passages.query[row])} is empty")
        start, end = pieces.start[unit], pieces.end[unit]
        if np.any((start < 0) | (end < start) | (end > lengths[pieces.passage])):
            raise ValueError(f"a piece is not within its passage ({unit})")
    if np.any(passage_query[pieces.passage] != chunk_query[pieces.chunk]):
        raise ValueError("a piece has a passage and a chunk of different queries")


def _inverse(order: Ints) -> Ints:
    out = np.empty_like(order)
    out[order] = np.arange(len(order))
    return out
