"""Test cases: a query, the ids that it should retrieve, and other columns.

{"query": "reset 2FA?", "relevant_ids": ["kb-104"], "grades": {"kb-104": 3}, "category": "auth", "topK": 5}

They are read like the judgments of a log: the same keys, the same checks.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.io.byte_streams import LoadedFile, read_bytes, source_name
from rankgauge.io.faults import Faults
from rankgauge.io.formats import delimited, question_log
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.named_columns import normalize_name
from rankgauge.io.matching import MATCH_KEY, LabelSet, own_rules, read_label_set
from rankgauge.io.read import SourceRows, build_qrels
from rankgauge.io.reading_options import DEFAULT_READING
from rankgauge.io.text_checks import check_text
from rankgauge.measures.aggregates import WEIGHT, checked_weights
from rankgauge.rag.scoring import QueryJudgments, case_qrels

AnyCases = str | Path | Iterable[Mapping[str, Any]]
CASES_SOURCE = "test cases"


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
    labels: LabelSet | None = None  # if some cases have a rule by which their labels are matched with results


def read_cases(test_cases: AnyCases) -> Cases:
    """Read test cases from a JSON Lines, JSON or CSV file, or from dicts."""
    source, data, title = case_data(test_cases)
    faults = Faults(source)
    cases_log = question_log.load(faults, data)
    labels = None
    if MATCH_KEY in cases_log.records.names:
        label_set = read_label_set(source, data, title, DEFAULT_READING)
        labels = label_set if own_rules(label_set.judgments) is not None else None
    if labels is None:
        rows = cases_log.qrels_rows(faults)
        faults.raise_errors()
        qrels = build_qrels(SourceRows(rows, faults), name=title)
    else:
        qrels = labels.judgments
    texts = cases_log.texts()
    text_key = cases_log.keys.get("text")
    columns = {name: dict(values) for name, values in cases_log.columns().items() if name != text_key}
    cases = []
    fields = cases_log.case_fields()
    for key, row in cases_log.first_rows.items():
        query_id = key.decode("utf-8", "surrogateescape")
        line = int(cases_log.records.line[row]) or None
        if key not in texts:
            raise InputError.at(
                faults.source, line, "expected the text of a query, found none", hint='write {"query": "…"}'
            )
        own_k = _check_case_k(faults.source, line, columns.get("k", {}).get(query_id))
        cases.append(Case(query_id, texts[key], own_k, fields[query_id]))
    if WEIGHT in columns:
        checked_weights([columns[WEIGHT].get(case.id, np.nan) for case in cases])
    has_id_key = normalize_name(cases_log.keys.get("relevant", "")) not in map(
        normalize_name, question_log.KEYS["relevant"][1]
    )
    judgments = _judgments(cases_log, qrels, cases, has_own_rules=labels is not None)
    return Cases(cases, judgments, columns, faults.source, has_id_key, labels)


class CaseData(NamedTuple):
    """Test cases as JSON, with the names of their source and of their judgments."""

    source: str
    data: bytes
    title: str


def case_data(test_cases: AnyCases) -> CaseData:
    """Test cases in a file or in dicts, as JSON; the rows of a table become lines."""
    if not isinstance(test_cases, (str, Path, LoadedFile)):
        return CaseData(CASES_SOURCE, _json_lines(enumerate(_check_dicts(test_cases), 1)), CASES_SOURCE)
    data, _ = read_bytes(test_cases)
    faults, head = Faults(str(test_cases)), Head(data)
    if not head.is_json:
        data = _json_lines(csv_records(faults, check_text(faults, data), head))
    return CaseData(faults.source, data, source_name(test_cases))


def case_labels(test_cases: AnyCases) -> tuple[Qrels, dict[str, str]]:
    """The judgments of test cases, with their columns, and the text of each query."""
    cases = read_cases(test_cases)
    name = source_name(test_cases) if isinstance(test_cases, (str, Path)) else CASES_SOURCE
    judgments = case_qrels(cases.judgments, columns=cases.columns)
    return replace(judgments, name=name), {case.id: case.query for case in cases.cases}


def _judgments(
    cases_log: question_log.Log, qrels: Qrels, cases: Sequence[Case], *, has_own_rules: bool
) -> dict[str, QueryJudgments]:
    """The judgments of each case: relevant are the ids that it lists, or else those with a grade above 0."""
    grades: dict[str, dict[str, float]] = {case.id: {} for case in cases}
    query_ids = qrels.queries.to_text()
    for query, doc, grade in zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades.tolist(), strict=True):
        grades[query_ids[query]][doc] = grade
    relevant = {query: [doc for doc, grade in docs.items() if grade > 0] for query, docs in grades.items()}
    relevant_key = cases_log.keys.get("relevant")
    if relevant_key is not None and "grades" in cases_log.keys and not has_own_rules:
        records = cases_log.records.records
        with_list = {
            row: query for row, query in cases_log.queries.items() if records[row].get(relevant_key) is not None
        }
        keys = {role: key for role, key in cases_log.keys.items() if role != "grades"}
        rows = replace(cases_log, keys=keys, queries=with_list).qrels_rows(Faults(CASES_SOURCE))
        relevant.update({query.decode("utf-8", "surrogateescape"): [] for query in with_list.values()})
        for query_id, doc in zip(rows.query.to_text(), rows.doc.to_text(), strict=True):
            relevant[query_id].append(doc)
    return {query: QueryJudgments(relevant[query], docs) for query, docs in grades.items()}


def _check_case_k(source: str, line: int | None, value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError.at(source, line, f"expected a whole number of at least 1 as k, found {shown(repr(value))}")
    return value


def _check_dicts(test_cases: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    hint = 'test cases are a file, or a list of {"query": "…", "relevant_ids": ["…"]}'
    if isinstance(test_cases, (Mapping, bytes)) or not isinstance(test_cases, Iterable):
        raise InputTypeError(f"{CASES_SOURCE}: expected a list of dicts, found {type(test_cases).__name__}", hint=hint)
    cases = list(test_cases)
    for number, case in enumerate(cases, 1):
        if not isinstance(case, Mapping):
            raise InputTypeError(f"{CASES_SOURCE}:{number}: expected a dict, found {type(case).__name__}", hint=hint)
    if not cases:
        raise InputError("there are no test cases", hint=hint)
    return cases


def _json_lines(records: Iterable[tuple[int, Mapping[str, Any]]]) -> bytes:
    """Records as JSON Lines, each on its original line, so that errors name that line."""
    lines: dict[int, str] = {}
    for line, record in records:
        try:
            lines[line] = json.dumps(dict(record), default=_json_value)
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"{CASES_SOURCE}:{line}: {error}") from None
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1)).encode()


def _json_value(value: object) -> Any:
    """A JSON value for the types that JSON lacks and that are common in dicts."""
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value) if not isinstance(value, tuple) else list(value)
    if isinstance(value, (UUID, Path)):
        return str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"expected text, numbers, lists and dicts, found {type(value).__name__}: {shown(repr(value))}")


# Test cases in CSV: one row per query, with all relevant ids in one cell.
#
# Ids are separated by one of ``;``, ``|`` and ``,``, the same one in the whole column. Ids that contain one of these
# are written as a JSON list: ``["a;b", "c"]``.

ID_SEPARATORS = (";", "|", ",")
NUMBERS = {"k": int, WEIGHT: float}


def csv_records(faults: Faults, data: bytes, head: Head) -> list[tuple[int, dict[str, Any]]]:
    """The rows under a header as records, with their lines; an empty cell is absent."""
    cells = delimited.with_header(delimited.split_cells(faults, data, delimited.delimiter_of(head.line)))
    faults.raise_errors()
    lines = cells.line.tolist()
    records: list[dict[str, Any]] = [{} for _ in lines]
    for name, column in zip(cells.names, cells.cells, strict=True):
        texts = [text.strip() for text in column.to_text()]
        role = _role(name)
        separator = _id_separator(faults.source, name, lines, texts) if role == "relevant" else None
        for line, record, text in zip(lines, records, texts, strict=True):
            if role == "relevant":
                record[name] = _ids(faults.source, line, text, separator)
            elif text:
                record[name] = _json_or_text(text) if role == "grades" else _number_or_text(text, role)
    return list(zip(lines, records, strict=True))


def _id_separator(source: str, name: str, lines: Sequence[int], texts: Sequence[str]) -> str | None:
    """The character that separates the ids of a column; None if no cell has one."""
    first_line: dict[str, int] = {}
    for line, text in zip(lines, texts, strict=True):
        if _is_json(text):
            continue
        for mark in ID_SEPARATORS:
            if mark in text:
                first_line.setdefault(mark, line)
    if len(first_line) > 1:
        (mark, line), (other, other_line) = sorted(first_line.items(), key=lambda item: item[1])[:2]
        raise InputError.at(
            source,
            other_line,
            f"expected one separator of ids in {shown(name)}, found {other!r}, and {mark!r} on line {line}",
            hint='write ids that contain ";", "|" or "," as a JSON list: ["a;b", "c"]',
        )
    return next(iter(first_line), None)


def _ids(source: str, line: int, text: str, separator: str | None) -> Any:
    if _is_json(text):
        ids = _json_or_text(text)
        if isinstance(ids, str):
            raise InputError.at(source, line, f"expected a JSON list of ids, found {shown(text)}")
        return ids
    return [part.strip() for part in text.split(separator) if part.strip()] if separator else [text] if text else []


def _is_json(text: str) -> bool:
    return text.startswith(("[", "{"))


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _number_or_text(text: str, role: str | None) -> Any:
    try:
        return NUMBERS[role](text) if role in NUMBERS else text
    except ValueError:
        return text


def _role(name: str) -> str | None:
    """What a column holds, by its name."""
    normalized = normalize_name(name)
    if normalized == WEIGHT:
        return WEIGHT
    roles = ("relevant", "grades", "k")
    return next(
        (
            role
            for role in roles
            for tier in question_log.KEYS[role]
            for key in tier
            if normalized == normalize_name(key)
        ),
        None,
    )


# Test cases whose gold is text: quotes are not ids, and scored as ids they would silently be worth 0.

MIN_SENTENCE = 5  # words from which a value is a sentence, even if ids have white space
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
