"""How much of a ranking was judged at all."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


@measure(
    "Judged",
    at="cutoff",
    better=None,
    judged_only=False,
    formula="|judged in the top k| / min(k, |retrieved|)",
    reference="ir_measures: Judged@k",
)
def judged(hits: Hits, *, cutoff: int | None = None) -> PerQuery:
    """The share of the first k documents that have a judgment; a negative grade is none."""
    top = hits.top(cutoff)
    return divide(top.where(top.grade >= 0).count, top.retrieved)


@measure(
    "Unjudged",
    aliases=("unj",),
    at="cutoff",
    better=None,
    judged_only=False,
    formula="|not judged in the top k| / k",
    reference="trec_eval 10: unj_k",
)
def unjudged(hits: Hits, *, cutoff: int) -> PerQuery:
    """The number of documents without a judgment among the first k, divided by k."""
    top = hits.top(cutoff)
    known = top.where(top.grade >= 0).count
    return divide(top.retrieved - known, np.broadcast_to(cutoff, len(hits)))
