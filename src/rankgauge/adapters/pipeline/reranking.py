"""What a reranker changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.adapters.pipeline.paired_values import PIPELINE_MEASURE, QueryValues, align_queries, paired_interval
from rankgauge.core.arrays import Column
from rankgauge.core.formatting import number, percent, plural, signed, span
from rankgauge.core.result_views import Columns, SummaryTable, Tabular
from rankgauge.evaluation.evaluate import AnyQrels, evaluate
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.measure import Measure
from rankgauge.stats.effects import Effect, effect
from rankgauge.stats.results import Interval


@dataclass(frozen=True)
class RerankingResult(Tabular):
    """The change of a mean, in percent of the baseline's mean, with the paired interval.

    The ends in percent are those of the difference divided by the baseline's mean, which is taken as exact.
    """

    improvement: float | None  # percent; None, with a reason, if the baseline is 0
    low: float | None
    high: float | None
    reason: str | None
    measure: str
    baseline: float | None
    reranked: float | None
    difference: Interval
    effect: Effect
    values: Mapping[str, tuple[float, float]]  # query → before, after

    def __repr__(self) -> str:
        return f"RerankingResult({self})"

    def __str__(self) -> str:
        if self.baseline is None or self.reranked is None:
            return "rerank    no queries"
        means = f"{self.measure} {number(self.baseline)} to {number(self.reranked)}"
        change = f"undefined: {self.reason}" if self.improvement is None else f"{signed(self.improvement, 1)}%"
        ends = span(self.low, self.high, 1, sign=True)
        interval = f" ({percent(self.difference.confidence)} CI {ends})" if ends else ""
        counts = f"{self.effect.wins} won, {self.effect.ties} tied, {self.effect.losses} lost"
        return f"rerank    {change}{interval}, {means}; {counts} of {plural(self.effect.n, 'query')}"

    def summary_table(self) -> SummaryTable:
        """Before, after, and the change."""
        head = ["measure", "before", "after", "change %", "95% from", "to", "won", "tied", "lost"]
        counts = [self.effect.wins, self.effect.ties, self.effect.losses]
        row = [self.measure, self.baseline, self.reranked, self.improvement, self.low, self.high, *counts]
        return SummaryTable(head, [row], str(self))

    def frame_columns(self) -> Columns:
        """One row per query."""
        return {
            "query": list(self.values),
            "before": [before for before, _ in self.values.values()],
            "after": [after for _, after in self.values.values()],
        }

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        difference = self.difference
        return {
            "reranking_improvement": self.improvement,
            "low": self.low,
            "high": self.high,
            "reason": self.reason,
            "measure": self.measure,
            "baseline": self.baseline,
            "reranked": self.reranked,
            "difference": {
                "mean": difference.estimate,
                "low": difference.low,
                "high": difference.high,
                "confidence": difference.confidence,
                "reason": difference.reason,
            },
            "n": self.effect.n,
            "wins": self.effect.wins,
            "ties": self.effect.ties,
            "losses": self.effect.losses,
        }


def reranking_improvement(
    baseline: Any, reranked: Any, *, qrels: AnyQrels | None = None, measure: str | Measure = PIPELINE_MEASURE
) -> RerankingResult:
    """The improvement of the reranked results, in percent of the baseline.

    Both are the values of ``measure`` for each query (lists in the same order, mappings from query to value, or
    ``Scores``); or, with judgments, both are runs, which are scored with ``measure``.

    >>> reranking_improvement([0.5, 0.5], [0.75, 0.75]).improvement
    50.0
    """
    if qrels is not None:
        baseline, reranked = evaluate(qrels, baseline, measure), evaluate(qrels, reranked, measure)
    name = str(baseline.measures[0]) if qrels is not None else str(measure)
    before, after = align_queries(
        _values_of(baseline, measure), _values_of(reranked, measure), ("baseline", "reranked")
    )
    after_values = np.array(list(after.values()), dtype=np.float64)
    before_values = np.array(list(before.values()), dtype=np.float64)
    difference = paired_interval(after_values, before_values, measure, _units_of(baseline, before))
    before_mean, after_mean = aggregate(before_values, "mean"), aggregate(after_values, "mean")
    change = PercentChange.of(difference, before_mean, after_mean)
    return RerankingResult(
        improvement=change.value,
        low=change.low,
        high=change.high,
        reason=change.reason,
        measure=name,
        baseline=before_mean,
        reranked=after_mean,
        difference=difference,
        effect=effect(after_values, before_values),
        values={query: (float(value), float(after[query])) for query, value in before.items()},
    )


@dataclass(frozen=True)
class PercentChange:
    """A difference in percent of a baseline, or the reason why there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    @classmethod
    def of(cls, difference: Interval, baseline: float | None, reranked: float | None) -> PercentChange:
        """Undefined if the baseline is 0: any change would be infinite."""
        if baseline is None or reranked is None:
            return cls(reason="there are no queries")
        if baseline == 0:
            return cls(reason="the baseline is 0")
        low, high = (None if end is None else 100 * end / baseline for end in (difference.low, difference.high))
        return cls(100 * (reranked - baseline) / baseline, low, high)


def _values_of(values: Any, measure: str | Measure) -> QueryValues[float]:
    """The value of each query; of scores, those of the averaged queries."""
    if isinstance(values, Scores):
        return {query: value for query, value in values.per_query(measure).items() if value is not None}
    per_query: QueryValues[float] = values
    return per_query


def _units_of(values: Any, queries: Mapping[str, float]) -> Column | None:
    """The unit of each query, if scores have units."""
    if not isinstance(values, Scores) or "unit" not in values.columns:
        return None
    row_of = {query: row for row, query in enumerate(values.queries)}
    return values.columns["unit"][[row_of[query] for query in queries]]
