"""Normalized discounted cumulative gain and its variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from rankgauge.core.arrays import Floats, count_by, running, sum_by
from rankgauge.core.hits import Hits, Ideal, PerQuery, divide
from rankgauge.core.ids import Ints
from rankgauge.measures.aggregates import each, exponential_gain, linear_gain, log2
from rankgauge.measures.registry import measure

Gain = Callable[[Floats], Floats]


def gain_of(gain: str, gains: dict[float, float] | None) -> Gain:
    """The function from grades to gains."""
    default_gain = exponential_gain if gain == "exp" else linear_gain
    if not gains:
        return default_gain

    def custom_gain(grades: Floats) -> Floats:
        values = default_gain(grades)
        chosen = np.isin(grades, list(gains))
        values[chosen] = each(grades[chosen], lambda grade: float(gains[grade]))
        return values

    return custom_gain


def discounted(ideal: Ideal, cutoff: int | Ints | None, queries: int) -> PerQuery:
    """The discounted gain of the ideal ranking, up to a cutoff."""
    gain, rank, query = ideal.gain, ideal.rank, ideal.query
    if cutoff is not None:
        keep = rank <= (cutoff if isinstance(cutoff, int) else cutoff[query])
        gain, rank, query = gain[keep], rank[keep], query[keep]
    return sum_by(query, gain / log2(rank + 1), queries)


@measure("nDCG", aliases=("NDCG",), at="cutoff")
def ndcg(
    hits: Hits,
    *,
    cutoff: int | None = None,
    gain: Literal["linear", "exp"] = "linear",
    gains: dict[float, float] | None = None,
) -> PerQuery:
    """Discounted cumulative gain, divided by that of the ideal ranking of all judged documents.

    The gain is the grade; gain='exp' uses 2^grade − 1, gains={1: 3, 2: 9} sets the gain of some grades.

    Formula: Σ g(grade at i) / log2(i + 1) for i ≤ k, divided by the same sum for the ideal ranking
    Reference: trec_eval: ndcg, ndcg_cut_k; Järvelin and Kekäläinen, Cumulated gain-based evaluation, TOIS 2002
    """
    to_gain = gain_of(gain, gains)
    top = hits.top(cutoff)
    dcg = top.sum(to_gain(top.grade) / log2(top.rank + 1))
    return divide(dcg, discounted(hits.ideal(to_gain(hits.judged)), cutoff, len(hits)))


@measure("nDCGRel")
def ndcg_rel(hits: Hits, *, gains: dict[float, float] | None = None) -> PerQuery:
    """nDCG averaged over the ranks at which documents with a gain were retrieved.

    The gain is the grade; gains={1: 3, 2: 9} sets the gain of some grades.

    Formula: mean of nDCG@i over the ranks i of all documents with a gain; the final value for one not retrieved
    Reference: trec_eval: ndcg_rel
    """
    to_gain = gain_of("linear", gains)
    gaining = hits.where(to_gain(hits.grade) != 0)
    gain = to_gain(gaining.grade)
    ideal = hits.ideal(to_gain(hits.judged))
    best = running(ideal.gain / log2(ideal.rank + 1), ideal.offsets)
    gained = gaining.running(gain / log2(gaining.rank + 1))
    at_ranks = np.where(gain > 0, divide(gained, ideal.at(best, gaining.query, gaining.rank)), 0.0)
    final = ideal.at(best, np.arange(len(hits)), ideal.count)
    missed = divide((ideal.count - gaining.where(gain > 0).count) * gaining.last(gained), final)
    return divide(gaining.sum(at_ranks) + missed, ideal.count)


@measure("RnDCG")
def rndcg(hits: Hits, *, rel: float = 1, gains: dict[float, float] | None = None) -> PerQuery:
    """nDCG averaged over the natural cutoffs of a query: the ranks where the ideal gain drops, and its last rank.

    A ranking that is longer than the ideal one by more than one document adds the value at its own end. The gain is
    the grade; gains={1: 3, 2: 9} sets the gain of some grades.

    Formula: mean of nDCG@p over the ranks p at which the gain of the ideal ranking changes, and its last rank
    Reference: trec_eval: Rndcg
    """
    to_gain = gain_of("linear", gains)
    gaining = hits.where(to_gain(hits.grade) != 0)
    gained = gaining.running(to_gain(gaining.grade) / log2(gaining.rank + 1))
    ideal = hits.ideal(to_gain(hits.judged))
    best = running(ideal.gain / log2(ideal.rank + 1), ideal.offsets)
    ends = np.ones(len(best), dtype=bool)
    ends[:-1] = (ideal.gain[1:] != ideal.gain[:-1]) | (ideal.query[1:] != ideal.query[:-1])
    longer = np.flatnonzero((hits.retrieved > ideal.count + 1) & (ideal.count > 0))
    query = np.concatenate([ideal.query[ends], longer])
    rank = np.concatenate([ideal.rank[ends], hits.retrieved[longer]])
    value = divide(running_at(gaining, gained, query, rank), ideal.at(best, query, rank))
    mean = divide(sum_by(query, value, len(hits)), count_by(query, len(hits)))
    return np.where(hits.relevant_judged(rel) > 0, mean, 0.0)


def running_at(hits: Hits, running_values: Floats, query: Ints, rank: Ints) -> Floats:
    """A running value of the hits at any ranks: that of the last hit at or above each rank."""
    depth = int(max(hits.rank.max(initial=0), rank.max(initial=0))) + 1
    row = np.searchsorted(hits.query * depth + hits.rank, query * depth + rank, side="right")
    out = np.zeros(len(query))
    present = np.flatnonzero(row > hits.offsets[query])
    out[present] = running_values[row[present] - 1]
    return out
