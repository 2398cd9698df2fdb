"""Metrics aggregated over queries (SPEC-003)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from rankgauge.errors import InputError, nearest, shown
from rankgauge.lists.calculator import IRMetrics
from rankgauge.measures.aggregates import aggregate

# The name of each metric in a report → the field that holds it.
METRIC_FIELDS = {
    "precision@3": "precision_at_3",
    "precision@5": "precision_at_5",
    "recall@10": "recall_at_10",
    "mrr": "mrr",
    "ndcg@10": "ndcg_at_10",
}
MEDIAN_METRICS = ("precision@3", "mrr")
DIFFICULTY_METRICS = ("precision@3", "precision@5", "mrr")


class ReportAggregator:
    """Means and medians over queries, and means by category and by difficulty.

    A mean of no values is None. A detailed result is a mapping with ``metrics``, which maps the name of a metric to its
    value, and with ``category`` or ``difficulty``; a metric that is None is left out of the mean.
    """

    @staticmethod
    def aggregate_metrics(results: Iterable[IRMetrics]) -> dict[str, float | None]:
        """The mean of each metric, and the medians of precision@3 and mrr."""
        rows = list(results)
        columns = {name: [getattr(row, field) for row in rows] for name, field in METRIC_FIELDS.items()}
        means = {name: _mean(values) for name, values in columns.items()}
        return means | {f"median_{name}": _median(columns[name]) for name in MEDIAN_METRICS}

    @staticmethod
    def group_by_category(detailed_results: Sequence[Mapping[str, Any]], metric_field: str) -> dict[str, float | None]:
        """The mean of one metric in each category, in the order in which the categories first appear."""
        groups = _groups(detailed_results, "category")
        return {
            category: _mean([_metric(number, metrics, metric_field) for number, metrics in members])
            for category, members in groups.items()
        }

    @staticmethod
    def group_by_difficulty(detailed_results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float | None]]:
        """The number of queries of each difficulty, and the means of precision@3, precision@5 and mrr."""
        return {
            difficulty: {
                "count": len(members),
                **{
                    name: _mean([_metric(number, metrics, name) for number, metrics in members])
                    for name in DIFFICULTY_METRICS
                },
            }
            for difficulty, members in _groups(detailed_results, "difficulty").items()
        }


def _groups(results: Sequence[Mapping[str, Any]], key: str) -> dict[str, list[tuple[int, Mapping[str, Any]]]]:
    """The number and the metrics of each result, by the value of a key."""
    groups: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for number, result in enumerate(results, 1):
        for required in (key, "metrics"):
            if required not in result:
                keys = ", ".join(map(str, result)) or "nothing"
                raise InputError(f"result {number} has no '{required}'; it has {keys}")
        groups.setdefault(result[key], []).append((number, result["metrics"]))
    return groups


def _metric(number: int, metrics: Mapping[str, Any], name: str) -> float | None:
    if name not in metrics:
        close = nearest(name, [str(key) for key in metrics])
        raise InputError(
            f"the metrics of result {number} have no {shown(name)}; they have {', '.join(map(str, metrics)) or 'none'}",
            hint=f"did you mean {close}?" if close else None,
        )
    value: float | None = metrics[name]
    return value


def _mean(values: Sequence[float | None]) -> float | None:
    return aggregate(np.array([value for value in values if value is not None], dtype=np.float64), "mean")


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
