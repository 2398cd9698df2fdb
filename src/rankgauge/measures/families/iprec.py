"""Interpolated precision at points of recall."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures.registry import measure

ELEVEN = tuple(n / 10 for n in range(11))


@measure(
    "IPrec",
    at="recall",
    formula="max of P@i over the ranks i from that of the c-th relevant document on, c = ⌊x·R + 0.9⌋",
    reference="trec_eval: iprec_at_recall_x",
)
def iprec(hits: Hits, *, recall: float, rel: float = 1, round: Literal["up", "nearest"] = "up") -> PerQuery:
    """The best precision at or beyond a point of recall; 0 where that recall is not reached.

    How many documents a share x of recall is: round='up' takes ⌊x·R + 0.9⌋ (trec_eval 9), round='nearest' rounds
    x·R (trec_eval 10).
    """
    wanted = recall * hits.relevant_judged(rel)
    number = np.floor(wanted + (0.9 if round == "up" else 0.5)).astype(np.int64)
    found = hits.relevant(rel)
    out = np.zeros(len(hits))
    reached = found.position >= number[found.query]
    enough = number[found.query] <= found.count[found.query]
    chosen = reached & enough
    np.maximum.at(out, found.query[chosen], (found.position / found.rank)[chosen])
    return out


@measure(
    "IPrecAvg",
    aliases=("11pt_avg",),
    formula="mean of IPrec over the points 0, 0.1, …, 1 of recall",
    reference="trec_eval: 11pt_avg",
)
def iprec_average(
    hits: Hits,
    *,
    rel: float = 1,
    recalls: tuple[float, ...] | None = None,
    round: Literal["up", "nearest"] = "up",
) -> PerQuery:
    """Interpolated precision averaged over eleven points of recall, or over those in recalls=."""
    points = sorted(recalls or ELEVEN, reverse=True)
    total = np.zeros(len(hits))
    for point in points:
        total = total + iprec.kernel(hits, recall=point, rel=rel, round=round)
    return total / len(points)
