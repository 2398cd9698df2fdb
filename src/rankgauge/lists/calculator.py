"""All metrics of one ranking at once, and their means over queries (SPEC-003).

Retrieved ids come first here, expected ids second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from rankgauge.errors import InputError, nearest, shown
from rankgauge.lists import functions
from rankgauge.lists.list_join import AnyIds, join_lists


@dataclass(frozen=True, slots=True)
class IRMetrics:
    """The metrics of one query."""

    precision_at_3: float
    precision_at_5: float
    recall_at_10: float
    mrr: float
    ndcg_at_10: float | None = None
    hits_in_top_3: int = 0
    hits_in_top_5: int = 0
    first_relevant_position: int | None = None


class MetricsCalculator:
    """Metrics of a list of retrieved ids against the expected ids.

    Ids are compared exactly, including case. The expected ids are a set: repeating one changes nothing. Precision
    divides by k. An id that was retrieved twice counts twice for precision and hits, and once for every other metric,
    so that recall never exceeds 1.

    >>> metrics = MetricsCalculator.calculate_all(
    ...     retrieved=["mod1", "mod2", "mod3", "mod4", "mod5"], expected=["mod1", "mod3", "mod6"]
    ... )
    >>> round(metrics.precision_at_3, 3), metrics.mrr
    (0.667, 1.0)
    """

    @staticmethod
    def calculate_all(retrieved: AnyIds, expected: AnyIds) -> IRMetrics:
        """Every metric, from one join."""
        joined = join_lists([expected], [retrieved])

        def value(name: str, k: int | None) -> float:
            return float(joined(functions.measure_at(name, k))[0])

        position = value("FirstRel", None)
        return IRMetrics(
            precision_at_3=value("P", 3),
            precision_at_5=value("P", 5),
            recall_at_10=value("R", 10),
            mrr=value("RR", None),
            ndcg_at_10=value("nDCG", 10),
            hits_in_top_3=int(value("NumRelRet", 3)),
            hits_in_top_5=int(value("NumRelRet", 5)),
            first_relevant_position=int(position) if position == position else None,
        )

    @staticmethod
    def precision_at_k(retrieved: AnyIds, expected: AnyIds, k: int) -> float:
        """P@k = relevant ids among the first k / k."""
        return functions.precision_at_k(expected, retrieved, k)

    @staticmethod
    def recall_at_k(retrieved: AnyIds, expected: AnyIds, k: int) -> float:
        """R@k = distinct relevant ids among the first k / all relevant ids; 0 if nothing is expected."""
        return functions.recall_at_k(expected, retrieved, k)

    @staticmethod
    def mrr(retrieved: AnyIds, expected: AnyIds) -> float:
        """1 / rank of the first relevant id, or 0 if there is none. For one query: the mean over queries is the MRR."""
        return functions.reciprocal_rank(expected, retrieved)

    @staticmethod
    def ndcg_at_k(retrieved: AnyIds, expected: AnyIds, k: int) -> float:
        """nDCG@k, with a gain of 1 for every expected id."""
        return functions.ndcg_at_k(expected, retrieved, k)

    @staticmethod
    def count_hits(retrieved: AnyIds, expected: AnyIds) -> int:
        """The number of retrieved ids that are expected."""
        return functions.count_hits(expected, retrieved)

    @staticmethod
    def first_relevant_position(retrieved: AnyIds, expected: AnyIds) -> int | None:
        """The rank of the first expected id, from 1; None if there is none."""
        return functions.first_relevant_position(expected, retrieved)


# Metrics aggregated over queries (SPEC-003).

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

    Means are exact and rounded once, as those of ``statistics.mean``. A mean of no values is None. A detailed result is
    a mapping with ``metrics``, which maps the name of a metric to its value, and with ``category`` or ``difficulty``; a
    metric that is None is left out of the mean.
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
    known = [float(value) for value in values if value is not None]
    return mean(known) if known else None


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
