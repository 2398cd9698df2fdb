"""Average precision and its relatives: inferred AP, bpref and Q-measure."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.core.arrays import running
from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import ANY_RELEVANT, measure, needs


@measure("AP", aliases=("MAP", "AveP", "average_precision"), at="cutoff")
def ap(hits: Hits, *, cutoff: int | None = None, rel: float = 1, norm: Literal["all", "min"] = "all") -> PerQuery:
    """The mean of the precision at each relevant document; those not retrieved count as 0. Its mean is MAP.

    norm='min' divides by min(R, k) instead of R.

    Formula: (1/R) · Σ over relevant ranks i ≤ k of P@i
    Reference: trec_eval: map, map_cut_k; Harman, Evaluation issues in information retrieval, 1992
    """
    relevant = hits.top(cutoff).relevant(rel)
    total = hits.relevant_judged(rel)
    if norm == "min" and cutoff is not None:
        total = np.minimum(total, cutoff)
    return divide(relevant.sum(relevant.position / relevant.rank), total)


@measure("ContextPrecision", aliases=("NonLLMContextPrecisionWithReference",), at="cutoff")
@needs(*ANY_RELEVANT)
def context_precision(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """The mean of the precision at each relevant document that was found; 0 if none is.

    Unlike AP, it does not count the relevant documents that are missing: read it beside recall.

    Formula: Σ over i ≤ k of v_i · P@i / Σ over i ≤ k of v_i; v_i is 1 if document i is relevant, else 0
    Reference: ragas: NonLLMContextPrecisionWithReference
    """
    relevant = hits.top(cutoff).relevant(rel)
    return divide(relevant.sum(relevant.position / relevant.rank), relevant.count)


@measure("GMAP", aggregate="gmean")
def gmap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Average precision with a geometric mean over queries, which emphasizes the poorest queries.

    Formula: exp(mean of ln max(AP, 0.00001))
    Reference: trec_eval: gm_map; Robertson, On GMAP and other transformations, CIKM 2006
    """
    return ap.kernel(hits, rel=rel)


# Inferred average precision.

SMOOTHING = 0.00001


@measure("infAP", judged_only=False)
def inf_ap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Average precision estimated from judgments of a sample of the pool.

    A document with a negative grade is in the pool but unjudged; one without a row is not in the pool.

    Formula: (1/R) · Σ over relevant ranks of the precision there, estimated from the sampled pool
    Reference: trec_eval: infAP; Yilmaz and Aslam, Estimating average precision with incomplete judgments, CIKM 2006
    """
    chosen = hits.grade >= max(rel, 0)
    retrieved = hits.relevant(rel)
    nonrelevant = hits.above((hits.grade >= 0) & ~chosen)[chosen]
    unjudged = hits.above(hits.grade < 0)[chosen]
    relevant = retrieved.position - 1
    depth = (retrieved.rank - 1).astype(float)
    pooled = divide((relevant + nonrelevant + unjudged).astype(float), depth)
    judged_share = (relevant + SMOOTHING) / (relevant + nonrelevant + 2 * SMOOTHING)
    inferred = 1.0 / (depth + 1.0) + (depth / (depth + 1.0)) * pooled * judged_share
    inferred[retrieved.rank == 1] = 1.0
    return divide(retrieved.sum(inferred), hits.relevant_judged(rel))


# Binary preference.


@measure("Bpref", aliases=("BPref",), judged_only=False)
def bpref(hits: Hits, *, rel: float = 1) -> PerQuery:
    """How rarely judged nonrelevant documents are ranked above relevant ones; unjudged documents are ignored.

    Formula: (1/R) · Σ over relevant of 1 − min(nonrelevant above, R) / min(N, R)
    Reference: trec_eval: bpref; Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004
    """
    total = hits.relevant_judged(rel)
    bound = np.minimum(hits.nonrelevant_judged(rel), total)
    above = hits.above((hits.grade >= 0) & (hits.grade < rel))
    chosen = hits.grade >= max(rel, 0)
    relevant, above = hits.relevant(rel), above[chosen]
    penalty = divide(np.minimum(above, total[relevant.query]), bound[relevant.query])
    return divide(relevant.sum(1.0 - penalty), total)


@measure("GMBpref", aggregate="gmean", judged_only=False)
def gm_bpref(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Bpref with a geometric mean over queries.

    Formula: exp(mean of ln max(Bpref, 0.00001))
    Reference: trec_eval: gm_bpref
    """
    return bpref.kernel(hits, rel=rel)


# Sakai's Q-measure.


@measure("Q", aliases=("Q-measure",), at="cutoff")
def q_measure(hits: Hits, *, cutoff: int | None = None, rel: float = 1, beta: float = 1) -> PerQuery:
    """Average precision that also rewards higher grades: precision blended with the cumulative gain.

    cg is the cumulative gain, cg* that of the ideal ranking; beta is the weight of the gain.

    Formula: (1/min(R, k)) · Σ over relevant ranks i of (H_i + β·cg_i) / (i + β·cg*_i)
    Reference: Sakai, New performance metrics based on multigrade relevance, NTCIR-4, 2004
    """
    relevant = hits.top(cutoff).relevant(rel)
    ideal = hits.ideal(np.where(hits.judged >= max(rel, 0), hits.judged, 0.0))
    best = ideal.at(running(ideal.gain, ideal.offsets), relevant.query, relevant.rank)
    gained = relevant.running(relevant.grade)
    blended = (relevant.position + beta * gained) / (relevant.rank + beta * best)
    total = hits.relevant_judged(rel)
    return divide(relevant.sum(blended), total if cutoff is None else np.minimum(total, cutoff))
