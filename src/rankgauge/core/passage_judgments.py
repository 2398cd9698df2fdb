"""Judgments by text: the gold passages of each query, and the piece of each passage that each chunk covers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.passage_segments import Segments, ideal_ranks, segments_of
from rankgauge.core.qrels import JudgmentKind
from rankgauge.core.ranking import Compat
from rankgauge.core.tables import Floats, frozen, group_of, offsets_of, within

Unit = Literal["characters", "tokens"]


@dataclass(frozen=True, eq=False)
class Extents:
    """How much text passages and chunks have, and where the gold is in the chunks, counted in one unit.

    ``own_length`` is what each passage adds to the gold text of its query: text that it shares with another passage
    belongs to one of them. A part is a stretch of gold: ``length`` units that begin at ``within_chunk`` in the chunk
    and at ``position`` in the gold text, which is any line of numbers on which each unit of gold is at one position.
    The parts of a chunk do not overlap: the gold of a chunk is the union of what passages match in it.
    """

    own_length: Ints
    chunk_length: Ints
    part_offsets: Ints
    ordinal: Ints
    within_chunk: Ints
    length: Ints
    position: Ints

    @cached_property
    def part_query(self) -> Ints:
        """The query number of each part."""
        return group_of(self.part_offsets)

    def take(self, queries: Ints, passages: Ints, chunks: Ints, judged_offsets: Ints) -> Extents:
        """The extents of some queries, whose passages and chunks are given."""
        parts = within(queries, self.part_offsets)
        query = np.repeat(np.arange(len(queries)), np.diff(self.part_offsets)[queries])
        return Extents(
            frozen(self.own_length[passages]),
            frozen(self.chunk_length[chunks]),
            frozen(_taken_offsets(self.part_offsets, queries)),
            frozen(self.ordinal[parts] + _shifts(judged_offsets, queries)[query]),
            frozen(self.within_chunk[parts]),
            frozen(self.length[parts]),
            frozen(self.position[parts]),
        )

    def spread(self, numbers: Ints, queries: int) -> Extents:
        """These extents among more queries."""
        return replace(self, part_offsets=frozen(offsets_of(numbers[self.part_query], queries)))


@dataclass(frozen=True, eq=False)
class PassageJudgments:
    """What each chunk covers of each gold passage, by query.

    There are three tables. Passages: one row per gold passage (a quote or a span), by query; a quote that occurs
    several times is one passage. Chunks: one row per judgment that these belong to, in ``docs``; a chunk that covers
    nothing has a row too if its length matters. Pieces: one row per part of a passage that a chunk covers, from
    character ``start`` to ``end`` (exclusive) of the passage; ``passage`` and ``ordinal`` are the rows of the passage
    and of the chunk.

    A passage is found at the rank where the chunks so far together cover at least the share ``coverage`` of its
    characters. ``tolerance`` is the edit distance within which texts were matched, as a share of the characters that
    were compared: the pieces are what it led to. Tokens are counted beside characters if there is a tokenizer.
    """

    docs: Ids
    passages: Ids
    passage_offsets: Ints
    passage_length: Ints
    offsets: Ints
    passage: Ints
    ordinal: Ints
    start: Ints
    end: Ints
    extents: Mapping[Unit, Extents]
    coverage: float
    tolerance: float = 0.0
    ideal_chunks: NDArray[np.bool_] | None = (
        None  # those that the ideal ranking is made of, by their rows; None for all
    )

    def __len__(self) -> int:
        return len(self.passages)

    @property
    def kind(self) -> JudgmentKind:
        """What these judgments are."""
        return "passages"

    @cached_property
    def query(self) -> Ints:
        """The query number of each piece."""
        return group_of(self.offsets)

    @cached_property
    def passage_query(self) -> Ints:
        """The query number of each passage."""
        return group_of(self.passage_offsets)

    @cached_property
    def needed(self) -> Ints:
        """How many characters of each passage must be covered for it to be found."""
        share = self.coverage * self.passage_length
        needed: Ints = np.maximum(np.ceil(share - 1e-9), 1).astype(np.int64)
        return needed

    @cached_property
    def segments(self) -> Segments:
        """The passages cut at the ends of their pieces."""
        return segments_of(self)

    @cached_property
    def ideal_ranks(self) -> Ints:
        """The rank at which the ideal ranking finds each passage; all runs and measures share it."""
        return ideal_ranks(self)

    def with_ideal_of(self, chunks: Collection[bytes]) -> PassageJudgments:
        """These judgments, with an ideal ranking of some chunks only: those of one chunking among several."""
        return replace(self, ideal_chunks=frozen(np.array([doc in chunks for doc in self.docs], dtype=bool)))

    def take(self, queries: Ints, judged_offsets: Ints) -> PassageJudgments:
        """The judgments of some queries, in any order and any number of times.

        ``judged_offsets`` are those of the judgments that these belong to.
        """
        pieces, passages = within(queries, self.offsets), within(queries, self.passage_offsets)
        chunks = within(queries, judged_offsets)
        piece_counts = np.diff(self.offsets)[queries]
        query = np.repeat(np.arange(len(queries)), piece_counts)
        return replace(
            self,
            docs=self.docs.take(chunks),
            passages=self.passages.take(passages),
            passage_offsets=frozen(_taken_offsets(self.passage_offsets, queries)),
            passage_length=frozen(self.passage_length[passages]),
            offsets=frozen(offsets_of(query, len(queries))),
            passage=frozen(self.passage[pieces] + _shifts(self.passage_offsets, queries)[query]),
            ordinal=frozen(self.ordinal[pieces] + _shifts(judged_offsets, queries)[query]),
            start=frozen(self.start[pieces]),
            end=frozen(self.end[pieces]),
            extents={
                unit: extents.take(queries, passages, chunks, judged_offsets) for unit, extents in self.extents.items()
            },
            ideal_chunks=None if self.ideal_chunks is None else frozen(self.ideal_chunks[chunks]),
        )

    def spread(self, numbers: Ints, queries: int) -> PassageJudgments:
        """These judgments among more queries; ``numbers`` are the new numbers of these queries, ascending."""
        return replace(
            self,
            passage_offsets=frozen(offsets_of(numbers[self.passage_query], queries)),
            offsets=frozen(offsets_of(numbers[self.query], queries)),
            extents={unit: extents.spread(numbers, queries) for unit, extents in self.extents.items()},
        )

    def leveled(self, change: object) -> PassageJudgments:
        """The judgments themselves: they have no levels to change."""
        return self

    def at_precision(self, compat: Compat) -> PassageJudgments:
        """The judgments themselves: they have no levels that depend on a version of trec_eval."""
        return self

    def content(self) -> bytes:
        """All bytes that distinguish these judgments from others with the same documents."""
        arrays: list[Ints | Floats] = [self.passage_offsets, self.passage_length, self.offsets, self.passage]
        arrays += [self.ordinal, self.start, self.end, np.array([self.coverage])]
        names = [self.kind.encode("ascii"), self.passages.content()]
        for unit, extents in sorted(self.extents.items()):
            names.append(unit.encode("ascii"))
            arrays += [getattr(extents, field.name) for field in fields(extents)]
        if self.ideal_chunks is not None:
            arrays.append(self.ideal_chunks.astype(np.int64))
        return b"".join([*names, *(array.tobytes() for array in arrays)])


def _taken_offsets(offsets: Ints, groups: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(np.diff(offsets)[groups])]).astype(np.int64)


def _shifts(offsets: Ints, groups: Ints) -> Ints:
    """What to add to a row number of each taken group to get its new row number."""
    return _taken_offsets(offsets, groups)[:-1] - offsets[groups]
