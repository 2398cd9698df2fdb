"""Precision at R."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


@measure("Rprec", aliases=("RPrec", "R-precision"))
def rprec(hits: Hits, *, rel: float = 1, mult: float = 1) -> PerQuery:
    """Precision at a cutoff of R, the number of relevant documents; mult= sets the cutoff to a multiple of R.

    Formula: |relevant in the top c| / c, c = ⌊mult·R + 0.9⌋
    Reference: trec_eval: Rprec, Rprec_mult_x
    """
    cutoff = np.floor(mult * hits.relevant_judged(rel) + 0.9).astype(np.int64)
    return divide(hits.top(cutoff).relevant(rel).count, cutoff)
