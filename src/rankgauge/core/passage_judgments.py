"""Judgments by text: the gold passages of each query, what each chunk covers of them, and where a ranking has them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, frozen, group_of, last_best, offsets_of, sum_by, within
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import JudgmentKind
from rankgauge.core.ranking import UNRANKED, Compat


@dataclass(frozen=True, eq=False)
class PassageJudgments:
    """What each chunk covers of each gold passage, by query.

    There are three tables. Passages: one row per gold passage (a quote or a span), by query; a quote that occurs
    several times is one passage. Chunks: one row per judgment that these belong to, in ``docs``; a retrieved chunk that
    covers nothing has a row too. Pieces: one row per part of a passage that a chunk covers, from
    character ``start`` to ``end`` (exclusive) of the passage; ``passage`` and ``ordinal`` are the rows of the passage
    and of the chunk.

    A passage is found at the rank where the chunks so far together cover at least the share ``coverage`` of its
    characters. ``tolerance`` is the edit distance within which texts were matched, as a share of the characters that
    were compared: the pieces are what it led to.
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
            ideal_chunks=None if self.ideal_chunks is None else frozen(self.ideal_chunks[chunks]),
        )

    def spread(self, numbers: Ints, queries: int) -> PassageJudgments:
        """These judgments among more queries; ``numbers`` are the new numbers of these queries, ascending."""
        return replace(
            self,
            passage_offsets=frozen(offsets_of(numbers[self.passage_query], queries)),
            offsets=frozen(offsets_of(numbers[self.query], queries)),
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
        if self.ideal_chunks is not None:
            arrays.append(self.ideal_chunks.astype(np.int64))
        return b"".join([*names, *(array.tobytes() for array in arrays)])


def _taken_offsets(offsets: Ints, groups: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(np.diff(offsets)[groups])]).astype(np.int64)


def _shifts(offsets: Ints, groups: Ints) -> Ints:
    """What to add to a row number of each taken group to get its new row number."""
    return _taken_offsets(offsets, groups)[:-1] - offsets[groups]


# The rank at which each gold passage is found: in a ranking, and in the ideal ranking of the same chunks.


@dataclass(frozen=True, eq=False)
class Segments:
    """Passages cut at the ends of their pieces, so that a chunk covers a segment completely or not at all.

    ``chunk`` and ``segment`` have one row for each segment that a chunk covers, by chunk and then by passage.
    """

    passage: Ints  # of each segment
    length: Ints  # of each segment, in characters
    chunk: Ints
    segment: Ints


def segments_of(judgments: PassageJudgments) -> Segments:
    """The segments of all passages."""
    width = int(judgments.passage_length.max(initial=0)) + 1
    first, last = judgments.passage * width + judgments.start, judgments.passage * width + judgments.end
    points = np.unique(np.concatenate([first, last]))
    begin, end = np.searchsorted(points, first), np.searchsorted(points, last)
    counts = end - begin
    within_piece = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    segment = np.repeat(begin, counts) + within_piece
    many = max(len(points), 1)
    pairs = np.unique(np.repeat(judgments.ordinal, counts) * many + segment)
    return Segments(points // width, np.diff(points, append=points[-1:]), pairs // many, pairs % many)


def found_ranks(judgments: PassageJudgments, rank: Ints) -> Ints:
    """The rank at which each passage is found, given the rank of each chunk; UNRANKED means "not at all"."""
    parts = judgments.segments
    first_rank = np.full(len(parts.passage), UNRANKED)
    np.minimum.at(first_rank, parts.segment, rank[parts.chunk])
    covered = np.flatnonzero(first_rank != UNRANKED)
    covered = covered[np.lexsort((first_rank[covered], parts.passage[covered]))]
    passage, total = parts.passage[covered], np.cumsum(parts.length[covered])
    before = np.concatenate([[0], total])[np.searchsorted(passage, passage)]
    is_enough = total - before >= judgments.needed[passage]
    found = np.full(len(judgments), UNRANKED)
    np.minimum.at(found, passage[is_enough], first_rank[covered[is_enough]])
    return found


def ideal_ranks(judgments: PassageJudgments) -> Ints:
    """The rank at which each passage is found in the ideal ranking, which is greedy.

    At each rank it takes the chunk that finds the most passages; among these, the one that brings the passages not yet
    found furthest, each measured by the share of what it needs; among these, the one with the last id. The best ranking
    of all is hard to compute, and may be better than this one.
    """
    parts = judgments.segments
    passages, chunks = len(judgments), len(judgments.docs)
    query_of_chunk = np.zeros(chunks, dtype=np.int64)
    query_of_chunk[judgments.ordinal] = judgments.query
    pair_chunk, pair_segment = parts.chunk, parts.segment
    if judgments.ideal_chunks is not None:
        is_kept = judgments.ideal_chunks[pair_chunk]
        pair_chunk, pair_segment = pair_chunk[is_kept], pair_segment[is_kept]
    covered, found = np.zeros(passages), np.full(passages, UNRANKED)
    rank = 0
    while len(pair_chunk):
        rank += 1
        gains = _gains(pair_chunk, parts, pair_segment, passages)
        chunk, finds, progress = _additions(gains, covered, judgments.needed)
        chosen = chunk[last_best(query_of_chunk[chunk], finds, progress)]
        is_chosen = np.zeros(chunks, dtype=bool)
        is_chosen[chosen] = True
        taken = is_chosen[gains.chunk]
        np.add.at(covered, gains.passage[taken], gains.length[taken])
        found[(found == UNRANKED) & (covered >= judgments.needed)] = rank
        is_covered = np.zeros(len(parts.passage), dtype=bool)
        is_covered[pair_segment[is_chosen[pair_chunk]]] = True
        keep = ~is_covered[pair_segment] & (found[parts.passage[pair_segment]] == UNRANKED)
        pair_chunk, pair_segment = pair_chunk[keep], pair_segment[keep]
    return found


@dataclass(frozen=True, eq=False)
class _Gains:
    """How much each chunk would add to each passage: one row for each pair of them."""

    chunk: Ints
    passage: Ints
    length: Floats


def _gains(pair_chunk: Ints, parts: Segments, pair_segment: Ints, passages: int) -> _Gains:
    key = pair_chunk * passages + parts.passage[pair_segment]
    is_first = np.ones(len(key), dtype=bool)
    is_first[1:] = key[1:] != key[:-1]
    number = np.cumsum(is_first) - 1
    pairs = key[is_first]
    return _Gains(pairs // passages, pairs % passages, sum_by(number, parts.length[pair_segment], len(pairs)))


class _Additions(NamedTuple):
    """The chunks that add something, the number of passages that each finds, and how far it brings all of them."""

    chunk: Ints
    finds: Floats
    progress: Floats


def _additions(gains: _Gains, covered: Floats, needed: Ints) -> _Additions:
    need = needed[gains.passage]
    total = covered[gains.passage] + gains.length
    is_first = np.ones(len(total), dtype=bool)
    is_first[1:] = gains.chunk[1:] != gains.chunk[:-1]
    number = np.cumsum(is_first) - 1
    finds = sum_by(number, (total >= need).astype(np.int64), int(is_first.sum()))
    progress = sum_by(number, np.minimum(gains.length, need - covered[gains.passage]) / need, int(is_first.sum()))
    return _Additions(gains.chunk[is_first], finds, progress)


def chunk_shares(judgments: PassageJudgments) -> Floats:
    """The largest share of a passage that each chunk covers by itself."""
    parts = judgments.segments
    gains = _gains(parts.chunk, parts, parts.segment, max(len(judgments), 1))
    shares = np.zeros(len(judgments.docs))
    np.maximum.at(shares, gains.chunk, gains.length / judgments.passage_length[gains.passage])
    return shares
