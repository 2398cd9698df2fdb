"""The range of each measure over all orders of tied documents."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.formatting import plural
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats
from rankgauge.core.views import HtmlView
from rankgauge.errors import UsageError
from rankgauge.evaluation.audit import orders
from rankgauge.evaluation.audit.expected import Extremes, expected
from rankgauge.evaluation.audit.sampling import Sampled, sample
from rankgauge.evaluation.audit.values import Values, result_of
from rankgauge.evaluation.conventions import Conventions, MeasureNames
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.options import Reading
from rankgauge.measures.aggregates import total
from rankgauge.measures.spec import Aggregate, Measure

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
        tied=len(orders.tied_queries(hits)),
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
        if not len(orders.tied_queries(hits)):
            return
        if not orders.has_extreme_orders(measure):
            self.method, self.range = "Monte Carlo", "sampled"
            return
        best, worst = orders.extreme_orders(hits, measure)
        self.best, self.worst = measure(best), measure(worst)
        moved = _differ(self.best, self.worst)
        if moved.any():
            mean = expected(measure, hits, Extremes(best, worst, self.best, self.worst))
            self.method = "Monte Carlo" if mean is None else "closed form"
            if mean is not None:
                self.mean = np.where(moved, mean, plain)

    def unknown_queries(self, hits: Hits) -> Ints:
        """The queries in which the order of ties matters, or may matter."""
        return np.flatnonzero(_differ(self.best, self.worst)) if self.range == "exact" else orders.tied_queries(hits)

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
        straddling = orders.straddled(hits, self.measure) & scores.averaged
        error = self._error(scores.averaged, how, samples) if self.method == "Monte Carlo" else None
        # The geometric mean of expected values is not the expected geometric mean.
        mean_how = None if how == "gmean" and self.method != "ties have no effect" else how
        return TieRange(
            measure=self.measure,
            reported=Values(self.plain, scores.averaged, how),
            worst=Values(self.worst, scores.averaged, how),
            expected=Values(self.mean, scores.averaged, mean_how),
            best=Values(self.best, scores.averaged, how),
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
