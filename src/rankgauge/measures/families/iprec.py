"""Interpolated precision at recall points."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure

ELEVEN_POINTS = tuple(n / 10 for n in range(11))


@measure("IPrec", at="recall")
def iprec(hits: Hits, *, recall: float, rel: float = 1, round: Literal["up", "nearest"] = "up") -> PerQuery:
    """The best precision at or beyond a recall point; 0 if that recall is not reached.

    The number of relevant documents at recall x is ⌊x·R + 0.9⌋ with round='up' (trec_eval 9), and x·R rounded to the
    nearest whole number with round='nearest' (trec_eval 10).

    Formula: max of P@i over the ranks i from that of the c-th relevant document on, c = ⌊x·R + 0.9⌋
    Reference: trec_eval: iprec_at_recall_x
    """
    share = recall * hits.relevant_judged(rel)
    number = np.floor(share + (0.9 if round == "up" else 0.5)).astype(np.int64)
    relevant = hits.relevant(rel)
    out = np.zeros(len(hits))
    reached = relevant.position >= number[relevant.query]
    enough = number[relevant.query] <= relevant.count[relevant.query]
    chosen = reached & enough
    np.maximum.at(out, relevant.query[chosen], (relevant.position / relevant.rank)[chosen])
    return out


@measure("IPrecAvg", aliases=("11pt_avg",))
def iprec_average(
    hits: Hits,
    *,
    rel: float = 1,
    recalls: tuple[float, ...] | None = None,
    round: Literal["up", "nearest"] = "up",
) -> PerQuery:
    """Interpolated precision averaged over eleven recall points, or over those in recalls=.

    Formula: mean of IPrec over the recall points 0, 0.1, …, 1
    Reference: trec_eval: 11pt_avg
    """
    points = sorted(recalls or ELEVEN_POINTS, reverse=True)
    total = np.zeros(len(hits))
    for point in points:
        total = total + iprec.kernel(hits, recall=point, rel=rel, round=round)
    return total / len(points)
