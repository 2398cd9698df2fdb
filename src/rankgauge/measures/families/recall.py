"""Recall at a cutoff."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


@measure("R", aliases=("Recall",), at="cutoff", monotone=True)
def recall(hits: Hits, *, cutoff: int, rel: float = 1, norm: Literal["all", "min"] = "all") -> PerQuery:
    """The share of all relevant documents that are among the first k; 0 if there are none.

    norm='min' divides by min(R, k), so that a query with more than k relevant documents can reach 1.

    Formula: |relevant in the top k| / R
    Reference: trec_eval: recall_k; with norm='min' relative_P_k
    """
    total = hits.relevant_judged(rel)
    retrieved = hits.top(cutoff).relevant(rel).count
    return divide(retrieved, np.minimum(total, cutoff) if norm == "min" else total)
