"""The value that a measure is expected to have where ties are broken at random, in closed form.

McSherry and Najork, Computing information retrieval performance measures efficiently in the presence of tied scores,
ECIR 2008; Success, RBP and FirstRel follow from the same arguments. The work grows with the number of tied documents,
never with the number of their orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.core.tables import Floats, offsets_of, sum_by
from rankgauge.evaluation.audit.orders import depths, ties_in
from rankgauge.measures.aggregates import total
from rankgauge.measures.families.ndcg import gain_of, ndcg
from rankgauge.measures.families.rbp import rbp
from rankgauge.measures.numbers import linear_gain
from rankgauge.measures.spec import Measure

Parameters = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Extremes:
    """A join in its best and in its worst order, and a measure's values for both."""

    best: Hits
    worst: Hits
    high: PerQuery
    low: PerQuery


def expected(measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery | None:
    """The expected value for each query; None where there is no closed form."""
    form = _FORMS.get(measure.definition.name)
    return None if form is None else form(measure, hits, extremes)


# -- linear in how many relevant documents stand in the top, or in the sum of the precisions at them ---------------


@dataclass(frozen=True)
class Linear:
    """A measure whose value is a linear function of a statistic: so its expected value is that of the expected one."""

    statistic: Callable[[Hits, Parameters], PerQuery]
    expected: Callable[[Hits, Parameters], PerQuery]

    def __call__(self, measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery | None:
        """Between the values of the worst and the best order, as the expected statistic lies between theirs."""
        if measure["rel"] is None:
            return None
        high, low = (self.statistic(*measure.applied(order)) for order in (extremes.best, extremes.worst))
        share = divide(self.expected(*measure.applied(hits)) - low, high - low)
        return extremes.low + share * (extremes.high - extremes.low)


def _count(hits: Hits, parameters: Parameters) -> PerQuery:
    return hits.top(parameters["cutoff"]).relevant(parameters["rel"]).count.astype(float)


def _expected_count(hits: Hits, parameters: Parameters) -> PerQuery:
    """Each relevant document stands in the top with the share of its tie's ranks that lie there."""
    found = hits.relevant(parameters["rel"])
    inside = depths(hits, parameters["cutoff"])[found.query] - found.tie_first + 1
    return found.sum(np.clip(inside / (found.tie_last - found.tie_first + 1), 0.0, 1.0))


def _precisions(hits: Hits, parameters: Parameters) -> PerQuery:
    found = hits.top(parameters.get("cutoff")).relevant(parameters["rel"])
    return found.sum(found.position / found.rank)


def _expected_precisions(hits: Hits, parameters: Parameters) -> PerQuery:
    """At the j-th rank of a tie a relevant one of its r among n stands with probability r/n.

    Above it then stand those above the tie and, of the other r − 1, the share (j − 1)/(n − 1).
    """
    found = hits.relevant(parameters["rel"])
    ties = ties_in(found)
    number, place = ties.ranks()
    rank = ties.first[number] + place
    above = found.position[ties.begins] - 1
    others = divide(place * (ties.listed[number] - 1), ties.size[number] - 1)
    precision = ties.listed[number] / ties.size[number] * (above[number] + 1 + others) / rank
    query = ties.query[number]
    top = rank <= depths(hits, parameters.get("cutoff"))[query]
    return sum_by(query[top], precision[top], len(hits))


# -- of the rank of the first relevant document ------------------------------------------------------------------


@dataclass(frozen=True)
class First:
    """A measure that is a function of the first relevant rank, and 0 without one."""

    value: Callable[[Floats], Floats]

    def __call__(self, measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery | None:
        """Only the uppermost tie with a relevant document counts: some of it is met before all below it."""
        hits, parameters = measure.applied(hits)
        found = hits.relevant(parameters["rel"])
        depth = depths(hits, parameters["cutoff"])
        ties = ties_in(found)
        out = extremes.low.copy()
        upper = np.flatnonzero(np.append(True, ties.query[1:] != ties.query[:-1])) if len(ties) else ties.begins
        for tie in upper[ties.size[upper] > 1].tolist():
            query, first, size, relevant = (int(of[tie]) for of in (ties.query, ties.first, ties.size, ties.listed))
            reach = max(0, min(size - relevant + 1, int(depth[query]) - first + 1))
            chance = first_relevant_at(size, relevant, reach)
            out[query] = total(chance * self.value(first + np.arange(reach, dtype=np.float64)))
        return out


def first_relevant_at(size: int, relevant: int, reach: int) -> Floats:
    """The probability that the first of some relevant documents stands at each of the first places of a tie."""
    place = np.arange(reach)
    none_yet = np.cumprod((size - relevant - place) / (size - place))
    before = np.concatenate([[1.0], none_yet])[:reach]
    return before * relevant / (size - place)


# -- sums of gains, each weighted by its rank --------------------------------------------------------------------


def _ndcg(measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery | None:
    hits, parameters = measure.applied(hits)
    gained = hits.graded(gain_of(parameters["gain"], parameters["gains"]))
    if gained.judged.min(initial=0.0) < 0:
        return None  # the kernel of averaged gains would take a negative one for an unjudged document
    return ndcg.kernel(averaged(gained), cutoff=parameters["cutoff"])


def _rbp(measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery:
    hits, parameters = measure.applied(hits)
    level = parameters.pop("rel")
    if level is None:
        return rbp.kernel(averaged(hits.graded(linear_gain)), **parameters)
    relevant = hits.graded(lambda grades: (grades >= max(level, 0)).astype(float))
    return rbp.kernel(averaged(relevant), **{**parameters, "max_rel": 1})


def averaged(hits: Hits) -> Hits:
    """A join in which every document of a tie has the mean grade of the tie, where unjudged ones count 0."""
    found = hits.where(hits.grade > 0)
    ties = ties_in(found)
    mean = sum_by(ties.number, found.grade, len(ties)) / ties.size
    number, place = ties.ranks()
    first = ties.first[number]
    return replace(
        found,
        offsets=offsets_of(ties.query[number], len(hits)),
        rank=first + place,
        grade=mean[number],
        ordinal=np.zeros(len(number), dtype=np.int64),  # no document in particular
        tie_first=first,
        tie_last=first + ties.size[number] - 1,
    )


_COUNTED, _PRECISIONS = Linear(_count, _expected_count), Linear(_precisions, _expected_precisions)
_FORMS: dict[str, Callable[[Measure, Hits, Extremes], PerQuery | None]] = {
    "P": _COUNTED,
    "R": _COUNTED,
    "F": _COUNTED,  # (1 + β²)·c / (β²·R + k) for c relevant documents in the top
    "NumRet": _COUNTED,
    "AP": _PRECISIONS,
    "GMAP": _PRECISIONS,
    "RR": First(lambda rank: 1.0 / rank),
    "Success": First(np.ones_like),
    "FirstRel": First(lambda rank: rank),
    "nDCG": _ndcg,
    "RBP": _rbp,
}
