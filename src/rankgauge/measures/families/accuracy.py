"""Pairwise accuracy."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure


@measure("Accuracy", at="cutoff")
def accuracy(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """How often a relevant retrieved document is ranked above a nonrelevant one; unjudged documents are nonrelevant.

    0 if no relevant document is retrieved, null if only relevant documents are.

    Formula: |pairs (relevant, nonrelevant) in the right order| / |such pairs|
    Reference: ir_measures: Accuracy
    """
    top = hits.top(cutoff)
    relevant = top.relevant(rel)
    nonrelevant = top.retrieved - relevant.count
    above = relevant.rank - relevant.position  # the number of nonrelevant documents above
    right = relevant.sum(nonrelevant[relevant.query] - above)
    pairs = (nonrelevant * relevant.count).astype(float)
    out = np.where(relevant.count > 0, np.nan, 0.0)
    np.divide(right, pairs, out=out, where=pairs > 0)
    return out
