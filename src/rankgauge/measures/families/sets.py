"""Measures of the whole retrieved set, whatever its order."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.registry import measure


@measure(
    "SetP",
    spelled={"SetRelP": {"relative": True}},
    formula="|relevant retrieved| / |retrieved|; relative: / min(|retrieved|, R)",
    reference="trec_eval: set_P, set_relative_P",
)
def set_precision(hits: Hits, *, rel: float = 1, relative: bool = False) -> PerQuery:
    """The share of relevant documents in all that was retrieved; SetRelP divides by what could be reached."""
    divisor = np.minimum(hits.retrieved, hits.relevant_judged(rel)) if relative else hits.retrieved
    return divide(hits.relevant(rel).count, divisor)


@measure(
    "SetR",
    formula="|relevant retrieved| / R",
    reference="trec_eval: set_recall",
)
def set_recall(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The share of all relevant documents that was retrieved."""
    return divide(hits.relevant(rel).count, hits.relevant_judged(rel))


@measure(
    "SetAP",
    formula="|relevant retrieved|² / (|retrieved| · R)",
    reference="trec_eval: set_map",
)
def set_ap(hits: Hits, *, rel: float = 1) -> PerQuery:
    """The product of precision and recall of the retrieved set."""
    found = hits.relevant(rel).count
    return divide(found * found, hits.retrieved * hits.relevant_judged(rel))


@measure(
    "SetF",
    formula="(x + 1)·P·R / (R + x·P), x = β²",
    reference="trec_eval: set_F.x, where x is the weight itself: SetF(weight=x)",
)
def set_f(hits: Hits, *, rel: float = 1, beta: float = 1, weight: float | None = None) -> PerQuery:
    """The weighted harmonic mean of precision and recall of the retrieved set.

    beta=2 is the usual F2; trec_eval's set_F.2 is something else, weight=2.
    """
    x = beta * beta if weight is None else weight
    p = set_precision.kernel(hits, rel=rel)
    r = set_recall.kernel(hits, rel=rel)
    return divide((x + 1.0) * p * r, r + x * p)
