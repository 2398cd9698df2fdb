"""Rank-biased precision and its residual."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats, count_by, group_of, sum_by
from rankgauge.measures.families.err import checked_max_rel, largest_grade
from rankgauge.measures.numbers import linear_gain, powers
from rankgauge.measures.registry import measure
from rankgauge.measures.spec import MeasureScale


def _graded(parameters: dict[str, Any], qrels: Qrels) -> dict[str, Any]:
    return {} if parameters["rel"] is not None else largest_grade(parameters, qrels)


def _scaled(hits: Hits, top: Hits, max_rel: float | Literal["query"] | None) -> Floats:
    if max_rel == "query":
        largest = np.ones(len(hits))
        np.maximum.at(largest, hits.judged_query, hits.judged)
        return linear_gain(top.grade) / largest[top.query]
    return linear_gain(top.grade) / checked_max_rel("RBP", hits.judged, max_rel)


@measure("RBP", at="cutoff", monotone=True, freeze=_graded)
def rbp(
    hits: Hits,
    *,
    cutoff: int | None = None,
    p: float = 0.8,
    rel: float | None = None,
    max_rel: float | Literal["query"] | None = None,
) -> PerQuery:
    """The expected gain of a user who continues to the next document with probability p.

    The gain is grade / max_rel, where max_rel is by default the largest grade of the whole collection; rel= makes the
    gain binary; max_rel='query' uses the largest grade of each query, at least 1.

    Formula: (1 − p) · Σ gain at i · p^(i − 1)
    Reference: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008; trec_eval
        10: rbp is RBP(p=0.9,max_rel='query')
    """
    top = hits.top(cutoff)
    gain = _scaled(hits, top, max_rel) if rel is None else (top.grade >= max(rel, 0)).astype(float)
    return (1.0 - p) * top.sum(gain * powers(p, top.rank - 1))


@measure("RBPResidual", judged_only=False, scale=MeasureScale(better="lower"))
def rbp_residual(hits: Hits, *, p: float = 0.9) -> PerQuery:
    """How much RBP could rise if all unjudged documents, and all beyond the last one, were relevant.

    Formula: p^n + (1 − p) · Σ over unjudged ranks i of p^(i − 1); 0 if every retrieved document is judged
    Reference: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 2008; trec_eval
        10: rbp_resid
    """
    offsets = np.concatenate([[0], np.cumsum(hits.retrieved)])
    query = group_of(offsets)
    unjudged = np.ones(len(query), dtype=bool)
    judged = hits.where(hits.grade >= 0)
    unjudged[offsets[judged.query] + judged.rank - 1] = False
    rows = np.flatnonzero(unjudged)
    weight = powers(p, rows - offsets[query[rows]])
    total = sum_by(query[rows], weight, len(hits))
    return np.where(count_by(query[rows], len(hits)) > 0, powers(p, hits.retrieved) + (1.0 - p) * total, 0.0)
