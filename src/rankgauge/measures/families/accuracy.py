"""Pairwise accuracy."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure


@measure(
    "Accuracy",
    at="cutoff",
    formula="|pairs (relevant, not relevant) in the right order| / |such pairs|",
    reference="ir_measures: Accuracy",
)
def accuracy(hits: Hits, *, cutoff: int | None = None, rel: float = 1) -> PerQuery:
    """How often a relevant retrieved document stands above one that is not; unjudged ones are not relevant.

    0 where no relevant document is retrieved, null where nothing else is.
    """
    top = hits.top(cutoff)
    found = top.relevant(rel)
    others = top.retrieved - found.count
    above = found.rank - found.position  # how many that are not relevant stand above
    right = found.sum(others[found.query] - above)
    pairs = (others * found.count).astype(float)
    out = np.where(found.count > 0, np.nan, 0.0)
    np.divide(right, pairs, out=out, where=pairs > 0)
    return out
