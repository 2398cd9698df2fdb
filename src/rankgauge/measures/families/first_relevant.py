"""The first relevant document: its reciprocal rank, its rank, and whether it is in the top k."""

from __future__ import annotations

import math

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.measure import MeasureScale
from rankgauge.measures.registry import ANY_RELEVANT, measure, needs


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
