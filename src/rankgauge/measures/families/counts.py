"""Counts, which are summed over queries, and the share of a ranking that is judged."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.measure import MeasureScale
from rankgauge.measures.registry import ANY_RELEVANT, measure, needs


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
@needs(*ANY_RELEVANT)
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


# The share of a ranking that is judged.


@measure("Judged", at="cutoff", judged_only=False, scale=MeasureScale(better=None))
@needs(None)
def judged(hits: Hits, *, cutoff: int | None = None) -> PerQuery:
    """The share of the first k documents that have a judgment; negative grades count as unjudged.

    Formula: |judged in the top k| / min(k, |retrieved|)
    Reference: ir_measures: Judged@k
    """
    top = hits.top(cutoff)
    return divide(top.where(top.grade >= 0).count, top.retrieved)


@measure("Unjudged", aliases=("unj",), at="cutoff", judged_only=False, scale=MeasureScale(better=None))
@needs(None)
def unjudged(hits: Hits, *, cutoff: int) -> PerQuery:
    """The number of documents without a judgment among the first k, divided by k.

    Formula: |unjudged in the top k| / k
    Reference: trec_eval 10: unj_k
    """
    top = hits.top(cutoff)
    judged_count = top.where(top.grade >= 0).count
    return divide(top.retrieved - judged_count, np.broadcast_to(cutoff, len(hits)))
