"""Test cases: a query, the ids that it should retrieve, and other columns.

{"query": "reset 2FA?", "relevant_ids": ["kb-104"], "grades": {"kb-104": 3}, "category": "auth", "topK": 5}

They are read like the judgments of a log: the same keys, the same checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.io.byte_streams import read_bytes, source_name
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import log
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.names import normalize_name
from rankgauge.io.read import SourceRows, build_qrels
from rankgauge.io.text import check_text
from rankgauge.measures.weights import WEIGHT, checked_weights
from rankgauge.rag.csv_cases import csv_records
from rankgauge.rag.scoring import QueryJudgments

AnyCases = str | Path | Iterable[Mapping[str, Any]]
CASES_SOURCE = "test cases"


@dataclass(frozen=True)
class Case:
    """A query, and its own k if it has one."""

    id: str
    query: str
    k: int | None = None


@dataclass(frozen=True)
class Cases:
    """Test cases in the order of the input, with the judgments and the other columns of each query."""

    cases: Sequence[Case]
    judgments: Mapping[str, QueryJudgments]
    columns: Mapping[str, Mapping[str, Any]]
    source: str = field(default=CASES_SOURCE, compare=False)
    has_id_key: bool = True  # whether the key of the relevant documents says that they are ids


def read_cases(test_cases: AnyCases) -> Cases:
    """Read test cases from a JSON Lines, JSON or CSV file, or from dicts."""
    if isinstance(test_cases, (str, Path)):
        data, _ = read_bytes(test_cases)
        faults, title = Faults(str(test_cases)), source_name(test_cases)
        head = Head(data)
        if not head.is_json:
            data = _json_lines(csv_records(faults, check_text(faults, data), head))
    else:
        faults, title = Faults(CASES_SOURCE), CASES_SOURCE
        data = _json_lines(enumerate(_check_dicts(test_cases), 1))
    cases_log = log.load(faults, data)
    rows = cases_log.qrels_rows(faults)
    faults.raise_errors()
    qrels = build_qrels(SourceRows(rows, faults), name=title)
    texts = cases_log.texts()
    text_key = cases_log.keys.get("text")
    columns = {name: dict(values) for name, values in cases_log.columns().items() if name != text_key}
    cases = []
    for row, key in cases_log.queries.items():
        query_id = key.decode("utf-8", "surrogateescape")
        line = int(cases_log.records.line[row]) or None
        if key not in texts:
            raise InputError.at(
                faults.source, line, "expected the text of a query, found none", hint='write {"query": "…"}'
            )
        cases.append(Case(query_id, texts[key], _check_case_k(faults.source, line, columns.get("k", {}).get(query_id))))
    if WEIGHT in columns:
        checked_weights([columns[WEIGHT].get(case.id, np.nan) for case in cases])
    has_id_key = normalize_name(cases_log.keys.get("relevant", "")) not in map(normalize_name, log.KEYS["relevant"][1])
    return Cases(cases, _judgments(cases_log, qrels, cases), columns, faults.source, has_id_key)


def _judgments(cases_log: log.Log, qrels: Qrels, cases: Sequence[Case]) -> dict[str, QueryJudgments]:
    """The judgments of each case: relevant are the ids that it lists, or else those with a grade above 0."""
    grades: dict[str, dict[str, float]] = {case.id: {} for case in cases}
    query_ids = qrels.queries.to_text()
    for query, doc, grade in zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades.tolist(), strict=True):
        grades[query_ids[query]][doc] = grade
    relevant = {query: [doc for doc, grade in docs.items() if grade > 0] for query, docs in grades.items()}
    relevant_key = cases_log.keys.get("relevant")
    if relevant_key is not None and "grades" in cases_log.keys:
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
