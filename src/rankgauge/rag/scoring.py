"""Ids in, scores out: the measures of a RAG evaluation, all of them from the registry.

Relevant ids say what is relevant; grades say how much. So a measure that counts relevant documents, at its default
level, sees the ids alone, and every other measure sees the grades: a document with a grade of 0.3 that is not among
the relevant ids adds to nDCG and not to precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankgauge.core.qrels import Qrels, checked_grade
from rankgauge.core.run import Run
from rankgauge.errors import InputError, InputTypeError, UsageError, shown
from rankgauge.evaluation.conventions import MeasureNames
from rankgauge.evaluation.evaluate import evaluate
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.parse import parse_measures
from rankgauge.measures.spec import Measure
from rankgauge.rag.documents import text_id

DEFAULT_K = 5
# The field of a result → its measure. Those with a cutoff look at the first k, the others at all that came back.
AT_K = {"precision_at_k": "P", "recall_at_k": "R", "f1_at_k": "F1", "ndcg_at_k": "nDCG", "hit_rate": "Success"}
UNCUT = {"mrr": "RR", "map": "AP"}


@dataclass(frozen=True)
class Wanted:
    """What one query should find: ids, and how relevant they and others are."""

    relevant: Sequence[str]
    grades: Mapping[str, float] = field(default_factory=dict)


def graded(relevant: Sequence[str], grades: object, query: str) -> Wanted:
    """Relevant ids and grades, checked against each other."""
    if grades is None:
        return Wanted(relevant)
    if not isinstance(grades, Mapping):
        raise InputTypeError(f"grades of query {shown(query)} must map ids to numbers, found {type(grades).__name__}")
    where = f"a graded id of query {shown(query)}"
    found = {text_id(doc, where): checked_grade(grade, query, doc) for doc, grade in grades.items()}
    for doc in relevant:
        if found.get(doc, 1) <= 0:
            raise InputError(f"document {shown(doc)} of query {shown(query)} is relevant and has grade {found[doc]:g}")
    return Wanted(relevant, found)


def fields_at(k: int | str) -> dict[str, Measure]:
    """The measure of each field for a cutoff: a number, or the query column that holds it."""
    names = {field: f"{name}@{k}" for field, name in AT_K.items()} | UNCUT
    order = ["precision_at_k", "recall_at_k", "f1_at_k", "mrr", "map", "ndcg_at_k", "hit_rate"]
    return dict(zip(order, parse_measures([names[field] for field in order]), strict=True))


def check_k(k: object, what: str = "k") -> int:
    """A cutoff, or an error that says what was found."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise UsageError(f"{what} must be a whole number of at least 1, found {k!r}")
    return int(k)


def score(
    retrieved: Mapping[str, Sequence[str]],
    wanted: Mapping[str, Wanted],
    measures: MeasureNames,
    *,
    failed: Sequence[str] = (),
    columns: Mapping[str, Any] | None = None,
    name: str = "retrieved",
) -> Scores:
    """The value of each measure for each query; a query that failed is not averaged."""
    run = Run.from_lists(retrieved, name=name, failed=failed)
    tables: dict[str, dict[str, float]] = {}
    plain: dict[str, dict[str, float]] = {}
    for query, one in wanted.items():
        tables[query] = {**dict.fromkeys(one.relevant, 1.0), **one.grades}
        relevant = set(one.relevant)
        plain[query] = {doc: float(doc in relevant) for doc in tables[query]}
    scores = evaluate(Qrels.from_dict(tables, columns=columns, name="test cases"), run, measures)
    if tables == plain:
        return scores
    binary = evaluate(Qrels.from_dict(plain, columns=columns), run, measures)
    chosen = np.array([_counts_relevant(measure) for measure in scores.measures])
    return replace(
        scores,
        values=np.where(chosen, binary.values, scores.values),
        without_relevant=binary.without_relevant,
        notes=binary.notes,
    )


def _counts_relevant(measure: Measure) -> bool:
    return measure.definition.parameters.get("rel") == 1 and measure["rel"] == 1
