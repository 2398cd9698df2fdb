"""The join of labels with the results that match them: the rank of a label is that of its first match."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankgauge.core.arrays import offsets_of
from rankgauge.core.group_judgments import GroupJudgments
from rankgauge.core.hits import Hits

UNRANKED = np.iinfo(np.int64).max


def label_hits(hits: Hits) -> Hits:
    """The join with one row per label that a result matches, at the first such result.

    ``hits`` is the join of the results: each row of its judgments is a result that matches some labels of its query,
    or a label that no result matches. Several labels can have the same rank.
    """
    judgments = hits.by_group
    assert isinstance(judgments, GroupJudgments)
    rank = np.full(len(hits.judged), UNRANKED)
    tie_first, tie_last = rank.copy(), rank.copy()
    rank[hits.ordinal], tie_first[hits.ordinal], tie_last[hits.ordinal] = hits.rank, hits.tie_first, hits.tie_last
    query, group = judgments.query, judgments.group
    by_rank = np.lexsort((rank[judgments.ordinal], group, query))
    is_first = np.ones(len(by_rank), dtype=bool)
    is_first[1:] = (np.diff(query[by_rank]) != 0) | (np.diff(group[by_rank]) != 0)
    first = by_rank[is_first]  # the best row of each label, by query and label
    label_query, grade, best = query[first], judgments.level[first], judgments.ordinal[first]
    found = np.flatnonzero(rank[best] != UNRANKED)
    found = found[np.lexsort((-grade[found], rank[best[found]], label_query[found]))]
    return replace(
        hits,
        offsets=offsets_of(label_query[found], len(hits)),
        rank=rank[best[found]],
        grade=grade[found],
        ordinal=found,
        tie_first=tie_first[best[found]],
        tie_last=tie_last[best[found]],
        judged_offsets=offsets_of(label_query, len(hits)),
        judged=grade,
        by_group=None,
    )


def combined(hits: Hits) -> Hits:
    """The join with at most one label per rank: that with the largest grade of those that have the same rank."""
    is_same = np.zeros(len(hits.rank), dtype=bool)
    is_same[1:] = (np.diff(hits.rank) == 0) & (np.diff(hits.query) == 0)
    if not is_same.any():
        return hits
    is_kept = np.ones(len(hits.judged), dtype=bool)
    is_kept[hits.ordinal[is_same]] = False
    new_ordinal = np.cumsum(is_kept) - 1
    kept = hits.where(~is_same)
    return replace(
        kept,
        ordinal=new_ordinal[kept.ordinal],
        judged_offsets=offsets_of(hits.judged_query[is_kept], len(hits)),
        judged=hits.judged[is_kept],
        uncombined=hits,
    )
