"""The expected value of a measure if ties are broken at random, in closed form.

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
    """A join in its best and its worst order, and the values of a measure for both."""

    best: Hits
    worst: Hits
    high: PerQuery
    low: PerQuery


def expected(measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery | None:
    """The expected value of each query; None if there is no closed form."""
    form = _FORMS.get(measure.definition.name)
    return None if form is None else form(measure, hits, extremes)


# -- linear in the number of relevant documents in the top, or in the sum of the precisions at them ----------------


@dataclass(frozen=True)
class LinearForm:
    """A measure that is a linear function of a statistic, so its expected value is that of the expected statistic."""

    statistic: Callable[[Hits, Parameters], PerQuery]
    expected: Callable[[Hits, Parameters], PerQuery]

    def __call__(self, measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery | None:
        """Interpolate between the values of the worst and the best order, as the expected statistic does."""
        if measure["rel"] is None:
            return None
        high, low = (self.statistic(*measure.applied(order)) for order in (extremes.best, extremes.worst))
        share = divide(self.expected(*measure.applied(hits)) - low, high - low)
        return extremes.low + share * (extremes.high - extremes.low)


def _count(hits: Hits, parameters: Parameters) -> PerQuery:
    return hits.top(parameters["cutoff"]).relevant(parameters["rel"]).count.astype(float)


def _expected_count(hits: Hits, parameters: Parameters) -> PerQuery:
    """A relevant document is in the top with a probability equal to the share of its tie's ranks in the top."""
    relevant = hits.relevant(parameters["rel"])
    inside = depths(hits, parameters["cutoff"])[relevant.query] - relevant.tie_first + 1
    return relevant.sum(np.clip(inside / (relevant.tie_last - relevant.tie_first + 1), 0.0, 1.0))


def _precisions(hits: Hits, parameters: Parameters) -> PerQuery:
    relevant = hits.top(parameters.get("cutoff")).relevant(parameters["rel"])
    return relevant.sum(relevant.position / relevant.rank)


def _expected_precisions(hits: Hits, parameters: Parameters) -> PerQuery:
    """The j-th rank of a tie of n documents, r of them relevant, has a relevant one with probability r/n.

    Above it are then the relevant documents above the tie and, of the other r − 1, the share (j − 1)/(n − 1).
    """
    relevant = hits.relevant(parameters["rel"])
    ties = ties_in(relevant)
    number, position = ties.ranks()
    rank = ties.first[number] + position
    above = relevant.position[ties.begins] - 1
    within_tie = divide(position * (ties.hits[number] - 1), ties.size[number] - 1)
    precision = ties.hits[number] / ties.size[number] * (above[number] + 1 + within_tie) / rank
    query = ties.query[number]
    top = rank <= depths(hits, parameters.get("cutoff"))[query]
    return sum_by(query[top], precision[top], len(hits))


# -- functions of the rank of the first relevant document ------------------------------------------------------------


@dataclass(frozen=True)
class FirstRankForm:
    """A measure that is a function of the first relevant rank, and 0 without one."""

    value: Callable[[Floats], Floats]

    def __call__(self, measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery | None:
        """Only the topmost tie with a relevant document counts: one of its documents precedes all below it."""
        hits, parameters = measure.applied(hits)
        depth = depths(hits, parameters["cutoff"])
        ties = ties_in(hits.relevant(parameters["rel"]))
        out = extremes.low.copy()
        topmost = np.flatnonzero(np.append(True, ties.query[1:] != ties.query[:-1])) if len(ties) else ties.begins
        for tie in topmost[ties.size[topmost] > 1].tolist():
            query, first, size = int(ties.query[tie]), int(ties.first[tie]), int(ties.size[tie])
            relevant = int(ties.hits[tie])
            reach = max(0, min(size - relevant + 1, int(depth[query]) - first + 1))
            probability = first_relevant_at(size, relevant, reach)
            out[query] = total(probability * self.value(first + np.arange(reach, dtype=np.float64)))
        return out


def first_relevant_at(size: int, relevant: int, reach: int) -> Floats:
    """The probability that the first relevant document of a tie is at each of its first positions."""
    position = np.arange(reach)
    none_yet = np.cumprod((size - relevant - position) / (size - position))
    before = np.concatenate([[1.0], none_yet])[:reach]
    return before * relevant / (size - position)


# -- sums of gains, each weighted by its rank --------------------------------------------------------------------


def _ndcg(measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery | None:
    hits, parameters = measure.applied(hits)
    gained = hits.graded(gain_of(parameters["gain"], parameters["gains"]))
    if gained.judged.min(initial=0.0) < 0:
        return None  # the kernel would treat a negative mean gain as an unjudged document
    return ndcg.kernel(averaged(gained), cutoff=parameters["cutoff"])


def _rbp(measure: Measure, hits: Hits, extremes: Extremes) -> PerQuery:
    hits, parameters = measure.applied(hits)
    level = parameters.pop("rel")
    if level is None:
        return rbp.kernel(averaged(hits.graded(linear_gain)), **parameters)
    relevant = hits.graded(lambda grades: (grades >= max(level, 0)).astype(float))
    return rbp.kernel(averaged(relevant), **{**parameters, "max_rel": 1})


def averaged(hits: Hits) -> Hits:
    """A join in which every document of a tie has the mean grade of the tie; unjudged documents count as 0."""
    gaining = hits.where(hits.grade > 0)
    ties = ties_in(gaining)
    mean = sum_by(ties.number, gaining.grade, len(ties)) / ties.size
    number, position = ties.ranks()
    first = ties.first[number]
    return replace(
        gaining,
        offsets=offsets_of(ties.query[number], len(hits)),
        rank=first + position,
        grade=mean[number],
        ordinal=np.zeros(len(number), dtype=np.int64),  # not a particular document
        tie_first=first,
        tie_last=first + ties.size[number] - 1,
    )


_COUNT_FORM = LinearForm(_count, _expected_count)
_PRECISION_FORM = LinearForm(_precisions, _expected_precisions)
_FORMS: dict[str, Callable[[Measure, Hits, Extremes], PerQuery | None]] = {
    "P": _COUNT_FORM,
    "R": _COUNT_FORM,
    "F": _COUNT_FORM,  # (1 + β²)·c / (β²·R + k) for c relevant documents in the top
    "NumRet": _COUNT_FORM,
    "AP": _PRECISION_FORM,
    "GMAP": _PRECISION_FORM,
    "RR": FirstRankForm(lambda rank: 1.0 / rank),
    "Success": FirstRankForm(np.ones_like),
    "FirstRel": FirstRankForm(lambda rank: rank),
    "nDCG": _ndcg,
    "RBP": _rbp,
}
