"""Counts, which are summed over queries."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure, needs
from rankgauge.measures.spec import MeasureScale


@measure("NumQ", aggregate="sum", scale=MeasureScale(1.0, 1.0, better=None), missing=1.0, judged_only=False)
@needs(None)
def num_q(hits: Hits) -> PerQuery:
    """The number of queries.

    Formula: 1
    Reference: trec_eval: num_q
    """
    return np.ones(len(hits))


@measure(
    "NumRet",
    aliases={"NumRelRet": {"rel": 1}, "hits": {"rel": 1}},
    at="cutoff",
    aggregate="sum",
    scale=MeasureScale(0.0, math.inf, better=None),
    monotone=True,
)
def num_ret(hits: Hits, *, cutoff: int | None = None, rel: float | None = None) -> PerQuery:
    """The number of documents retrieved; with rel=, of relevant documents retrieved (NumRelRet is rel=1).

    Formula: |retrieved in the top k|; NumRelRet: those that are relevant
    Reference: trec_eval: num_ret, num_rel_ret
    """
    top = hits.top(cutoff)
    return (top.retrieved if rel is None else top.relevant(rel).count).astype(float)


@measure("NumRel", aggregate="sum", scale=MeasureScale(0.0, math.inf, better=None), missing=None, judged_only=False)
def num_rel(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The number of relevant documents in the judgments.

    Formula: R
    Reference: trec_eval: num_rel
    """
    return hits.relevant_judged(rel).astype(float)


@measure("NumNonrelJudgedRet", aggregate="sum", scale=MeasureScale(0.0, math.inf, better=None), judged_only=False)
def num_nonrel_judged_ret(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The number of retrieved documents that are judged nonrelevant.

    Formula: |retrieved and judged nonrelevant|
    Reference: trec_eval: num_nonrel_judged_ret
    """
    return hits.where((hits.grade >= 0) & (hits.grade < rel)).count.astype(float)
