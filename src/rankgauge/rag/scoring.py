"""Ids in, scores out: the measures of a RAG evaluation, all from the registry.

Relevant ids decide what is relevant; grades decide how much. So a measure that counts relevant documents, at its
default level, sees only the ids, and every other measure sees the grades: a document with a grade of 0.3 that is not
among the relevant ids adds to nDCG and not to precision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankgauge.core.arrays import checked_number
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.core.subtopic_judgments import Evidence
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.evaluation.conventions import Conventions
from rankgauge.evaluation.evaluate import Evaluation, evaluate, evaluate_runs
from rankgauge.io.matching import LabelSet, match_labels
from rankgauge.io.reading_options import Reading
from rankgauge.lists.list_join import binary_judgments, graded_judgments, reads_grades
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import MeasureNames, parse_measures
from rankgauge.retrieval.asking.documents import id_text, is_id_type

# The field of a result → its measure. Those with a cutoff look at the first k results, the others at all results.
MEASURES_AT_K = {"precision_at_k": "P", "recall_at_k": "R", "f1_at_k": "F1", "ndcg_at_k": "nDCG", "hit_rate": "Success"}
MEASURES_WITHOUT_CUTOFF = {"mrr": "RR", "map": "AP"}
FIELD_ORDER = ("precision_at_k", "recall_at_k", "f1_at_k", "mrr", "map", "ndcg_at_k", "hit_rate")


@dataclass(frozen=True)
class QueryJudgments:
    """The relevant ids of one query, and the grades of these and other documents."""

    relevant: Sequence[str]
    grades: Mapping[str, float] = field(default_factory=dict)


def check_judgments(relevant: Sequence[str], grades: object, query: str) -> QueryJudgments:
    """Return relevant ids and grades, or raise if they contradict each other."""
    if grades is None:
        return QueryJudgments(relevant)
    if not isinstance(grades, Mapping):
        raise InputTypeError(f"grades of query {shown(query)} must map ids to numbers, found {type(grades).__name__}")
    label = f"a graded id of query {shown(query)}"
    checked = {id_text(doc, label): checked_number(grade, "grade", query, doc) for doc, grade in grades.items()}
    for doc in relevant:
        if checked.get(doc, 1) <= 0:
            raise InputError(
                f"document {shown(doc)} of query {shown(query)} is relevant and has grade {checked[doc]:g}"
            )
    return QueryJudgments(relevant, checked)


def measures_at(k: int | str) -> dict[str, Measure]:
    """The measure of each field for a cutoff: a number, or the query column that holds it."""
    names = {field: f"{name}@{k}" for field, name in MEASURES_AT_K.items()} | MEASURES_WITHOUT_CUTOFF
    return dict(zip(FIELD_ORDER, parse_measures([names[field] for field in FIELD_ORDER]), strict=True))


def case_qrels(judgments: Mapping[str, QueryJudgments], columns: Mapping[str, Any] | None = None) -> Qrels:
    """The judgments of test cases; a relevant id without a grade has grade 1."""
    return Qrels.from_dict(_grades(judgments), columns=columns, name="test cases")


def _grades(judgments: Mapping[str, QueryJudgments]) -> dict[str, dict[str, float]]:
    return {query: graded_judgments(judged.relevant, judged.grades) for query, judged in judgments.items()}


def evaluate_labels(
    labels: LabelSet, run: Run, measures: MeasureNames, texts: Mapping[str, str], reading: Reading
) -> Evaluation:
    """The values of labels that are matched with results by a rule; ``texts`` are those of the queries."""
    result_texts = {} if run.extras is None else run.extras.texts
    known = {doc: text for doc, text in result_texts.items() if text is not None}
    matched = match_labels(labels, [run], reading, known)
    evaluation = evaluate_runs(matched.judgments, [run], measures)
    scores = replace(evaluation.scores[0], notes=(*evaluation.scores[0].notes, *matched.notes))
    joined = (replace(evaluation.joined[0], run=run),)
    return replace(evaluation, texts=texts, joined=joined, scores=(scores,))


def evaluate_cases(
    run: Run,
    judgments: Mapping[str, QueryJudgments],
    measures: MeasureNames,
    *,
    columns: Mapping[str, Any] | None = None,
    texts: Mapping[str, str] | None = None,
    evidence: Evidence | None = None,
) -> Evaluation:
    """The value of each measure for each query; a failed query is not averaged. ``texts`` are those of the queries."""
    graded = _grades(judgments)
    binary = {query: binary_judgments(judged.relevant, judged.grades) for query, judged in judgments.items()}
    stated = Conventions(rel=1)  # which only graded measures see: for the others, the lists say what is relevant
    qrels = case_qrels(judgments, columns).with_evidence(evidence)
    evaluation = evaluate_runs(qrels, [run], measures, conventions=stated)
    evaluation = replace(evaluation, texts=texts or {}, joined=(replace(evaluation.joined[0], run=run),))
    if graded == binary:
        return evaluation
    scores = evaluation.scores[0]
    binary_scores = evaluate(Qrels.from_dict(binary, columns=columns).with_evidence(evidence), run, measures)
    is_graded = np.array([reads_grades(measure) for measure in scores.measures])
    merged = replace(
        scores,
        values=np.where(is_graded, scores.values, binary_scores.values),
        without_relevant=binary_scores.without_relevant,
        notes=binary_scores.notes,
    )
    return replace(evaluation, scores=(merged,))


def relevant_ids(ids: object, query: str) -> tuple[str, ...]:
    """The relevant ids of a query, each once; a single id needs no list."""
    label = f"a relevant id of query {shown(query)}"
    if is_id_type(type(ids)):
        return (id_text(ids, label),)
    if isinstance(ids, Mapping) or not isinstance(ids, Iterable):
        raise InputTypeError(f"relevant ids of query {shown(query)} must be a list, found {type(ids).__name__}")
    return tuple(dict.fromkeys(id_text(value, label) for value in ids))
