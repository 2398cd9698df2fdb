"""The metrics of many queries taken together (SPEC-003)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from rankgauge.errors import InputError, nearest, shown
from rankgauge.lists.calculator import IRMetrics
from rankgauge.measures.aggregates import aggregate

# The name of each metric in a report → the field that holds it.
FIELDS = {
    "precision@3": "precision_at_3",
    "precision@5": "precision_at_5",
    "recall@10": "recall_at_10",
    "mrr": "mrr",
    "ndcg@10": "ndcg_at_10",
}
BY_DIFFICULTY = ("precision@3", "precision@5", "mrr")


class ReportAggregator:
    """Means and medians over queries, and means by category and by difficulty.

    Nothing to average is None. A detailed result is a mapping with ``metrics``, itself a mapping from the name of a
    metric to its value, and ``category`` or ``difficulty``; a metric that is None is left out of the mean.
    """

    @staticmethod
    def aggregate_metrics(results: Iterable[IRMetrics]) -> dict[str, float | None]:
        """The mean of each metric, and the medians of precision@3 and mrr."""
        listed = list(results)
        columns = {name: [getattr(result, field) for result in listed] for name, field in FIELDS.items()}
        out = {name: _mean(values) for name, values in columns.items()}
        return out | {f"median_{name}": _median(columns[name]) for name in ("precision@3", "mrr")}

    @staticmethod
    def group_by_category(detailed_results: Sequence[Mapping[str, Any]], metric_field: str) -> dict[str, float | None]:
        """The mean of one metric in each category, in the order in which the categories first appear."""
        groups = _grouped(detailed_results, "category")
        return {
            category: _mean([_metric(place, metrics, metric_field) for place, metrics in members])
            for category, members in groups.items()
        }

    @staticmethod
    def group_by_difficulty(detailed_results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float | None]]:
        """How many queries each difficulty has, and the means of precision@3, precision@5 and mrr."""
        return {
            difficulty: {
                "count": len(members),
                **{name: _mean([_metric(place, row, name) for place, row in members]) for name in BY_DIFFICULTY},
            }
            for difficulty, members in _grouped(detailed_results, "difficulty").items()
        }


def _grouped(results: Sequence[Mapping[str, Any]], key: str) -> dict[str, list[tuple[int, Mapping[str, Any]]]]:
    groups: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for place, result in enumerate(results, 1):
        for wanted in (key, "metrics"):
            if wanted not in result:
                raise InputError(f"result {place} has no '{wanted}'; it has {', '.join(map(str, result)) or 'nothing'}")
        groups.setdefault(result[key], []).append((place, result["metrics"]))
    return groups


def _metric(place: int, metrics: Mapping[str, Any], name: str) -> float | None:
    if name not in metrics:
        close = nearest(name, [str(known) for known in metrics])
        raise InputError(
            f"the metrics of result {place} have no {shown(name)}; they have {', '.join(map(str, metrics)) or 'none'}",
            hint=f"did you mean {close}?" if close else None,
        )
    value: float | None = metrics[name]
    return value


def _mean(values: Sequence[float | None]) -> float | None:
    return aggregate(np.array([value for value in values if value is not None], dtype=np.float64), "mean")


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
