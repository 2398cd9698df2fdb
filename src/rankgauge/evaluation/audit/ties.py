"""The range of each measure over all orders of tied documents, and its expected value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, offsets_of, sum_by
from rankgauge.core.formatting import plural
from rankgauge.core.hits import Hits, PerQuery, divide
from rankgauge.core.ids import Ints
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import UsageError
from rankgauge.evaluation.audit import tie_orders
from rankgauge.evaluation.audit.audited_values import Values, result_of
from rankgauge.evaluation.audit.tie_orders import Sampled, depths, sample, ties_in
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.reading_options import Reading
from rankgauge.measures.aggregates import total
from rankgauge.measures.exact_numbers import linear_gain
from rankgauge.measures.families.ndcg import gain_of, ndcg
from rankgauge.measures.families.user_models import rbp
from rankgauge.measures.measure import Aggregate, Measure
from rankgauge.measures.names import MeasureNames

SAMPLES, SEED = 1000, 0

Method = Literal["ties have no effect", "closed form", "Monte Carlo"]
Range = Literal["exact", "sampled"]


@dataclass(frozen=True, eq=False)
class TieRange:
    """One measure over all orders of tied documents. The best value is the lowest if lower is better."""

    measure: Measure
    reported: Values
    worst: Values
    expected: Values
    best: Values
    method: Method  # of computing the expected value
    range: Range  # whether worst and best are over all orders, or over sampled ones
    straddling: tuple[str, ...]  # queries where a tie with a judged document straddles the cutoff
    standard_error: float | None = None  # of the expected value over queries, if it was sampled

    @property
    def changed_queries(self) -> int:
        """The number of averaged queries whose value depends on the order of ties."""
        return int((_differ(self.best.values, self.worst.values) & self.best.averaged).sum())

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "reported": self.reported.over_queries,
            "worst": self.worst.over_queries,
            "expected": self.expected.over_queries,
            "best": self.best.over_queries,
            "method": self.method,
            "range": self.range,
            "standard_error": self.standard_error,
            "changed_queries": self.changed_queries,
            "straddling": list(self.straddling),
        }


@dataclass(frozen=True, eq=False)
class TieAudit(HtmlView):
    """Worst, expected and best value of each measure over all orders of tied documents."""

    scores: Scores
    measures: tuple[TieRange, ...]
    tied: int  # the number of queries in which a judged document is tied with another
    samples: int
    seed: int

    def __repr__(self) -> str:
        return f"TieAudit({self.scores.run!r}: judged documents are tied in {plural(self.tied, 'query')})"

    def __iter__(self) -> Iterator[TieRange]:
        return iter(self.measures)

    def __getitem__(self, measure: str | Measure) -> TieRange:
        return result_of(self.scores, self.measures, measure)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """The value of ``ties`` of a run in the JSON schema ``rankgauge.scores/1``."""
        out: dict[str, Any] = {
            "tied_queries": self.tied,
            "samples": self.samples,
            "seed": self.seed,
            "measures": {row.measure.name: row.to_dict() for row in self},
        }
        if per_query:
            out["per_query"] = {
                self.scores.queries[number]: {
                    row.measure.name: {
                        "worst": row.worst.at(number),
                        "expected": row.expected.at(number),
                        "best": row.best.at(number),
                    }
                    for row in self
                }
                for number in np.flatnonzero(self.scores.averaged).tolist()
            }
        return out


def audit_ties(
    qrels: AnyQrels,
    run: AnyRun,
    measures: MeasureNames | None = None,
    *,
    conventions: Conventions | None = None,
    reading: Reading | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> TieAudit:
    """Compute the worst, expected and best value of each measure over all orders of documents with tied scores.

    The expected value has a closed form for P, R, F, AP, RR, Success, nDCG, RBP and a few more; for others it is the
    mean over ``samples`` random orders. Each result says which, and whether its range is exact or sampled.
    """
    evaluation = evaluate_runs(qrels, [run], measures, conventions=conventions, reading=reading)
    return ties_of(evaluation.scores[0], evaluation.joined[0].hits, samples=samples, seed=seed)


def ties_of(scores: Scores, hits: Hits, *, samples: int = SAMPLES, seed: int = SEED) -> TieAudit:
    """The audit of ties from scores and the join behind them."""
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise UsageError(f"samples must be a whole number of at least 1, found {samples!r}")
    columns = zip(scores.measures, scores.values.T, strict=True)
    ranges = [_RangeInProgress(measure, hits, values) for measure, values in columns]
    unfinished = [part for part in ranges if part.method == "Monte Carlo"]
    if unfinished:
        rows = np.unique(np.concatenate([part.unknown_queries(hits) for part in unfinished]))
        results = sample(hits.select(rows), [part.measure for part in unfinished], samples=samples, seed=seed)
        for part, sampled in zip(unfinished, results, strict=True):
            part.take(sampled, rows)
    return TieAudit(
        scores=scores,
        measures=tuple(part.result(scores, hits, samples) for part in ranges),
        tied=len(tie_orders.tied_queries(hits)),
        samples=samples,
        seed=seed,
    )


class _RangeInProgress:
    """The range of one measure: complete, or complete except for the queries that must be sampled."""

    def __init__(self, measure: Measure, hits: Hits, plain: Floats) -> None:
        self.measure, self.plain = measure, plain
        self.best, self.worst, self.mean = plain.copy(), plain.copy(), plain.copy()
        self.variance = np.zeros(len(plain))
        self.range: Range = "exact"
        self.method: Method = "ties have no effect"
        if not len(tie_orders.tied_queries(hits)):
            return
        if not tie_orders.has_extreme_orders(measure) or hits.judgments == "labels":
            self.method, self.range = "Monte Carlo", "sampled"
            return
        best, worst = tie_orders.extreme_orders(hits, measure)
        self.best, self.worst = measure(best), measure(worst)
        moved = _differ(self.best, self.worst)
        if moved.any():
            mean = expected(measure, hits, Extremes(best, worst, self.best, self.worst))
            self.method = "Monte Carlo" if mean is None else "closed form"
            if mean is not None:
                self.mean = np.where(moved, mean, plain)

    def unknown_queries(self, hits: Hits) -> Ints:
        """The queries in which the order of ties matters, or may matter."""
        return (
            np.flatnonzero(_differ(self.best, self.worst)) if self.range == "exact" else tie_orders.tied_queries(hits)
        )

    def take(self, sampled: Sampled, rows: Ints) -> None:
        """Fill in the sampled values."""
        mean, variance = sampled.mean, sampled.variance
        if self.range == "exact":
            moved = _differ(self.best, self.worst)[rows]  # the value of the other queries is known
            rows, mean, variance = rows[moved], mean[moved], variance[moved]
        else:
            plain = self.plain[rows]  # the reported order is one of the orders too
            low, high = np.fmin(sampled.low, plain), np.fmax(sampled.high, plain)
            lower = self.measure.definition.direction < 0
            self.worst[rows], self.best[rows] = (high, low) if lower else (low, high)
        self.mean[rows], self.variance[rows] = mean, variance

    def result(self, scores: Scores, hits: Hits, samples: int) -> TieRange:
        how = self.measure.definition.aggregate
        averaged = scores.averaged_for(self.measure)
        straddling = tie_orders.straddled(hits, self.measure) & averaged
        error = self._error(averaged, how, samples) if self.method == "Monte Carlo" else None
        # The geometric mean of expected values is not the expected geometric mean.
        mean_how = None if how == "gmean" and self.method != "ties have no effect" else how
        return TieRange(
            measure=self.measure,
            reported=Values(self.plain, averaged, how),
            worst=Values(self.worst, averaged, how),
            expected=Values(self.mean, averaged, mean_how),
            best=Values(self.best, averaged, how),
            method=self.method,
            range=self.range,
            straddling=tuple(scores.queries[row] for row in np.flatnonzero(straddling).tolist()),
            standard_error=error,
        )

    def _error(self, averaged: NDArray[np.bool_], how: Aggregate, samples: int) -> float | None:
        variances = self.variance[averaged & ~np.isnan(self.mean)]
        if how == "gmean" or not len(variances):
            return None
        spread = math.sqrt(total(variances) / samples)
        return spread if how == "sum" else spread / len(variances)


def _differ(left: Floats, right: Floats) -> NDArray[np.bool_]:
    """Whether values differ; two missing values are equal."""
    differing: NDArray[np.bool_] = (left != right) & ~(np.isnan(left) & np.isnan(right))
    return differing


# The expected value of a measure if ties are broken at random, in closed form.
#
# McSherry and Najork, Computing information retrieval performance measures efficiently in the presence of tied
# scores, ECIR 2008; Success, RBP and FirstRel follow from the same arguments. The work grows with the number of tied
# documents, never with the number of their orders.

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
