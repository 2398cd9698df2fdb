"""Inferred average precision."""

from __future__ import annotations

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure

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
