"""Binary preference."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


@measure(
    "Bpref",
    aliases=("BPref",),
    judged_only=False,
    formula="(1/R) · Σ over relevant of 1 − min(nonrelevant above, R) / min(N, R)",
    reference="trec_eval: bpref; Buckley and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004",
)
def bpref(hits: Hits, *, rel: float = 1) -> PerQuery:
    """How rarely judged nonrelevant documents stand above relevant ones; documents without a judgment do not count."""
    total = hits.relevant_judged(rel)
    bound = np.minimum(hits.nonrelevant_judged(rel), total)
    above = hits.above((hits.grade >= 0) & (hits.grade < rel))
    chosen = hits.grade >= max(rel, 0)
    found, above = hits.relevant(rel), above[chosen]
    penalty = divide(np.minimum(above, total[found.query]), bound[found.query])
    return divide(found.sum(1.0 - penalty), total)


@measure(
    "GMBpref",
    aggregate="gmean",
    judged_only=False,
    formula="exp(mean of ln max(Bpref, 0.00001))",
    reference="trec_eval: gm_bpref",
)
def gm_bpref(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Bpref, averaged over queries geometrically."""
    return bpref.kernel(hits, rel=rel)
