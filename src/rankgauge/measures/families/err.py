"""Expected reciprocal rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats, steps
from rankgauge.errors import MeasureError
from rankgauge.measures.numbers import exponential_gain
from rankgauge.measures.registry import measure


def largest_grade(parameters: dict[str, Any], qrels: Qrels) -> dict[str, Any]:
    """The largest grade of the whole collection, if the caller did not give one."""
    return {} if parameters["max_rel"] is not None else {"max_rel": qrels.max_grade or 1}


def checked_max_rel(name: str, judged: Floats, max_rel: float | None) -> float:
    """The largest grade; raises if it was not set or if a judgment exceeds it."""
    if max_rel is None:
        raise MeasureError(f"{name} needs max_rel, the largest grade", hint="evaluate() takes it from the judgments")
    if judged.max(initial=0.0) > max_rel:
        raise MeasureError(f"max_rel of {name} is {max_rel:g}, but there is a judgment of {judged.max():g}")
    return float(max_rel)


@measure("ERR", at="cutoff", monotone=True, freeze=largest_grade)
def err(hits: Hits, *, cutoff: int | None = None, max_rel: float | None = None) -> PerQuery:
    """The expected reciprocal rank at which a user who scans down the list is satisfied.

    max_rel is the largest grade; by default that of the whole collection.

    Formula: Σ (1/i) · P_i · Π over j < i of (1 − P_j), P = (2^grade − 1) / 2^max_rel
    Reference: Chapelle et al., Expected reciprocal rank for graded relevance, CIKM 2009
    """
    top_grade = checked_max_rel("ERR", hits.judged, max_rel)
    gaining = hits.top(cutoff).where(hits.top(cutoff).grade > 0)
    satisfied = exponential_gain(gaining.grade) / 2.0**top_grade
    total, continuing = np.zeros(len(hits)), np.ones(len(hits))
    for rows in steps(gaining.offsets):
        query = gaining.query[rows]
        total[query] += continuing[query] * satisfied[rows] / gaining.rank[rows]
        continuing[query] *= 1.0 - satisfied[rows]
    return total
