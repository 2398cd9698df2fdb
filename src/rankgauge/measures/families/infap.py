"""Inferred average precision."""

from __future__ import annotations

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure

EPSILON = 0.00001


@measure(
    "infAP",
    judged_only=False,
    formula="(1/R) · Σ over relevant ranks of the precision there, estimated from the sampled pool",
    reference="trec_eval: infAP; Yilmaz and Aslam, Estimating average precision with incomplete judgments, CIKM 2006",
)
def inf_ap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Average precision estimated where only a sample of the pool was judged.

    A document with a negative grade is in the pool and not judged; one without any row is not in the pool.
    """
    chosen = hits.grade >= max(rel, 0)
    found = hits.relevant(rel)
    nonrelevant = hits.above((hits.grade >= 0) & ~chosen)[chosen]
    unjudged = hits.above(hits.grade < 0)[chosen]
    relevant = found.position - 1
    depth = (found.rank - 1).astype(float)
    pooled = divide((relevant + nonrelevant + unjudged).astype(float), depth)
    judged_share = (relevant + EPSILON) / (relevant + nonrelevant + 2 * EPSILON)
    inferred = 1.0 / (depth + 1.0) + (depth / (depth + 1.0)) * pooled * judged_share
    inferred[found.rank == 1] = 1.0
    return divide(found.sum(inferred), hits.relevant_judged(rel))
