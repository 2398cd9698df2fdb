"""Linear utility, and yaap."""

from __future__ import annotations

import math

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.numbers import each
from rankgauge.measures.registry import measure
from rankgauge.measures.spec import MeasureScale


@measure("Utility", aliases=("utility",), scale=MeasureScale(-math.inf, math.inf), missing=None)
def utility(
    hits: Hits,
    *,
    rel: float = 1,
    relevant: float = 1,
    nonrelevant: float = -1,
    missed: float = 0,
    rest: float = 0,
    collection: int = 0,
) -> PerQuery:
    """Gains and costs of the retrieved set: one for each relevant, nonrelevant and missed document, and for the rest.

    Formula: a·rr + b·(n − rr) + c·(R − rr) + d·(N + rr − n − R)
    Reference: trec_eval: utility.a,b,c,d
    """
    hit_count = hits.relevant(rel).count.astype(float)
    total = hits.relevant_judged(rel)
    nonrelevant_count, missed_count = hits.retrieved - hit_count, total - hit_count
    value: PerQuery = (
        relevant * hit_count
        + nonrelevant * nonrelevant_count
        + missed * missed_count
        + rest * (collection + hit_count - hits.retrieved - total)
    )
    return value


@measure("YAAP", aliases=("yaap",), scale=MeasureScale(-math.inf, math.inf), missing=None)
def yaap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The log odds of the summed precisions: average precision on an unbounded scale.

    Formula: ln((1 + S) / (1 + R − S)), S = Σ over relevant ranks i of P@i
    Reference: trec_eval: yaap; Robertson, Yet another average precision
    """
    retrieved = hits.relevant(rel)
    summed = retrieved.sum(retrieved.position / retrieved.rank)
    return each((1.0 + summed) / (1.0 + hits.relevant_judged(rel) - summed), math.log)
