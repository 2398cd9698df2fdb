"""The rank at which each gold passage is found: in a ranking, and in the ideal ranking of the same chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.core.ids import Ints
from rankgauge.core.selection import last_best
from rankgauge.core.tables import Floats, sum_by

if TYPE_CHECKING:
    from rankgauge.core.passage_judgments import PassageJudgments

UNRANKED = np.iinfo(np.int64).max


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
