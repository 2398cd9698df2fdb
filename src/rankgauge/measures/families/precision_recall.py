"""Precision and recall: at a cutoff, of the whole set, interpolated; F, R-precision, accuracy; and of gold text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.measure import MeasureScale
from rankgauge.measures.registry import ANY_RELEVANT, measure, needs

if TYPE_CHECKING:
    pass


@measure("P", aliases=("Precision",), at="cutoff")
@needs(*ANY_RELEVANT)
def precision(hits: Hits, *, cutoff: int, rel: float = 1, norm: Literal["k", "retrieved"] = "k") -> PerQuery:
    """The share of relevant documents among the first k.

    The divisor is k even if fewer were returned; norm='retrieved' divides by the number returned, at most k.

    Formula: |relevant in the top k| / k
    Reference: trec_eval: P_k; van Rijsbergen, Information Retrieval, 1979
    """
    top = hits.top(cutoff)
    divisor = top.retrieved if norm == "retrieved" else np.broadcast_to(cutoff, len(hits))
    return divide(top.relevant(rel).count, divisor)


# Recall at a cutoff.


@measure("R", aliases=("Recall",), at="cutoff", monotone=True)
def recall(hits: Hits, *, cutoff: int, rel: float = 1, norm: Literal["all", "min"] = "all") -> PerQuery:
    """The share of all relevant documents that are among the first k; 0 if there are none.

    norm='min' divides by min(R, k), so that a query with more than k relevant documents can reach 1.

    Formula: |relevant in the top k| / R
    Reference: trec_eval: recall_k; with norm='min' relative_P_k
    """
    labels = hits.every_label
    total = labels.relevant_judged(rel)
    retrieved = labels.top(cutoff).relevant(rel).count
    return divide(retrieved, np.minimum(total, cutoff) if norm == "min" else total)


@measure("RecallAll", aliases=("recall_all",), at="cutoff", monotone=True)
def recall_all(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
    """1 if all relevant documents are among the first k: a question that needs several documents has them all.

    A query with more relevant documents than k cannot reach 1; a note counts such queries.

    Formula: 1 if R@k = 1, else 0
    """
    total = hits.relevant_judged(rel)
    is_complete: PerQuery = ((hits.top(cutoff).relevant(rel).count == total) & (total > 0)).astype(float)
    return is_complete


# The F-measure at a cutoff.


@measure("F", aliases={"F1": {"beta": 1}}, at="cutoff")
def f(hits: Hits, *, cutoff: int, rel: float = 1, beta: float = 1) -> PerQuery:
    """The weighted harmonic mean of P@k and R@k; beta above 1 favors recall.

    Formula: (1 + β²)·P·R / (β²·P + R)
    Reference: van Rijsbergen, Information Retrieval, 1979, chapter 7
    """
    p = precision.kernel(hits, cutoff=cutoff, rel=rel)
    r = recall.kernel(hits, cutoff=cutoff, rel=rel)
    square = beta * beta
    return divide((1 + square) * p * r, square * p + r)


# Precision at R.


@measure("Rprec", aliases=("RPrec", "R-precision"))
def rprec(hits: Hits, *, rel: float = 1, mult: float = 1) -> PerQuery:
    """Precision at a cutoff of R, the number of relevant documents; mult= sets the cutoff to a multiple of R.

    Formula: |relevant in the top c| / c, c = ⌊mult·R + 0.9⌋
    Reference: trec_eval: Rprec, Rprec_mult_x
    """
    cutoff = np.floor(mult * hits.relevant_judged(rel) + 0.9).astype(np.int64)
    return divide(hits.top(cutoff).relevant(rel).count, cutoff)


# Measures of the whole retrieved set, regardless of its order.


@measure("SetP", aliases={"SetRelP": {"relative": True}})
def set_precision(hits: Hits, *, rel: float = 1, relative: bool = False) -> PerQuery:
    """The share of relevant documents among all retrieved; SetRelP divides by the largest possible number.

    Formula: |relevant retrieved| / |retrieved|; relative: / min(|retrieved|, R)
    Reference: trec_eval: set_P, set_relative_P
    """
    divisor = np.minimum(hits.retrieved, hits.relevant_judged(rel)) if relative else hits.retrieved
    return divide(hits.relevant(rel).count, divisor)


@measure("SetR")
def set_recall(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The share of all relevant documents that were retrieved.

    Formula: |relevant retrieved| / R
    Reference: trec_eval: set_recall
    """
    return divide(hits.every_label.relevant(rel).count, hits.every_label.relevant_judged(rel))


@measure("SetAP")
def set_ap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The product of precision and recall of the retrieved set.

    Formula: |relevant retrieved|² / (|retrieved| · R)
    Reference: trec_eval: set_map
    """
    count = hits.relevant(rel).count
    return divide(count * count, hits.retrieved * hits.relevant_judged(rel))


@measure("SetF")
def set_f(hits: Hits, *, rel: float = 1, beta: float = 1, weight: float | None = None) -> PerQuery:
    """The weighted harmonic mean of precision and recall of the retrieved set.

    beta=2 is the usual F2; trec_eval's set_F.2 is a different measure, weight=2.

    Formula: (x + 1)·P·R / (R + x·P), x = β²
    Reference: trec_eval: set_F.x, where x is the weight itself: SetF(weight=x)
    """
    x = beta * beta if weight is None else weight
    p = set_precision.kernel(hits, rel=rel)
    r = set_recall.kernel(hits, rel=rel)
    return divide((x + 1.0) * p * r, r + x * p)


# Interpolated precision at recall points.

ELEVEN_POINTS = tuple(n / 10 for n in range(11))


@measure("IPrec", at="recall")
def iprec(hits: Hits, *, recall: float, rel: float = 1, round: Literal["up", "nearest"] = "up") -> PerQuery:
    """The best precision at or beyond a recall point; 0 if that recall is not reached.

    The number of relevant documents at recall x is ⌊x·R + 0.9⌋ with round='up' (trec_eval 9), and x·R rounded to the
    nearest whole number with round='nearest' (trec_eval 10).

    Formula: max of P@i over the ranks i from that of the c-th relevant document on, c = ⌊x·R + 0.9⌋
    Reference: trec_eval: iprec_at_recall_x
    """
    share = recall * hits.relevant_judged(rel)
    number = np.floor(share + (0.9 if round == "up" else 0.5)).astype(np.int64)
    relevant = hits.relevant(rel)
    out = np.zeros(len(hits))
    reached = relevant.position >= number[relevant.query]
    enough = number[relevant.query] <= relevant.count[relevant.query]
    chosen = reached & enough
    np.maximum.at(out, relevant.query[chosen], (relevant.position / relevant.rank)[chosen])
    return out


@measure("IPrecAvg", aliases=("11pt_avg",))
def iprec_average(
    hits: Hits,
    *,
    rel: float = 1,
    recalls: tuple[float, ...] | None = None,
    round: Literal["up", "nearest"] = "up",
) -> PerQuery:
    """Interpolated precision averaged over eleven recall points, or over those in recalls=.

    Formula: mean of IPrec over the recall points 0, 0.1, …, 1
    Reference: trec_eval: 11pt_avg
    """
    points = sorted(recalls or ELEVEN_POINTS, reverse=True)
    total = np.zeros(len(hits))
    for point in points:
        total = total + iprec.kernel(hits, recall=point, rel=rel, round=round)
    return total / len(points)


# Pairwise accuracy.


@measure("Accuracy", at="cutoff")
def accuracy(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """How often a relevant retrieved document is ranked above a nonrelevant one; unjudged documents are nonrelevant.

    0 if no relevant document is retrieved, null if only relevant documents are.

    Formula: |pairs (relevant, nonrelevant) in the right order| / |such pairs|
    Reference: ir_measures: Accuracy
    """
    top = hits.top(cutoff)
    relevant = top.relevant(rel)
    nonrelevant = top.retrieved - relevant.count
    above = relevant.rank - relevant.position  # the number of nonrelevant documents above
    right = relevant.sum(nonrelevant[relevant.query] - above)
    pairs = (nonrelevant * relevant.count).astype(float)
    out = np.where(relevant.count > 0, np.nan, 0.0)
    np.divide(right, pairs, out=out, where=pairs > 0)
    return out


# The first relevant document: its reciprocal rank, its rank, and whether it is in the
# top k.


@measure("RR", aliases=("MRR", "reciprocal_rank"), at="cutoff", monotone=True)
@needs(*ANY_RELEVANT)
def rr(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """Reciprocal rank of the first relevant document; 0 if none is retrieved (within the cutoff).

    Its mean is called MRR. Note that 1/MRR is the harmonic mean of the ranks, not their mean.

    Formula: 1 / rank of the first relevant document
    Reference: trec_eval: recip_rank; Voorhees, TREC-8 question answering track report, 1999
    """
    relevant = hits.top(cutoff).relevant(rel)
    return relevant.first(1.0 / relevant.rank)


@measure(
    "FirstRel",
    aliases=("first_relevant_position",),
    at="cutoff",
    scale=MeasureScale(1.0, math.inf, better="lower"),
    missing=math.nan,
)
@needs(*ANY_RELEVANT)
def first_relevant(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """The position of the first relevant document, from 1; null if none is retrieved.

    The mean is over the queries that have one: read it beside Success.

    Formula: rank of the first relevant document
    """
    relevant = hits.top(cutoff).relevant(rel)
    return relevant.first(relevant.rank, default=math.nan)


# Success at a cutoff: whether any relevant document was found.


@measure("Success", aliases=("Hit", "HitRate", "hit_rate"), at="cutoff", monotone=True)
@needs(*ANY_RELEVANT)
def success(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
    """1 if at least one relevant document is among the first k; its mean is the hit rate.

    Formula: 1 if a relevant document is in the top k, else 0
    Reference: trec_eval: success_k
    """
    return (hits.top(cutoff).relevant(rel).count > 0).astype(float)
