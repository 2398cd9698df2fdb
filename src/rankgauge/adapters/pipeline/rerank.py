"""What a reranker does to a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.adapters.pipeline.pairs import Given, paired, queries
from rankgauge.evaluation.evaluate import AnyQrels, evaluate
from rankgauge.evaluation.notebook import Columns, Table, Tabular
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.spec import Measure
from rankgauge.stats.effect import Effect, effect
from rankgauge.stats.intervals import difference_interval
from rankgauge.stats.results import Interval

MEASURE = "nDCG@10"


@dataclass(frozen=True)
class RerankingResult(Tabular):
    """The change of a mean, in percent of the baseline's, with the paired interval.

    The ends in percent are those of the difference over the baseline's mean, which is taken as it is.
    """

    improvement: float | None  # percent; None, with a reason, where the baseline is 0
    low: float | None
    high: float | None
    reason: str | None
    measure: str
    baseline: float | None
    reranked: float | None
    difference: Interval
    effect: Effect
    values: Mapping[str, tuple[float, float]]  # query → before, after

    def __str__(self) -> str:
        if self.baseline is None or self.reranked is None:
            return "rerank    no queries"
        size = f"{self.measure} {self.baseline:.4f} to {self.reranked:.4f}"
        change = f"undefined: {self.reason}" if self.improvement is None else f"{self.improvement:+.1f} %"
        ends = "" if self.low is None or self.high is None else f" (95 % {self.low:+.1f} to {self.high:+.1f})"
        counts = f"{self.effect.wins} won, {self.effect.ties} tied, {self.effect.losses} lost"
        return f"rerank    {change}{ends}, {size}; {counts} of {queries(self.effect.n)}"

    def summary_table(self) -> Table:
        """Before, after, and the change."""
        head = ["measure", "before", "after", "change %", "95 % from", "to", "won", "tied", "lost"]
        counts = [self.effect.wins, self.effect.ties, self.effect.losses]
        row = [self.measure, self.baseline, self.reranked, self.improvement, self.low, self.high, *counts]
        return Table(head, [row], str(self))

    def frame_columns(self) -> Columns:
        """One row a query."""
        return {
            "query": list(self.values),
            "before": [before for before, _ in self.values.values()],
            "after": [after for _, after in self.values.values()],
        }

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = self.difference
        return {
            "reranking_improvement": self.improvement,
            "low": self.low,
            "high": self.high,
            "reason": self.reason,
            "measure": self.measure,
            "baseline": self.baseline,
            "reranked": self.reranked,
            "difference": {
                "mean": found.estimate,
                "low": found.low,
                "high": found.high,
                "confidence": found.confidence,
                "reason": found.reason,
            },
            "n": self.effect.n,
            "wins": self.effect.wins,
            "ties": self.effect.ties,
            "losses": self.effect.losses,
        }


def reranking_improvement(
    baseline: Any, reranked: Any, *, qrels: AnyQrels | None = None, measure: str | Measure = MEASURE
) -> RerankingResult:
    """How much better the reranked results are, in percent of the baseline.

    Both are the values of each query (nDCG, say; lists in the same order, mappings from query to value, or
    ``Scores``); or, with judgments, both are runs, which are scored with ``measure``.
    """
    if qrels is not None:
        baseline, reranked = evaluate(qrels, baseline, measure), evaluate(qrels, reranked, measure)
    name = str(baseline.measures[0]) if qrels is not None else str(measure)
    before, after = paired(_values(baseline, measure), _values(reranked, measure), ("baseline", "reranked"))
    first, second = list(after.values()), list(before.values())
    difference = difference_interval(first, second)
    mean, other = (aggregate(np.array(values, dtype=np.float64), "mean") for values in (second, first))
    found = Percent.of(difference, mean, other)
    values = {query: (float(value), float(after[query])) for query, value in before.items()}
    return RerankingResult(
        found.value, found.low, found.high, found.reason, name, mean, other, difference, effect(first, second), values
    )


@dataclass(frozen=True)
class Percent:
    """A difference in percent of a base, or why there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    @classmethod
    def of(cls, difference: Interval, base: float | None, other: float | None) -> Percent:
        """Undefined where the base is 0: anything would be infinitely better."""
        if base is None or other is None:
            return cls(reason="there are no queries")
        if base == 0:
            return cls(reason="the baseline is 0")
        low, high = (None if end is None else 100 * end / base for end in (difference.low, difference.high))
        return cls(100 * (other - base) / base, low, high)


def _values(given: Any, measure: str | Measure) -> Given[float]:
    """The value of each query. Of scores, those that were averaged."""
    if isinstance(given, Scores):
        return {query: value for query, value in given.per_query(measure).items() if value is not None}
    found: Given[float] = given
    return found
