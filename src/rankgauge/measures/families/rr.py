"""The first relevant document: its reciprocal rank, and its rank."""

from __future__ import annotations

import math

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure


@measure(
    "RR",
    aliases=("MRR", "reciprocal_rank"),
    at="cutoff",
    monotone=True,
    formula="1 / rank of the first relevant document",
    reference="trec_eval: recip_rank; Voorhees, TREC-8 question answering track report, 1999",
)
def rr(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """Reciprocal rank of the first relevant document; 0 where none is retrieved (within the cutoff).

    Its mean is called MRR. Mind that 1/MRR is the harmonic mean of the ranks, not their mean.
    """
    found = hits.top(cutoff).relevant(rel)
    return found.first(1.0 / found.rank)


@measure(
    "FirstRel",
    aliases=("first_relevant_position",),
    at="cutoff",
    range=(1.0, math.inf),
    better="lower",
    missing=math.nan,
    formula="rank of the first relevant document",
)
def first_relevant(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """The position of the first relevant document, from 1; null where none is retrieved.

    The mean is over the queries that have one: read it beside Success.
    """
    found = hits.top(cutoff).relevant(rel)
    return found.first(found.rank, default=math.nan)
