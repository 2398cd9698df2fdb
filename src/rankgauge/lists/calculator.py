"""All metrics of one ranking at once (SPEC-003). Retrieved ids come first here, expected ids second."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.lists import functions
from rankgauge.lists.ids import AnyIds
from rankgauge.lists.joined import join_lists


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
