"""Precision at a cutoff."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


@measure("P", aliases=("Precision",), at="cutoff")
def precision(hits: Hits, *, cutoff: int, rel: float = 1, norm: Literal["k", "retrieved"] = "k") -> PerQuery:
    """The share of relevant documents among the first k.

    The divisor is k even if fewer were returned; norm='retrieved' divides by the number returned, at most k.

    Formula: |relevant in the top k| / k
    Reference: trec_eval: P_k; van Rijsbergen, Information Retrieval, 1979
    """
    top = hits.top(cutoff)
    divisor = top.retrieved if norm == "retrieved" else np.broadcast_to(cutoff, len(hits))
    return divide(top.relevant(rel).count, divisor)
