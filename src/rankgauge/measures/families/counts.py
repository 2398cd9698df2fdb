"""Counts: summed over queries, not averaged."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure


@measure(
    "NumQ",
    aggregate="sum",
    range=(1.0, 1.0),
    better=None,
    missing=1.0,
    judged_only=False,
    formula="1",
    reference="trec_eval: num_q",
)
def num_q(hits: Hits) -> PerQuery:
    """The number of queries."""
    return np.ones(len(hits))


@measure(
    "NumRet",
    spelled={"NumRelRet": {"rel": 1}, "hits": {"rel": 1}},
    at="cutoff",
    aggregate="sum",
    range=(0.0, math.inf),
    better=None,
    monotone=True,
    formula="|retrieved in the top k|; NumRelRet: those that are relevant",
    reference="trec_eval: num_ret, num_rel_ret",
)
def num_ret(hits: Hits, *, cutoff: int | None = None, rel: float | None = None) -> PerQuery:
    """The number of documents retrieved; with rel=, of relevant ones (NumRelRet is rel=1)."""
    top = hits.top(cutoff)
    return (top.retrieved if rel is None else top.relevant(rel).count).astype(float)


@measure(
    "NumRel",
    aggregate="sum",
    range=(0.0, math.inf),
    better=None,
    missing=None,
    judged_only=False,
    formula="R",
    reference="trec_eval: num_rel",
)
def num_rel(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The number of relevant documents in the judgments."""
    return hits.relevant_judged(rel).astype(float)


@measure(
    "NumNonrelJudgedRet",
    aggregate="sum",
    range=(0.0, math.inf),
    better=None,
    judged_only=False,
    formula="|retrieved and judged not relevant|",
    reference="trec_eval: num_nonrel_judged_ret",
)
def num_nonrel_judged_ret(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The number of retrieved documents that were judged and found not relevant."""
    return hits.where((hits.grade >= 0) & (hits.grade < rel)).count.astype(float)
