"""Discounted cumulative gain, normalised, in its several forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from rankgauge.core.hits import Hits, Ideal, PerQuery, divide
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats, count_by, running, sum_by
from rankgauge.measures.numbers import each, exponential_gain, linear_gain, log2
from rankgauge.measures.registry import measure

Gain = Callable[[Floats], Floats]


def gain_of(gain: str, gains: dict[float, float] | None) -> Gain:
    """The function from grades to gains."""
    usual = exponential_gain if gain == "exp" else linear_gain
    if not gains:
        return usual

    def own(grades: Floats) -> Floats:
        values = usual(grades)
        chosen = np.isin(grades, list(gains))
        values[chosen] = each(grades[chosen], lambda grade: float(gains[grade]))
        return values

    return own


def discounted(ideal: Ideal, cutoff: int | Ints | None, queries: int) -> PerQuery:
    """The discounted gain of the best possible ranking, down to a cutoff."""
    gain, rank, query = ideal.gain, ideal.rank, ideal.query
    if cutoff is not None:
        keep = rank <= (cutoff if isinstance(cutoff, int) else cutoff[query])
        gain, rank, query = gain[keep], rank[keep], query[keep]
    return sum_by(query, gain / log2(rank + 1), queries)


@measure(
    "nDCG",
    aliases=("NDCG",),
    at="cutoff",
    formula="Σ g(grade at i) / log2(i + 1) for i ≤ k, divided by the same sum of the best possible ranking",
    reference="trec_eval: ndcg, ndcg_cut_k; Järvelin and Kekäläinen, Cumulated gain-based evaluation, TOIS 2002",
)
def ndcg(
    hits: Hits,
    *,
    cutoff: int | None = None,
    gain: Literal["linear", "exp"] = "linear",
    gains: dict[float, float] | None = None,
) -> PerQuery:
    """Discounted cumulative gain, divided by what the best possible ranking of all judged documents would have.

    The gain is the grade; gain='exp' takes 2^grade − 1, gains={1: 3, 2: 9} sets it for some grades.
    """
    of = gain_of(gain, gains)
    top = hits.top(cutoff)
    found = top.sum(of(top.grade) / log2(top.rank + 1))
    return divide(found, discounted(hits.ideal(of(hits.judged)), cutoff, len(hits)))


@measure(
    "nDCGRel",
    formula="mean of nDCG@i over the ranks i of the documents with a gain; one not retrieved adds the final value",
    reference="trec_eval: ndcg_rel",
)
def ndcg_rel(hits: Hits) -> PerQuery:
    """nDCG averaged over the ranks at which documents with a gain were retrieved."""
    found = hits.where(hits.grade > 0)
    ideal = hits.ideal(linear_gain(hits.judged))
    best = running(ideal.gain / log2(ideal.rank + 1), ideal.offsets)
    gained = found.running(found.grade / log2(found.rank + 1))
    reached = divide(gained, ideal.at(best, found.query, found.rank))
    final = ideal.at(best, np.arange(len(hits)), ideal.count)
    missed = divide((ideal.count - found.count) * found.last(gained), final)
    return divide(found.sum(reached) + missed, ideal.count)


@measure(
    "RnDCG",
    formula="mean of nDCG@p over the ranks p at which the best possible ranking changes its gain, and its end",
    reference="trec_eval: Rndcg",
)
def rndcg(hits: Hits, *, rel: float = 1) -> PerQuery:
    """nDCG averaged over the natural cutoffs of a query: where the ideal gain steps down, and where it ends.

    A ranking more than one longer than the ideal list adds the value at its own end.
    """
    found = hits.where(hits.grade > 0)
    gained = found.running(found.grade / log2(found.rank + 1))
    ideal = hits.ideal(linear_gain(hits.judged))
    best = running(ideal.gain / log2(ideal.rank + 1), ideal.offsets)
    ends = np.ones(len(best), dtype=bool)
    ends[:-1] = (ideal.gain[1:] != ideal.gain[:-1]) | (ideal.query[1:] != ideal.query[:-1])
    longer = np.flatnonzero((hits.retrieved > ideal.count + 1) & (ideal.count > 0))
    query = np.concatenate([ideal.query[ends], longer])
    rank = np.concatenate([ideal.rank[ends], hits.retrieved[longer]])
    value = divide(reached(found, gained, query, rank), ideal.at(best, query, rank))
    mean = divide(sum_by(query, value, len(hits)), count_by(query, len(hits)))
    return np.where(hits.relevant_judged(rel) > 0, mean, 0.0)


def reached(found: Hits, running_values: Floats, query: Ints, rank: Ints) -> Floats:
    """A running value of the hits at any ranks: that of the last hit at or above each."""
    span = int(max(found.rank.max(initial=0), rank.max(initial=0))) + 1
    place = np.searchsorted(found.query * span + found.rank, query * span + rank, side="right")
    out = np.zeros(len(query))
    some = np.flatnonzero(place > found.offsets[query])
    out[some] = running_values[place[some] - 1]
    return out
