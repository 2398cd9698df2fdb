"""Recall at a cutoff."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


@measure(
    "R",
    aliases=("Recall",),
    at="cutoff",
    monotone=True,
    formula="|relevant in the top k| / R",
    reference="trec_eval: recall_k; with norm='min' relative_P_k",
)
def recall(hits: Hits, *, cutoff: int, rel: float = 1, norm: Literal["all", "min"] = "all") -> PerQuery:
    """The share of all relevant documents that stand among the first k; 0 where there is none.

    norm='min' divides by min(R, k), so that a query with more than k relevant documents can reach 1.
    """
    total = hits.relevant_judged(rel)
    found = hits.top(cutoff).relevant(rel).count
    return divide(found, np.minimum(total, cutoff) if norm == "min" else total)
