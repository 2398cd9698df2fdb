"""One function per metric: relevant ids, retrieved ids and a cutoff in, a number out (RETRIEVAL-METRICS-001, §5).

Relevant ids come first and retrieved ids second, as in the specification; ``MetricsCalculator`` takes them in the
opposite order, as in SPEC-003. Each is a list, or a string for one id. If either is empty, the value is 0.0. With a
cutoff, only the first k retrieved ids are read and checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import lru_cache

import numpy as np

from rankgauge.errors import InputTypeError, MeasureError, found_text
from rankgauge.lists.list_join import AnyIds, Grades, join_lists
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.measure import Measure
from rankgauge.measures.registry import MEASURE_NAMES


def hit_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10) -> float:
    """1.0 if a relevant id is among the first k, else 0.0: ``Success@k``.

    >>> hit_at_k(["doc1", "doc3", "doc5"], ["doc2", "doc1", "doc4"], k=3)
    1.0
    """
    return _value("Success", relevant_ids, predicted_ids, k)


def ndcg_at_k(
    relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10, relevance_grades: Mapping[str, float] | None = None
) -> float:
    """Normalized discounted cumulative gain: ``nDCG@k``, with the grade of a document as its gain.

    A relevant id without a grade has grade 1; an id with a grade counts even if it is not among the relevant ids.

    >>> round(ndcg_at_k(["a", "b", "c"], ["a", "x", "b", "c"], 4, relevance_grades={"a": 3, "b": 2, "c": 1}), 4)
    0.9305
    """
    return _value("nDCG", relevant_ids, predicted_ids, k, relevance_grades)


def precision_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10) -> float:
    """The share of relevant ids among the first k: ``P@k``, divided by k even if fewer were retrieved.

    >>> precision_at_k(["doc1", "doc3"], ["doc1", "doc2", "doc3"], k=5)
    0.4
    """
    return _value("P", relevant_ids, predicted_ids, k)


def recall_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10) -> float:
    """The share of all relevant ids that are among the first k: ``R@k``.

    >>> recall_at_k(["doc1", "doc3"], ["doc1", "doc2", "doc3"], k=2)
    0.5
    """
    return _value("R", relevant_ids, predicted_ids, k)


def f1_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10) -> float:
    """The harmonic mean of precision and recall among the first k: ``F1@k``.

    >>> f1_at_k(["doc1", "doc3"], ["doc1", "doc2"], k=2)
    0.5
    """
    return _value("F1", relevant_ids, predicted_ids, k)


def average_precision_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int | None = 10) -> float:
    """The mean of the precision at each relevant id, over all relevant ids: ``AP@k``; k=None means no cutoff.

    >>> round(average_precision_at_k(["a", "c", "e"], ["a", "b", "c", "d", "e"], k=5), 3)
    0.756
    """
    return _value("AP", relevant_ids, predicted_ids, k)


def reciprocal_rank(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int | None = None) -> float:
    """1 divided by the rank of the first relevant id, or 0.0 if there is none: ``RR``, or ``RR@k``.

    >>> reciprocal_rank(["doc1"], ["doc2", "doc1"])
    0.5
    """
    return _value("RR", relevant_ids, predicted_ids, k)


def mean_reciprocal_rank(
    relevant_ids_list: Iterable[AnyIds], predicted_ids_list: Iterable[AnyIds], k: int | None = None
) -> float:
    """The mean of the reciprocal ranks of several queries; 0.0 if there are no queries.

    >>> round(mean_reciprocal_rank(["a", "a", "a"], [["a"], ["x", "y", "a"], ["x"]]), 3)
    0.444
    """
    return _mean("RR", relevant_ids_list, predicted_ids_list, k)


def mean_average_precision(
    relevant_ids_list: Iterable[AnyIds], predicted_ids_list: Iterable[AnyIds], k: int | None = None
) -> float:
    """The mean of the average precisions of several queries; 0.0 if there are no queries.

    >>> mean_average_precision([["a"], ["b"]], [["x", "a"], ["b"]])
    0.75
    """
    return _mean("AP", relevant_ids_list, predicted_ids_list, k)


def first_relevant_position(relevant_ids: AnyIds, predicted_ids: AnyIds) -> int | None:
    """The rank of the first relevant id, from 1; None if there is none.

    >>> first_relevant_position(["doc1"], ["doc2", "doc1"])
    2
    """
    rank = _value("FirstRel", relevant_ids, predicted_ids, None)
    return None if np.isnan(rank) else int(rank)


def count_hits(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int | None = None) -> int:
    """The number of relevant ids among the retrieved ones (the first k); an id that appears twice counts twice.

    >>> count_hits(["doc1", "doc3"], ["doc1", "doc2", "doc3"])
    2
    """
    return int(_value("NumRelRet", relevant_ids, predicted_ids, k))


def measure_at(name: str, k: int | None) -> Measure:
    """The measure with a cutoff."""
    if k is None or isinstance(k, int):
        return _cached_measure(name, k)
    raise MeasureError(f"the cutoff k must be a whole number of at least 1, found {found_text(k, with_value=True)}")


@lru_cache(maxsize=1024, typed=True)  # typed: True is not a cutoff, although it equals 1
def _cached_measure(name: str, k: int | None) -> Measure:
    definition, fixed = MEASURE_NAMES[name]
    return definition(**fixed, cutoff=k)


def _value(name: str, relevant: AnyIds, retrieved: AnyIds, k: int | None, grades: Grades | None = None) -> float:
    measure = measure_at(name, k)
    return float(join_lists([relevant], [retrieved], [grades], k)(measure)[0])


def _mean(name: str, relevant: Iterable[AnyIds], retrieved: Iterable[AnyIds], k: int | None) -> float:
    measure = measure_at(name, k)
    lists = _one_per_query(relevant, "relevant_ids_list"), _one_per_query(retrieved, "predicted_ids_list")
    joined = join_lists(*lists, k=k)
    return aggregate(joined(measure), measure.definition.aggregate) or 0.0


def _one_per_query(lists: Iterable[AnyIds], name: str) -> list[AnyIds]:
    if isinstance(lists, (str, bytes, Mapping, Set)) or not isinstance(lists, Iterable):
        raise InputTypeError(f"{name} must be a list with one entry per query, found {found_text(lists)}")
    return list(lists)
