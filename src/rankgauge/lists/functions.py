"""One function a metric: relevant ids, retrieved ids and a cutoff in, a number out (RETRIEVAL-METRICS-001, §5).

Relevant ids come first and retrieved ids second, as in the specification; ``MetricsCalculator`` has them the other way
round, as SPEC-003 does. Either is a list, or a string for one id. An empty side gives 0.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from rankgauge.lists.ids import AnyIds
from rankgauge.lists.joined import Grades, join_lists
from rankgauge.measures.aggregates import aggregate
from rankgauge.measures.registry import NAMES
from rankgauge.measures.spec import Measure


def hit_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10) -> float:
    """1.0 where a relevant id stands among the first k, else 0.0: ``Success@k``."""
    return _value("Success", relevant_ids, predicted_ids, k)


def ndcg_at_k(
    relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10, relevance_grades: Mapping[str, float] | None = None
) -> float:
    """Normalised discounted cumulative gain: ``nDCG@k``, the gain of a document being its grade.

    A relevant id without a grade has grade 1; an id with a grade counts whether it is among the relevant ids or not.
    """
    return _value("nDCG", relevant_ids, predicted_ids, k, relevance_grades)


def precision_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10) -> float:
    """The share of relevant ids among the first k: ``P@k``, divided by k even where fewer were retrieved."""
    return _value("P", relevant_ids, predicted_ids, k)


def recall_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10) -> float:
    """The share of all relevant ids that stand among the first k: ``R@k``."""
    return _value("R", relevant_ids, predicted_ids, k)


def f1_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int = 10) -> float:
    """The harmonic mean of precision and recall among the first k: ``F1@k``."""
    return _value("F1", relevant_ids, predicted_ids, k)


def average_precision_at_k(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int | None = 10) -> float:
    """The mean of the precision at each relevant id, over all relevant ids: ``AP@k``; with k=None the whole list."""
    return _value("AP", relevant_ids, predicted_ids, k)


def reciprocal_rank(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int | None = None) -> float:
    """1 divided by the position of the first relevant id, 0.0 where there is none: ``RR``, or ``RR@k``."""
    return _value("RR", relevant_ids, predicted_ids, k)


def mean_reciprocal_rank(
    relevant_ids_list: Sequence[AnyIds], predicted_ids_list: Sequence[AnyIds], k: int | None = None
) -> float | None:
    """The mean of the reciprocal ranks of several queries; None where there is no query."""
    return _mean("RR", relevant_ids_list, predicted_ids_list, k)


def mean_average_precision(
    relevant_ids_list: Sequence[AnyIds], predicted_ids_list: Sequence[AnyIds], k: int | None = None
) -> float | None:
    """The mean of the average precisions of several queries; None where there is no query."""
    return _mean("AP", relevant_ids_list, predicted_ids_list, k)


def first_relevant_position(relevant_ids: AnyIds, predicted_ids: AnyIds) -> int | None:
    """The position of the first relevant id, from 1; None where there is none."""
    found = _value("FirstRel", relevant_ids, predicted_ids, None)
    return None if np.isnan(found) else int(found)


def count_hits(relevant_ids: AnyIds, predicted_ids: AnyIds, k: int | None = None) -> int:
    """How many of the retrieved ids (of the first k) are relevant; one that stands twice counts twice."""
    return int(_value("NumRelRet", relevant_ids, predicted_ids, k))


@lru_cache(maxsize=1024, typed=True)  # typed: True is no cutoff, though it equals 1
def at(name: str, k: int | None) -> Measure:
    """The measure of a name at a cutoff, looked up once."""
    definition, fixed = NAMES[name]
    return definition(**fixed, cutoff=k)


def _value(name: str, relevant: AnyIds, retrieved: AnyIds, k: int | None, grades: Grades | None = None) -> float:
    measure = at(name, k)
    return float(join_lists([relevant], [retrieved], [grades])(measure)[0])


def _mean(name: str, relevant: Sequence[AnyIds], retrieved: Sequence[AnyIds], k: int | None) -> float | None:
    measure = at(name, k)
    return aggregate(join_lists(relevant, retrieved)(measure), measure.definition.aggregate)
