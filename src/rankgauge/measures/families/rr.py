"""The first relevant document: its reciprocal rank, and its rank."""

from __future__ import annotations

import math

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure
from rankgauge.measures.spec import MeasureScale


@measure("RR", aliases=("MRR", "reciprocal_rank"), at="cutoff", monotone=True)
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
def first_relevant(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """The position of the first relevant document, from 1; null if none is retrieved.

    The mean is over the queries that have one: read it beside Success.

    Formula: rank of the first relevant document
    """
    relevant = hits.top(cutoff).relevant(rel)
    return relevant.first(relevant.rank, default=math.nan)
