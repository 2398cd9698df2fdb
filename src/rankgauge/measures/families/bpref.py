"""Binary preference."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


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
