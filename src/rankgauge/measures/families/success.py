"""Success at a cutoff: was anything found?"""

from __future__ import annotations

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure


@measure(
    "Success",
    aliases=("Hit", "HitRate", "hit_rate"),
    at="cutoff",
    monotone=True,
    formula="1 if a relevant document stands in the top k, else 0",
    reference="trec_eval: success_k",
)
def success(hits: Hits, *, cutoff: int, rel: float = 1) -> PerQuery:
    """1 where at least one relevant document stands among the first k; its mean is the hit rate."""
    return (hits.top(cutoff).relevant(rel).count > 0).astype(float)
