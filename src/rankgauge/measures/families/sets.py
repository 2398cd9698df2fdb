"""Measures of the whole retrieved set, regardless of its order."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


@measure("SetP", aliases={"SetRelP": {"relative": True}})
def set_precision(hits: Hits, *, rel: float = 1, relative: bool = False) -> PerQuery:
    """The share of relevant documents among all retrieved; SetRelP divides by the largest possible number.

    Formula: |relevant retrieved| / |retrieved|; relative: / min(|retrieved|, R)
    Reference: trec_eval: set_P, set_relative_P
    """
    divisor = np.minimum(hits.retrieved, hits.relevant_judged(rel)) if relative else hits.retrieved
    return divide(hits.relevant(rel).count, divisor)


@measure("SetR")
def set_recall(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The share of all relevant documents that were retrieved.

    Formula: |relevant retrieved| / R
    Reference: trec_eval: set_recall
    """
    return divide(hits.relevant(rel).count, hits.relevant_judged(rel))


@measure("SetAP")
def set_ap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The product of precision and recall of the retrieved set.

    Formula: |relevant retrieved|² / (|retrieved| · R)
    Reference: trec_eval: set_map
    """
    count = hits.relevant(rel).count
    return divide(count * count, hits.retrieved * hits.relevant_judged(rel))


@measure("SetF")
def set_f(hits: Hits, *, rel: float = 1, beta: float = 1, weight: float | None = None) -> PerQuery:
    """The weighted harmonic mean of precision and recall of the retrieved set.

    beta=2 is the usual F2; trec_eval's set_F.2 is a different measure, weight=2.

    Formula: (x + 1)·P·R / (R + x·P), x = β²
    Reference: trec_eval: set_F.x, where x is the weight itself: SetF(weight=x)
    """
    x = beta * beta if weight is None else weight
    p = set_precision.kernel(hits, rel=rel)
    r = set_recall.kernel(hits, rel=rel)
    return divide((x + 1.0) * p * r, r + x * p)
