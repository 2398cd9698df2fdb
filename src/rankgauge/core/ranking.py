"""The order rule: score descending, ties by document id bytes descending. Nothing else ranks anything.

trec_eval 9 compares scores as float32, trec_eval 10 as float64; that is the only difference between them here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.tables import Floats, group_of, within

Compat = Literal["trec_eval-9", "trec_eval-10"]
COMPATS: tuple[Compat, ...] = ("trec_eval-9", "trec_eval-10")
Keys = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Ranking:
    """For each row of a run: its rank in its query and the first and last rank of the tie it stands in."""

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
    ranks = np.arange(1, len(key) + 1) - np.repeat(offsets[:-1], np.diff(offsets))
    if len(key) < 2:
        return Ranking(ranks, ranks, ranks)
    steps = key[:-1] > key[1:]
    steps[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(key))] - 1] = True
    if steps.all():
        return Ranking(ranks, ranks, ranks)
    messy = np.unique(np.searchsorted(offsets, np.flatnonzero(~steps), side="right") - 1)
    rows = within(messy, offsets)
    sizes = offsets[messy + 1] - offsets[messy]
    query = np.repeat(np.arange(len(messy)), sizes)
    place = ranks[rows]  # 1, 2, 3 … within each query: what the sorted rows get
    by, tie = sort(query, docs.take(rows), key[rows])
    ranked = ranks.copy()
    ranked[rows[by]] = place
    ends = np.flatnonzero(np.append(tie[1:] != tie[:-1], True))
    begins = np.append(0, ends[:-1] + 1)
    width = ends - begins + 1
    tie_first, tie_last = ranks.copy(), ranks.copy()
    tie_first[rows[by]] = np.repeat(place[begins], width)
    tie_last[rows[by]] = np.repeat(place[ends], width)
    return Ranking(ranked, tie_first, tie_last)


def sort(query: Ints, docs: Ids, key: Keys) -> tuple[Ints, Ints]:
    """The rows of each query in rank order, and the number of the tie that each place belongs to."""
    by = np.lexsort((-key, query))
    ordered, group = key[by], query[by]
    fresh = np.ones(len(by), dtype=bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]) | (group[1:] != group[:-1])
    tie = np.cumsum(fresh)
    return by[docs.take(by).order(tie, descending=True)], tie


def order(offsets: Ints, docs: Ids, scores: Floats, compat: Compat = "trec_eval-9") -> Ints:
    """The rows of each query in rank order."""
    query = group_of(offsets)
    ranked = rank(offsets, docs, scores, compat).rank
    by = np.empty(len(ranked), dtype=np.int64)
    by[offsets[:-1][query] + ranked - 1] = np.arange(len(ranked))
    return by
