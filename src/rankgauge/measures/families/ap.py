"""Average precision."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


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


@measure("GMAP", aggregate="gmean")
def gmap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Average precision with a geometric mean over queries, which emphasizes the poorest queries.

    Formula: exp(mean of ln max(AP, 0.00001))
    Reference: trec_eval: gm_map; Robertson, On GMAP and other transformations, CIKM 2006
    """
    return ap.kernel(hits, rel=rel)
