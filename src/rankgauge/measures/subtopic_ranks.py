"""Where the subtopics of each query appear: in a ranking, and in the ideal ranking.

A subtopic appears wherever a document is relevant to it. A gold passage is a subtopic that appears once: at the rank
where the chunks so far cover enough of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankgauge.core.arrays import count_by, last_best, sum_by
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.passage_judgments import PassageJudgments, found_ranks
from rankgauge.core.ranking import UNRANKED
from rankgauge.core.subtopic_judgments import SubtopicJudgments


@dataclass(frozen=True, eq=False)
class Appearances:
    """One row for each appearance, by query, subtopic and rank. Subtopics are numbered over all queries.

    ``total`` is the number of subtopics of each query. A subtopic without relevant documents does not count, but every
    gold passage does. ``relevant`` is the number of documents that are relevant to each subtopic.
    """

    query: Ints
    subtopic: Ints
    rank: Ints
    total: Ints
    relevant: Ints

    @cached_property
    def earlier(self) -> Ints:
        """The number of earlier appearances of the same subtopic."""
        return np.arange(len(self.subtopic)) - np.searchsorted(self.subtopic, self.subtopic)


@dataclass(frozen=True, eq=False)
class _Relevance:
    """One row for each relevant document of each subtopic, by query and subtopic."""

    query: Ints
    subtopic: Ints
    ordinal: Ints  # the row of the document in the judgments
    order: Ints  # of subtopics within a document


def appearances(hits: Hits, rel: float) -> Appearances:
    """The appearances in a ranking."""
    rank = np.full(len(hits.judged), UNRANKED)
    rank[hits.ordinal] = hits.rank
    judgments = hits.by_group
    if isinstance(judgments, PassageJudgments):
        return _of_passages(judgments, found_ranks(judgments, rank))
    relevance = _relevance(hits, rel)
    return _of_subtopics(relevance, rank[relevance.ordinal], len(hits))


def ideal_appearances(hits: Hits, rel: float, alpha: float, depth: Ints) -> Appearances:
    """The appearances in the first ranks of the ideal ranking, which is greedy.

    For subtopics it is ndeval's: at each rank the document with the largest gain, if each subtopic is worth 1 − alpha
    of what it was worth at its previous appearance; of equals, the document with the last id. Sums are in the order of
    the subtopics' numbers.
    """
    if isinstance(hits.by_group, PassageJudgments):
        return _of_passages(hits.by_group, hits.by_group.ideal_ranks)
    rows = _relevance(hits, rel)
    return _of_subtopics(rows, _greedy_ranks(rows, alpha, depth), len(hits))


def _greedy_ranks(rows: _Relevance, alpha: float, depth: Ints) -> Ints:
    """The rank of the document of each row in the greedy ranking; UNRANKED below the depth."""
    rank = np.full(len(rows.ordinal), UNRANKED)
    gain = np.ones(int(rows.subtopic.max(initial=-1)) + 1)
    left = np.lexsort((rows.order, rows.ordinal))
    step = 0
    while len(left := left[depth[rows.query[left]] > step]):
        step += 1
        is_first = np.concatenate([[True], np.diff(rows.ordinal[left]) != 0])
        document, firsts = np.cumsum(is_first) - 1, left[is_first]
        score = sum_by(document, gain[rows.subtopic[left]], len(firsts))
        is_chosen = np.zeros(len(firsts), dtype=bool)
        is_chosen[last_best(rows.query[firsts], score)] = True
        chosen = left[is_chosen[document]]
        rank[chosen] = step
        gain[rows.subtopic[chosen]] *= 1.0 - alpha
        left = left[~is_chosen[document]]
    return rank


def _relevance(hits: Hits, rel: float) -> _Relevance:
    judgments = hits.by_group
    assert isinstance(judgments, SubtopicJudgments)
    relevant = np.flatnonzero(judgments.level >= max(rel, 0))
    query, group = judgments.query[relevant], judgments.group[relevant]
    is_new = np.ones(len(relevant), dtype=bool)
    is_new[1:] = (np.diff(query) != 0) | (np.diff(group) != 0)
    # Shorter ids first: whole numbers are then in numerical order, as in ndeval.
    order = np.empty(len(judgments.groups), dtype=np.int64)
    order[np.argsort(judgments.groups.length, kind="stable")] = np.arange(len(order))
    return _Relevance(query, np.cumsum(is_new) - 1, judgments.ordinal[relevant], order[group])


def _of_subtopics(rows: _Relevance, rank: Ints, queries: int) -> Appearances:
    is_new = np.diff(rows.subtopic, prepend=-1) != 0
    ranked = np.flatnonzero(rank != UNRANKED)
    ranked = ranked[np.lexsort((rank[ranked], rows.subtopic[ranked]))]
    return Appearances(
        rows.query[ranked],
        rows.subtopic[ranked],
        rank[ranked],
        total=count_by(rows.query[is_new], queries),
        relevant=count_by(rows.subtopic, int(is_new.sum())),
    )


def _of_passages(judgments: PassageJudgments, rank: Ints) -> Appearances:
    found = np.flatnonzero(rank != UNRANKED)
    return Appearances(
        judgments.passage_query[found],
        found,
        rank[found],
        total=np.diff(judgments.passage_offsets),
        relevant=np.ones(len(judgments), dtype=np.int64),
    )
