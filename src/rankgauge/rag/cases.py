"""Test cases: a query, the ids that it should retrieve, and other columns.

{"query": "reset 2FA?", "relevant_ids": ["kb-104"], "grades": {"kb-104": 3}, "category": "auth", "topK": 5}

They are read like the judgments of a log: the same keys, the same checks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, overload

from rankgauge.core.qrels import Qrels
from rankgauge.core.subtopic_judgments import Evidence
from rankgauge.errors import InputError, shown, warn_user
from rankgauge.io.byte_streams import read_bytes, source_name
from rankgauge.io.faults import Faults
from rankgauge.io.formats import question_log
from rankgauge.io.formats.log_rows import Log
from rankgauge.io.formats.named_columns import Columns
from rankgauge.io.formats.test_sets import CASES_SOURCE
from rankgauge.io.input_labels import MIN_SENTENCE
from rankgauge.io.matching import MATCH_KEY, LabelSet, own_rules, read_label_set
from rankgauge.io.read import SourceRows, build_qrels
from rankgauge.io.reading_options import DEFAULT_READING, Reading
from rankgauge.rag.scoring import QueryJudgments


@dataclass(frozen=True)
class Case:
    """A query, its own k if it has one, and the other fields, which a retriever may need."""

    id: str
    query: str
    k: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cases:
    """Test cases in the order of the input, with the judgments and the other columns of each query."""

    cases: Sequence[Case]
    judgments: Mapping[str, QueryJudgments]
    columns: Mapping[str, Mapping[str, Any]]
    source: str = field(default=CASES_SOURCE, compare=False)
    has_id_key: bool = True  # whether the key of the relevant documents says that they are ids
    evidence: Evidence | None = None  # which documents each query needs, if cases say so
    labels: LabelSet | None = None  # if labels are matched with results by a rule, of all cases or of some
    reading: Reading = field(default=DEFAULT_READING, compare=False)  # which has the rule of all cases


AnyCases = str | Path | Cases | Mapping[str, Any] | Iterable[Mapping[str, Any]]


def read_cases(
    test_cases: AnyCases,
    *,
    columns: Columns | None = None,
    reading: Reading = DEFAULT_READING,
    needs_relevant: bool = False,
) -> Cases:
    """Read test cases from a file in any format that has them, or from dicts.

    ``columns`` says which key is which if their names do not: ``{"relevant": "best", "query": "ask", "id": "nr"}``.
    ``reading`` says how labels are matched with results: ``Reading(match="suffix")``; a case can have a rule of its own
    in ``match``. With ``needs_relevant``, cases that list evidence and no relevant documents are refused.
    """
    if isinstance(test_cases, Cases):
        return test_cases
    with question_log.paused_collection():
        cases = _read(test_cases, columns or reading.columns, reading)
    if needs_relevant and cases.evidence is not None and not cases.evidence.is_complete:
        raise InputError.at(
            cases.source,
            None,
            "expected relevant documents beside the evidence of every query, found queries without any",
            hint="without them, score evidence alone: evaluate(cases, retriever, ['EvidenceAll@5', 'StRecall@5'])",
        )
    return cases


def _read(test_cases: Any, columns: Columns | None, reading: Reading) -> Cases:
    how = reading.match_fields, reading.match
    if isinstance(test_cases, (str, Path)):
        faults, title = Faults(str(test_cases)), source_name(test_cases)
        cases_log = question_log.load(faults, read_bytes(test_cases)[0], columns, *how)
    else:
        faults, title = Faults(CASES_SOURCE), CASES_SOURCE
        cases_log = question_log.load_objects(faults, test_cases, columns, *how)
    labels = None
    if MATCH_KEY in cases_log.records.names or not reading.matches_ids:
        label_set = read_label_set(cases_log, title, reading)
        is_exact = reading.matches_ids and own_rules(label_set.judgments) is None
        labels = None if is_exact else label_set
    if labels is None:
        rows = cases_log.qrels_rows(faults)
        faults.raise_errors()
        qrels = build_qrels(SourceRows(replace(rows, columns={}), faults), name=title)
        all_columns, evidence = rows.columns, rows.evidence
    else:
        qrels, all_columns, evidence = labels.judgments, cases_log.columns(), None
    for note in cases_log.warnings:
        if note.code != "text-unused" or reading.match != "text":
            warn_user(note.message)
    text_key = cases_log.keys.get("query")
    case_columns = {name: values for name, values in all_columns.items() if name != text_key}
    texts, own_k = cases_log.texts(), _checked_k(cases_log, case_columns.get("k", {}))
    if len(texts) < len(cases_log.first_rows):
        row = next(row for query, row in cases_log.first_rows.items() if query not in texts)
        message = "expected the text of a query, found none"
        raise InputError.at(faults.source, _line_of(cases_log, row), message, hint='write {"query": "…"}')
    judgments = _JudgmentsOnDemand(partial(_judgments, cases_log, qrels, has_own_rules=labels is not None))
    made = _CasesOnDemand(len(texts), partial(_make_cases, cases_log, own_k))
    return Cases(made, judgments, case_columns, faults.source, cases_log.has_id_key, evidence, labels, reading)


# Reading checks everything, in columns. The objects of cases are made when the first of them is asked for.


class _CasesOnDemand(Sequence[Case]):
    """Test cases as a sequence, whose objects are made at its first use."""

    def __init__(self, size: int, make: Callable[[], list[Case]]) -> None:
        self._size, self._make = size, make

    @cached_property
    def _cases(self) -> list[Case]:
        with question_log.paused_collection():
            return self._make()

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Case]: ...

    def __getitem__(self, index: int | slice) -> Case | Sequence[Case]:
        return self._cases[index]

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases)

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        return self._cases == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return repr(self._cases)


class _JudgmentsOnDemand(Mapping[str, QueryJudgments]):
    """The judgments of each case by its id, whose objects are made at the first use."""

    def __init__(self, make: Callable[[], dict[str, QueryJudgments]]) -> None:
        self._make = make

    @cached_property
    def _judgments(self) -> dict[str, QueryJudgments]:
        with question_log.paused_collection():
            return self._make()

    def __getitem__(self, query: str) -> QueryJudgments:
        return self._judgments[query]

    def __iter__(self) -> Iterator[str]:
        return iter(self._judgments)

    def __len__(self) -> int:
        return len(self._judgments)

    def __repr__(self) -> str:
        return repr(self._judgments)


def _make_cases(cases_log: Log, own_k: Mapping[str, int]) -> list[Case]:
    fields = cases_log.case_fields()
    queries = map(_text, cases_log.first_rows)
    return [
        Case(query, text, own_k.get(query), fields[query])
        for query, text in zip(queries, cases_log.texts().values(), strict=True)
    ]


def _text(query: bytes) -> str:
    return query.decode("utf-8", "surrogateescape")


def _line_of(cases_log: Log, row: int) -> int | None:
    return int(cases_log.records.line[row]) or None


def _judgments(cases_log: Log, qrels: Qrels, *, has_own_rules: bool) -> dict[str, QueryJudgments]:
    """The judgments of each case: relevant are the ids that it lists, or else those with a grade above 0."""
    grades: dict[str, dict[str, float]] = {_text(query): {} for query in cases_log.first_rows} | qrels.to_dict()
    relevant = {query: [doc for doc, grade in docs.items() if grade > 0] for query, docs in grades.items()}
    relevant_key = cases_log.keys.get("relevant")
    if relevant_key is not None and "grades" in cases_log.keys and not has_own_rules:
        records = cases_log.records.records
        with_list = {
            row: query for row, query in cases_log.queries.items() if records[row].get(relevant_key) is not None
        }
        keys = {role: key for role, key in cases_log.keys.items() if role != "grades"}
        rows = replace(cases_log, keys=keys, queries=with_list).qrels_rows(Faults(CASES_SOURCE))
        relevant.update({_text(query): [] for query in with_list.values()})
        for query_id, doc in zip(rows.query.to_text(), rows.doc.to_text(), strict=True):
            relevant[query_id].append(doc)
    return {query: QueryJudgments(relevant[query], docs) for query, docs in grades.items()}


def _checked_k(cases_log: Log, column: Mapping[str, Any]) -> dict[str, int]:
    """The k of each case that has one; raises if one is not a whole number of at least 1."""
    own_k: dict[str, int] = {}
    for query, row in cases_log.first_rows.items() if column else ():
        k = _check_case_k(cases_log.faults.source, _line_of(cases_log, row), column.get(_text(query)))
        if k is not None:
            own_k[_text(query)] = k
    return own_k


def _check_case_k(source: str, line: int | None, value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError.at(source, line, f"expected a whole number of at least 1 as k, found {shown(repr(value))}")
    return value


# Test cases whose gold is text: quotes are not ids, and scored as ids they would silently be worth 0.

HINT = (
    "quotes are labels by text: `rankgauge evaluate LABELS RESULTS` or rankgauge.labels.evaluate_gold scores them; "
    'ids that have white space belong under "relevant_ids"'
)


def check_no_quotes(cases: Cases, retrieved: Collection[str]) -> None:
    """Raise if what should be ids are quotes: text that no result of any query has as its id.

    White space makes a text, unless results have ids with white space; then a sentence does. Ids under a key that says
    so (relevant_ids) are ids.
    """
    if cases.has_id_key or not retrieved:
        return
    values = [
        (case, value) for case in cases.cases for value in cases.judgments[case.id].relevant if len(value.split()) > 1
    ]
    if any(value in retrieved for _, value in values):
        return
    least = MIN_SENTENCE if any(len(name.split()) > 1 for name in retrieved) else 2
    for case, value in values:
        if len(value.split()) >= least:
            raise InputError.at(
                cases.source,
                None,
                f"expected the ids of relevant documents for query {shown(case.id)}, found text that is the id of no "
                f"result: {shown(value)}",
                hint=HINT,
            )
