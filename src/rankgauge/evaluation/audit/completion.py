"""Completed judgments: every unjudged document gets a grade."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankgauge.core.hits import Hits
from rankgauge.core.tables import Floats, group_of, offsets_of
from rankgauge.evaluation.audit.orders import ties_in


def completed(hits: Hits, grade: float) -> Hits:
    """The join in which every retrieved document that is unjudged, or has a negative grade, gets a grade.

    These documents have the ranks that no hit has. Their ties are known only if a hit shares the tie; otherwise each
    counts as untied.
    """
    ends = np.concatenate([[0], np.cumsum(hits.retrieved)])
    query = group_of(ends)
    hit_rows = ends[:-1][hits.query] + hits.rank - 1
    new = np.ones(len(query), dtype=bool)
    new[hit_rows] = False
    rank = np.arange(1, len(query) + 1) - ends[:-1][query]
    grades = np.full(len(query), grade)
    grades[hit_rows] = np.where(hits.grade < 0, grade, hits.grade)
    tie_first, tie_last = rank.copy(), rank.copy()
    ties = ties_in(hits)
    number, position = ties.ranks()
    inside = ends[:-1][ties.query[number]] + ties.first[number] + position - 1
    tie_first[inside] = ties.first[number]
    tie_last[inside] = (ties.first + ties.size - 1)[number]
    # The judgments of a query: the original ones, then one for each new document.
    judged_query = np.concatenate([hits.judged_query, query[new]])
    by = np.argsort(judged_query, kind="stable")
    moved = np.empty(len(by), dtype=np.int64)
    moved[by] = np.arange(len(by))
    ordinal = np.empty(len(query), dtype=np.int64)
    ordinal[hit_rows] = moved[hits.ordinal]
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
        judged=_all_grades(hits, grade, int(new.sum()))[by],
    )


def _all_grades(hits: Hits, grade: float, added: int) -> Floats:
    """The original grades, with negative ones of retrieved documents replaced, followed by the new ones."""
    original = hits.judged.copy()
    original[hits.ordinal[hits.grade < 0]] = grade
    return np.concatenate([original, np.full(added, grade)])
