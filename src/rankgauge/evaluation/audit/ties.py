"""The range of each measure over all orders of tied documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import plural
from rankgauge.core.hits import Hits
from rankgauge.core.result_views import HtmlView
from rankgauge.evaluation.audit import tie_orders
from rankgauge.evaluation.audit.audited_values import Values, result_of
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import AnyQrels, AnyRun, evaluate_runs
from rankgauge.evaluation.scores import Scores
from rankgauge.io.reading_options import Reading
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames


@dataclass(frozen=True, eq=False)
class TieRange:
    """One measure over all orders of tied documents. The best value is the lowest if lower is better.

    The best and the worst order of some measures are not known: their values are then missing if documents are tied.
    """

    measure: Measure
    reported: Values
    worst: Values
    best: Values
    is_known: bool
    straddling: tuple[str, ...]  # queries where a tie with a judged document straddles the cutoff

    @property
    def changed_queries(self) -> int | None:
        """The number of averaged queries whose value depends on the order of ties; None if it is not known."""
        if not self.is_known:
            return None
        return int((_differ(self.best.values, self.worst.values) & self.best.averaged).sum())

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "reported": self.reported.over_queries,
            "worst": self.worst.over_queries,
            "best": self.best.over_queries,
            "changed_queries": self.changed_queries,
            "straddling": list(self.straddling),
        }


@dataclass(frozen=True, eq=False)
class TieAudit(HtmlView):
    """Worst and best value of each measure over all orders of tied documents."""

    scores: Scores
    measures: tuple[TieRange, ...]
    tied: int  # the number of queries in which a judged document is tied with another

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
            "measures": {row.measure.name: row.to_dict() for row in self},
        }
        if per_query:
            out["per_query"] = {
                self.scores.queries[number]: {
                    row.measure.name: {"worst": row.worst.at(number), "best": row.best.at(number)} for row in self
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
) -> TieAudit:
    """Compute the worst and the best value of each measure over all orders of documents with tied scores."""
    evaluation = evaluate_runs(qrels, [run], measures, conventions=conventions, reading=reading)
    return ties_of(evaluation.scores[0], evaluation.joined[0].hits)


def ties_of(scores: Scores, hits: Hits) -> TieAudit:
    """The audit of ties from scores and the join behind them."""
    tied = len(tie_orders.tied_queries(hits))
    columns = zip(scores.measures, scores.values.T, strict=True)
    return TieAudit(scores, tuple(_range(scores, hits, measure, values) for measure, values in columns), tied)


def _range(scores: Scores, hits: Hits, measure: Measure, plain: Floats) -> TieRange:
    how, averaged = measure.definition.aggregate, scores.averaged_for(measure)
    straddling = tie_orders.straddled(hits, measure) & averaged
    is_known, best, worst = True, plain, plain
    if len(tie_orders.tied_queries(hits)):
        is_known = tie_orders.has_extreme_orders(measure) and hits.judgments != "labels"
        best, worst = (
            [measure(order) for order in tie_orders.extreme_orders(hits, measure)]
            if is_known
            else [np.full(len(plain), np.nan)] * 2
        )
    return TieRange(
        measure=measure,
        reported=Values(plain, averaged, how),
        worst=Values(worst, averaged, how),
        best=Values(best, averaged, how),
        is_known=is_known,
        straddling=tuple(scores.queries[row] for row in np.flatnonzero(straddling).tolist()),
    )


def _differ(left: Floats, right: Floats) -> NDArray[np.bool_]:
    """Whether values differ; two missing values are equal."""
    differing: NDArray[np.bool_] = (left != right) & ~(np.isnan(left) & np.isnan(right))
    return differing
