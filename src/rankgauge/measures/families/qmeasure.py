"""Sakai's Q-measure."""

from __future__ import annotations

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.core.tables import running
from rankgauge.measures.registry import measure


@measure("Q", at="cutoff")
def q_measure(hits: Hits, *, cutoff: int | None = None, rel: float = 1, beta: float = 1) -> PerQuery:
    """Average precision that also rewards higher grades: precision blended with the cumulative gain.

    cg is the cumulative gain, cg* that of the ideal ranking; beta is the weight of the gain.

    Formula: (1/min(R, k)) · Σ over relevant ranks i of (H_i + β·cg_i) / (i + β·cg*_i)
    Reference: Sakai, New performance metrics based on multigrade relevance, NTCIR-4, 2004
    """
    relevant = hits.top(cutoff).relevant(rel)
    ideal = hits.ideal(np.where(hits.judged >= max(rel, 0), hits.judged, 0.0))
    best = ideal.at(running(ideal.gain, ideal.offsets), relevant.query, relevant.rank)
    gained = relevant.running(relevant.grade)
    blended = (relevant.position + beta * gained) / (relevant.rank + beta * best)
    total = hits.relevant_judged(rel)
    return divide(relevant.sum(blended), total if cutoff is None else np.minimum(total, cutoff))
