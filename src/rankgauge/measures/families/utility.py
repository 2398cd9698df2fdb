"""Linear utility, and yaap."""

from __future__ import annotations

import math

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.numbers import each
from rankgauge.measures.registry import measure


@measure(
    "Utility",
    aliases=("utility",),
    range=(-math.inf, math.inf),
    missing=None,
    formula="a·rr + b·(n − rr) + c·(R − rr) + d·(N + rr − n − R)",
    reference="trec_eval: utility.a,b,c,d",
)
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
    """Gains and costs of the retrieved set: so much for each relevant document, nonrelevant, missed, and the rest."""
    found = hits.relevant(rel).count.astype(float)
    total = hits.relevant_judged(rel)
    wrong, lost = hits.retrieved - found, total - found
    value: PerQuery = (
        relevant * found + nonrelevant * wrong + missed * lost + rest * (collection + found - hits.retrieved - total)
    )
    return value


@measure(
    "YAAP",
    aliases=("yaap",),
    range=(-math.inf, math.inf),
    missing=None,
    formula="ln((1 + S) / (1 + R − S)), S = Σ over relevant ranks i of P@i",
    reference="trec_eval: yaap; Robertson, Yet another average precision",
)
def yaap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The log odds of the summed precisions: average precision on a scale without ends."""
    found = hits.relevant(rel)
    summed = found.sum(found.position / found.rank)
    return each((1.0 + summed) / (1.0 + hits.relevant_judged(rel) - summed), math.log)
