"""All metrics of one ranking at once, and their means over queries (SPEC-003).

Retrieved ids come first here, expected ids second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from rankgauge.errors import InputError, InputTypeError, found_text, nearest, shown
from rankgauge.lists import functions
from rankgauge.lists.list_join import AnyIds, join_lists, missing_key


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

    def to_dict(self) -> dict[str, float | None]:
        """The metrics under the names of a report, and then the fields that a report does not average.

        >>> metrics = MetricsCalculator.calculate_all(["A", "B", "C"], ["A", "C"])
        >>> metrics.to_dict()["recall@10"], metrics.to_dict()["hits_in_top_3"]
        (1.0, 2)
        """
        return {name: getattr(self, field) for name, field in (METRIC_FIELDS | OTHER_FIELDS).items()}


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
        """Every metric, from one join.

        >>> metrics = MetricsCalculator.calculate_all(["A", "B", "C"], ["B", "C", "D"])
        >>> metrics.mrr, metrics.hits_in_top_3, metrics.first_relevant_position
        (0.5, 2, 2)
        """
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
        """P@k = relevant ids among the first k / k.

        >>> MetricsCalculator.precision_at_k(["A", "B", "C", "D", "E"], ["A", "C", "F"], k=5)
        0.4
        """
        return functions.precision_at_k(expected, retrieved, k)

    @staticmethod
    def recall_at_k(retrieved: AnyIds, expected: AnyIds, k: int) -> float:
        """R@k = distinct relevant ids among the first k / all relevant ids; 0 if nothing is expected.

        >>> MetricsCalculator.recall_at_k(["A", "B", "C"], ["A", "C", "D", "E"], k=3)
        0.5
        """
        return functions.recall_at_k(expected, retrieved, k)

    @staticmethod
    def mrr(retrieved: AnyIds, expected: AnyIds) -> float:
        """1 / rank of the first relevant id, or 0 if there is none. For one query: the mean over queries is the MRR.

        >>> MetricsCalculator.mrr(["A", "B"], ["B"])
        0.5
        """
        return functions.reciprocal_rank(expected, retrieved)

    @staticmethod
    def ndcg_at_k(retrieved: AnyIds, expected: AnyIds, k: int) -> float:
        """nDCG@k, with a gain of 1 for every expected id.

        >>> MetricsCalculator.ndcg_at_k(["A", "B"], ["A"], k=10)
        1.0
        """
        return functions.ndcg_at_k(expected, retrieved, k)

    @staticmethod
    def count_hits(retrieved: AnyIds, expected: AnyIds) -> int:
        """The number of retrieved ids that are expected.

        >>> MetricsCalculator.count_hits(["A", "B", "C"], ["A", "C"])
        2
        """
        return functions.count_hits(expected, retrieved)

    @staticmethod
    def first_relevant_position(retrieved: AnyIds, expected: AnyIds) -> int | None:
        """The rank of the first expected id, from 1; None if there is none.

        >>> MetricsCalculator.first_relevant_position(["A", "B"], ["B"])
        2
        """
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
OTHER_FIELDS = {name: name for name in ("hits_in_top_3", "hits_in_top_5", "first_relevant_position")}
MEDIAN_METRICS = ("precision@3", "mrr")
DIFFICULTY_METRICS = ("precision@3", "precision@5", "mrr")
RESULT_KEYS = frozenset({"category", "difficulty", "metrics"})


class ReportAggregator:
    """Means and medians over queries, and means by category and by difficulty.

    Means are exact and rounded once, as those of ``statistics.mean``. A mean of no values is None. A detailed result is
    a mapping with ``category`` or ``difficulty``, and with ``metrics``: what ``calculate_all`` returned, or a mapping
    from the name of each metric to its value. A metric that is None is left out of the mean.
    """

    @staticmethod
    def aggregate_metrics(results: Iterable[IRMetrics]) -> dict[str, float | None]:
        """The mean of each metric, and the medians of precision@3 and mrr.

        >>> rows = [MetricsCalculator.calculate_all(["A", "B"], expected) for expected in (["A"], ["B"])]
        >>> report = ReportAggregator.aggregate_metrics(rows)
        >>> report["mrr"], report["median_mrr"]
        (0.75, 0.75)
        """
        rows: Members = []
        for number, row in enumerate(_listed(results), 1):
            if not isinstance(row, IRMetrics):
                raise InputTypeError(
                    f"result {number} must be IRMetrics, found {found_text(row)}",
                    hint="MetricsCalculator.calculate_all returns them",
                )
            rows.append((number, row.to_dict()))
        columns = {name: _known_values(rows, name) for name in METRIC_FIELDS}
        means = {name: _mean(values) for name, values in columns.items()}
        return means | {f"median_{name}": _median(columns[name]) for name in MEDIAN_METRICS}

    @staticmethod
    def group_by_category(detailed_results: Iterable[Mapping[str, Any]], metric_field: str) -> dict[str, float | None]:
        """The mean of one metric in each category, in the order in which the categories first appear.

        >>> metrics = MetricsCalculator.calculate_all(["A", "B"], ["B"])
        >>> ReportAggregator.group_by_category([{"category": "auth", "metrics": metrics}], "mrr")
        {'auth': 0.5}
        """
        if not isinstance(metric_field, str):
            raise InputTypeError(f"metric_field must be the name of a metric, found {found_text(metric_field)}")
        groups = _groups(detailed_results, "category")
        return {category: _mean(_known_values(members, metric_field)) for category, members in groups.items()}

    @staticmethod
    def group_by_difficulty(detailed_results: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float | None]]:
        """The number of queries of each difficulty, and the means of precision@3, precision@5 and mrr.

        >>> metrics = MetricsCalculator.calculate_all(["A", "B"], ["B"])
        >>> ReportAggregator.group_by_difficulty([{"difficulty": "easy", "metrics": metrics}])
        {'easy': {'count': 1, 'precision@3': 0.3333333333333333, 'precision@5': 0.2, 'mrr': 0.5}}
        """
        return {
            difficulty: {
                "count": len(members),
                **{name: _mean(_known_values(members, name)) for name in DIFFICULTY_METRICS},
            }
            for difficulty, members in _groups(detailed_results, "difficulty").items()
        }


Members = list[tuple[int, Mapping[str, Any]]]  # the number and the metrics of each result of a group


def _groups(results: Iterable[Mapping[str, Any]], key: str) -> dict[str, Members]:
    """The results by the value of a key."""
    groups: dict[str, Members] = {}
    for number, result in enumerate(_listed(results), 1):
        if not isinstance(result, Mapping):
            raise InputTypeError(
                f"result {number} must be a mapping with '{key}' and 'metrics', found {found_text(result)}",
                hint=f'write {{"{key}": …, "metrics": …}}; metrics may be what calculate_all returned',
            )
        for required in (key, "metrics"):
            if required not in result:
                raise missing_key(f"result {number}", required, result, RESULT_KEYS)
        metrics, group = result["metrics"], result[key]
        if isinstance(metrics, IRMetrics):
            metrics = metrics.to_dict()
        elif not isinstance(metrics, Mapping):
            raise InputTypeError(
                f"the metrics of result {number} must be IRMetrics or a mapping, found {found_text(metrics)}"
            )
        try:
            groups.setdefault(group, []).append((number, metrics))
        except TypeError:
            raise InputTypeError(f"the {key} of result {number} must be one value, found {found_text(group)}") from None
    return groups


def _listed(results: Iterable[Any]) -> Iterable[Any]:
    if isinstance(results, (str, bytes, Mapping)) or not isinstance(results, Iterable):
        raise InputTypeError(f"results must be a list with one entry per query, found {found_text(results)}")
    return results


def _known_values(members: Members, name: str) -> list[float]:
    """The values of a metric, without those that are None."""
    values = []
    for number, metrics in members:
        if name not in metrics:
            raise _missing_metric(number, metrics, name)
        if metrics[name] is not None:
            values.append(_number(metrics[name], number, name))
    return values


def _missing_metric(number: int, metrics: Mapping[str, Any], name: str) -> InputError:
    """The error for a metric that a result lacks: its name is misspelled there, or in the call."""
    names = [str(key) for key in metrics]
    close = nearest(name, [key for key in names if name not in METRIC_FIELDS or key not in METRIC_FIELDS])
    hint = f"write '{name}' instead of {shown(close or '')}" if name in METRIC_FIELDS else f"did you mean {close}?"
    return InputError(
        f"the metrics of result {number} have no {shown(name)}; they have {', '.join(names) or 'none'}",
        hint=hint if close else None,
    )


def _number(value: Any, number: int, name: str) -> float:
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputTypeError(
            f"{shown(name)} of result {number} must be a number, found {found_text(value, with_value=True)}"
        ) from None


def _mean(values: Sequence[float]) -> float | None:
    return mean(values) if values else None


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
