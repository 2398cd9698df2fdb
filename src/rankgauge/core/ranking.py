"""The order rule: score descending, ties by document id bytes descending. Nothing else ranks anything.

trec_eval 9 compares scores as float32, trec_eval 10 as float64; that is the only difference between them here.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, group_of, within
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import Ids, Ints

Compat = Literal["trec_eval-9", "trec_eval-10"]
COMPATS: tuple[Compat, ...] = ("trec_eval-9", "trec_eval-10")
Keys = NDArray[Any]
UNRANKED = np.iinfo(np.int64).max  # the rank of what was not retrieved
TIE_RULE = "document id descending"  # what order_ties does, in words; the extension does it with tie_order


@dataclass(frozen=True, eq=False)
class Ranking:
    """For each row of a run: its rank in its query, and the first and last rank of its tie."""

    rank: Ints
    tie_first: Ints
    tie_last: Ints


def comparable(scores: Floats, compat: Compat) -> Keys:
    """The scores in the precision in which they are compared."""
    if compat == "trec_eval-10":
        return scores
    with np.errstate(over="ignore"):  # beyond float32's range is infinity, as in trec_eval
        return scores.astype(np.float32)


def rank(offsets: Ints, docs: Ids, scores: Floats, compat: Compat = "trec_eval-9") -> Ranking:
    """Rank rows that are grouped by query. A query whose scores strictly decrease is never sorted."""
    key = comparable(scores, compat)
    positions = np.arange(1, len(key) + 1) - np.repeat(offsets[:-1], np.diff(offsets))
    if len(key) < 2:
        return Ranking(positions, positions, positions)
    unsorted = unsorted_queries(key, offsets)
    if not len(unsorted):
        return Ranking(positions, positions, positions)
    rows = within(unsorted, offsets)
    sizes = offsets[unsorted + 1] - offsets[unsorted]
    query = np.repeat(np.arange(len(unsorted)), sizes)
    sorted_ranks = positions[rows]  # 1, 2, 3 … within each query
    by, tie = sort_rows(query, docs.take(rows), key[rows])
    ranks = positions.copy()
    ranks[rows[by]] = sorted_ranks
    ends = np.flatnonzero(np.append(tie[1:] != tie[:-1], True))
    begins = np.append(0, ends[:-1] + 1)
    width = ends - begins + 1
    tie_first, tie_last = positions.copy(), positions.copy()
    tie_first[rows[by]] = np.repeat(sorted_ranks[begins], width)
    tie_last[rows[by]] = np.repeat(sorted_ranks[ends], width)
    return Ranking(ranks, tie_first, tie_last)


def unsorted_queries(key: Keys, offsets: Ints) -> Ints:
    """The queries whose keys do not strictly decrease."""
    decreasing = key[:-1] > key[1:]
    inner = offsets[1:-1]
    decreasing[inner[(inner > 0) & (inner < len(key))] - 1] = True  # the next row is of another query
    if decreasing.all():
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.searchsorted(offsets, np.flatnonzero(~decreasing), side="right") - 1)


def in_list_order(
    offsets: Ints, docs: Ids, scores: Floats, is_list: NDArray[np.bool_] | None = None
) -> tuple[Floats, Ints]:
    """Scores by which each list keeps its order, and the numbers of those whose own scores do not give it.

    The results of these get n, n - 1, ..., 1, which no rule for ties changes. Without ``is_list`` all are lists.
    """
    unsorted = (
        unsorted_queries(comparable(scores, "trec_eval-9"), offsets) if len(scores) > 1 else np.zeros(0, np.int64)
    )
    suspects = unsorted if is_list is None else unsorted[is_list[unsorted]]
    if not len(suspects):
        return scores, suspects
    rows, sizes = within(suspects, offsets), offsets[suspects + 1] - offsets[suspects]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    moved = np.zeros(len(rows), dtype=bool)
    for compat in COMPATS:
        moved |= order(bounds, docs.take(rows), scores[rows], compat) != np.arange(len(rows))
    changed = suspects[np.unique(group_of(bounds)[moved])]
    made, rows = scores.copy(), within(changed, offsets)
    made[rows] = np.repeat(offsets[changed + 1], offsets[changed + 1] - offsets[changed]) - rows
    return made, changed


def sort_rows(query: Ints, docs: Ids, key: Keys) -> tuple[Ints, Ints]:
    """The rows of each query in rank order, and the number of the tie that each rank belongs to."""
    by = np.lexsort((-key, query))
    ordered, group = key[by], query[by]
    fresh = np.ones(len(by), dtype=bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]) | (group[1:] != group[:-1])
    tie = np.cumsum(fresh)
    return by[order_ties(docs.take(by), tie)], tie


def order_ties(docs: Ids, tie: Ints) -> Ints:
    """The rows of each tie in rank order; ``tie`` is ascending."""
    return docs.order(tie, descending=True)


def order(offsets: Ints, docs: Ids, scores: Floats, compat: Compat = "trec_eval-9") -> Ints:
    """The rows of each query in rank order."""
    query = group_of(offsets)
    ranks = rank(offsets, docs, scores, compat).rank
    by = np.empty(len(ranks), dtype=np.int64)
    by[offsets[:-1][query] + ranks - 1] = np.arange(len(ranks))
    return by
