"""Judgments completed: what nobody judged gets a grade."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.tables import Floats, group_of, offsets_of
from rankgauge.evaluation.audit.orders import ties_in


def completed(hits: Hits, grade: float) -> Hits:
    """The join in which every retrieved document without a judgment, or with a negative one, is judged with a grade.

    The ranks that no hit has are theirs. Which ties they stand in is known only where a listed document shares the
    tie; elsewhere each is its own.
    """
    ends = np.concatenate([[0], np.cumsum(hits.retrieved)])
    query = group_of(ends)
    slot = ends[:-1][hits.query] + hits.rank - 1
    new = np.ones(len(query), dtype=bool)
    new[slot] = False
    rank = np.arange(1, len(query) + 1) - ends[:-1][query]
    grades = np.full(len(query), grade)
    grades[slot] = np.where(hits.grade < 0, grade, hits.grade)
    tie_first, tie_last = rank.copy(), rank.copy()
    ties = ties_in(hits)
    number, place = ties.ranks()
    inside = ends[:-1][ties.query[number]] + ties.first[number] + place - 1
    tie_first[inside] = ties.first[number]
    tie_last[inside] = (ties.first + ties.size - 1)[number]
    # Judgments of a query: those there were, then one for each new document.
    judged_query = np.concatenate([hits.judged_query, query[new]])
    by = np.argsort(judged_query, kind="stable")
    moved = np.empty(len(by), dtype=np.int64)
    moved[by] = np.arange(len(by))
    ordinal = np.empty(len(query), dtype=np.int64)
    ordinal[slot] = moved[hits.ordinal]
    ordinal[new] = moved[len(hits.judged) :]
    return replace(
        hits,
        offsets=ends.astype(np.int64),
        rank=rank,
        grade=grades,
        ordinal=ordinal,
        tie_first=tie_first,
        tie_last=tie_last,
        judged_offsets=offsets_of(judged_query[by], len(hits)),
        judged=_judged(hits, grade, int(new.sum()))[by],
    )


def _judged(hits: Hits, grade: float, added: int) -> Floats:
    """All grades: negative ones of retrieved documents replaced, new ones behind."""
    old = hits.judged.copy()
    old[hits.ordinal[hits.grade < 0]] = grade
    return np.concatenate([old, np.full(added, grade)])
