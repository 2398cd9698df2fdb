"""G and binG: gain against the effort of reading so far."""

from __future__ import annotations

import math

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.core.tables import running, sum_by
from rankgauge.measures.numbers import each, linear_gain, log2
from rankgauge.measures.registry import measure


@measure(
    "G",
    formula="Σ gain / log2(2 + cost − gained) divided by Σ of all gains",
    reference="trec_eval: G",
)
def g(hits: Hits) -> PerQuery:
    """Gain discounted by the effort beyond that of the best possible ranking.

    The cost of each rank is the best possible gain there, and at least 1.
    """
    found = hits.where(hits.grade > 0)
    ideal = hits.ideal(linear_gain(hits.judged))
    steps = running(np.maximum(ideal.gain, 1.0), ideal.offsets)
    beyond = np.maximum(found.rank - ideal.count[found.query], 0)
    cost = ideal.at(steps, found.query, found.rank) + beyond
    discount = each(2.0 + cost - found.running(found.grade), math.log2)
    total = sum_by(ideal.query, ideal.gain, len(hits))
    return divide(found.sum(found.grade / discount), total)


@measure(
    "BinG",
    aliases=("binG",),
    formula="(1/R) · Σ over relevant ranks i of 1 / log2(2 + i − H_i)",
    reference="trec_eval: binG",
)
def bin_g(hits: Hits, *, rel: float = 1) -> PerQuery:
    """Each relevant document, discounted by how many nonrelevant ones stand above it."""
    found = hits.relevant(rel)
    return divide(found.sum(1.0 / log2(2 + found.rank - found.position)), hits.relevant_judged(rel))
