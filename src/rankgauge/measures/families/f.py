"""The F-measure at a cutoff."""

from __future__ import annotations

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.measures.families.precision import precision
from rankgauge.measures.families.recall import recall
from rankgauge.measures.registry import measure


@measure("F", aliases={"F1": {"beta": 1}}, at="cutoff")
def f(hits: Hits, *, cutoff: int, rel: float = 1, beta: float = 1) -> PerQuery:
    """The weighted harmonic mean of P@k and R@k; beta above 1 favors recall.

    Formula: (1 + β²)·P·R / (β²·P + R)
    Reference: van Rijsbergen, Information Retrieval, 1979, chapter 7
    """
    p = precision.kernel(hits, cutoff=cutoff, rel=rel)
    r = recall.kernel(hits, cutoff=cutoff, rel=rel)
    square = beta * beta
    return divide((1 + square) * p * r, square * p + r)
