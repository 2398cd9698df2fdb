"""The share of a ranking that is judged."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure, needs
from rankgauge.measures.spec import MeasureScale


@measure("Judged", at="cutoff", judged_only=False, scale=MeasureScale(better=None))
@needs(None)
def judged(hits: Hits, *, cutoff: int | None = None) -> PerQuery:
    """The share of the first k documents that have a judgment; negative grades count as unjudged.

    Formula: |judged in the top k| / min(k, |retrieved|)
    Reference: ir_measures: Judged@k
    """
    top = hits.top(cutoff)
    return divide(top.where(top.grade >= 0).count, top.retrieved)


@measure("Unjudged", aliases=("unj",), at="cutoff", judged_only=False, scale=MeasureScale(better=None))
@needs(None)
def unjudged(hits: Hits, *, cutoff: int) -> PerQuery:
    """The number of documents without a judgment among the first k, divided by k.

    Formula: |unjudged in the top k| / k
    Reference: trec_eval 10: unj_k
    """
    top = hits.top(cutoff)
    judged_count = top.where(top.grade >= 0).count
    return divide(top.retrieved - judged_count, np.broadcast_to(cutoff, len(hits)))
