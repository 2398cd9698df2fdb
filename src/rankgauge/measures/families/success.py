"""Success at a cutoff: whether any relevant document was found."""

from __future__ import annotations

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure


@measure("Success", aliases=("Hit", "HitRate", "hit_rate"), at="cutoff", monotone=True)
def success(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
    """1 if at least one relevant document is among the first k; its mean is the hit rate.

    Formula: 1 if a relevant document is in the top k, else 0
    Reference: trec_eval: success_k
    """
    return (hits.top(cutoff).relevant(rel).count > 0).astype(float)
