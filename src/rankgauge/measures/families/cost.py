"""G and binG: gain discounted by reading effort."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.core.tables import running, sum_by
from rankgauge.measures.families.ndcg import gain_of
from rankgauge.measures.numbers import each, log2
from rankgauge.measures.registry import measure


@measure("G")
def g(hits: Hits, *, gains: dict[float, float] | None = None) -> PerQuery:
    """Gain discounted by the effort beyond that of the ideal ranking.

    The cost of each rank is the ideal gain there, at least 1. The gain is the grade; gains={1: 3, 2: 9} sets the gain
    of some grades.

    Formula: Σ gain / log2(2 + cost − gained) divided by Σ of all gains
    Reference: trec_eval: G
    """
    to_gain = gain_of("linear", gains)
    gaining = hits.where(to_gain(hits.grade) != 0)
    gain = to_gain(gaining.grade)
    ideal = hits.ideal(to_gain(hits.judged))
    steps = running(np.maximum(ideal.gain, 1.0), ideal.offsets)
    beyond = np.maximum(gaining.rank - ideal.count[gaining.query], 0)
    cost = ideal.at(steps, gaining.query, gaining.rank) + beyond
    discount = each(2.0 + cost - gaining.running(gain), math.log2)
    total = sum_by(ideal.query, ideal.gain, len(hits))
    return divide(gaining.sum(gain / discount), total)


@measure("BinG", aliases=("binG",))
def bin_g(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Relevant documents, each discounted by the number of nonrelevant documents above it.

    Formula: (1/R) · Σ over relevant ranks i of 1 / log2(2 + i − H_i)
    Reference: trec_eval: binG
    """
    relevant = hits.relevant(rel)
    return divide(relevant.sum(1.0 / log2(2 + relevant.rank - relevant.position)), hits.relevant_judged(rel))
