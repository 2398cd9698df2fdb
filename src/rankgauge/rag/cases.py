"""Test cases: a query, the ids that it should find, and what else is known of it.

{"query": "reset 2FA?", "relevant_ids": ["kb-104"], "grades": {"kb-104": 3}, "category": "auth", "topK": 5}

They are read as a log is, of which they are the half that was wanted: the same keys, the same checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import delimited, log
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.names import plain
from rankgauge.io.rows import qrels_of
from rankgauge.io.sources import name_of, read_bytes
from rankgauge.io.text import checked
from rankgauge.measures.weights import WEIGHT, checked_weights
from rankgauge.rag.scoring import Wanted

AnyCases = str | Path | Iterable[Mapping[str, Any]]
SOURCE = "test cases"
SEPARATORS = ("|", ";", ",")


@dataclass(frozen=True)
class Case:
    """A query, and how many results it is asked for where it says so itself."""

    id: str
    query: str
    k: int | None = None


@dataclass(frozen=True)
class Cases:
    """Test cases in the order in which they were given, and what they should find."""

    cases: Sequence[Case]
    wanted: Mapping[str, Wanted]
    columns: Mapping[str, Mapping[str, Any]]


def read_cases(given: AnyCases) -> Cases:
    """Test cases from a JSON Lines, JSON or CSV file, or from dicts."""
    if isinstance(given, (str, Path)):
        data, _ = read_bytes(given)
        faults, title = Faults(str(given)), name_of(given)
        head = Head(data)
        if not head.is_json:
            data = _lines(_csv_records(faults, checked(faults, data), head))
    else:
        faults, title = Faults(SOURCE), SOURCE
        data = _lines(enumerate(_dicts(given), 1))
    found = log.load(faults, data)
    rows = found.qrels_rows(faults)
    faults.stop()
    qrels = qrels_of(rows, name=title)
    texts = found.texts()
    columns = {name: dict(values) for name, values in found.columns().items() if name != found.keys.get("text")}
    cases = []
    for row, key in found.queries.items():
        name = key.decode("utf-8", "surrogateescape")
        line = int(found.records.line[row]) or None
        if key not in texts:
            raise InputError.at(faults.source, line, "expected a query to ask, found none", hint='write {"query": "…"}')
        cases.append(Case(name, texts[key], _k(faults.source, line, columns.get("k", {}).get(name))))
    if WEIGHT in columns:
        checked_weights([columns[WEIGHT].get(case.id, np.nan) for case in cases])
    return Cases(cases, _wanted(found, qrels, cases), columns)


def _wanted(found: log.Log, qrels: Qrels, cases: Sequence[Case]) -> dict[str, Wanted]:
    """What each case should find: the ids that it lists, or else those with a grade above 0."""
    grades: dict[str, dict[str, float]] = {case.id: {} for case in cases}
    names = qrels.queries.to_text()
    for number, doc, grade in zip(qrels.query.tolist(), qrels.docs.to_text(), qrels.grades.tolist(), strict=True):
        grades[names[number]][doc] = grade
    relevant = {query: [doc for doc, grade in docs.items() if grade > 0] for query, docs in grades.items()}
    key = found.keys.get("relevant")
    if key is not None and "grades" in found.keys:
        rows = found.records.records
        listing = {row: query for row, query in found.queries.items() if rows[row].get(key) is not None}
        keys = {role: name for role, name in found.keys.items() if role != "grades"}
        listed = replace(found, keys=keys, queries=listing).qrels_rows(Faults(SOURCE))
        relevant.update({query.decode("utf-8", "surrogateescape"): [] for query in listing.values()})
        for query, doc in zip(listed.query.to_text(), listed.doc.to_text(), strict=True):
            relevant[query].append(doc)
    return {query: Wanted(relevant[query], docs) for query, docs in grades.items()}


def _k(source: str, line: int | None, value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError.at(source, line, f"expected a whole number of at least 1 as k, found {shown(repr(value))}")
    return value


def _dicts(given: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    hint = 'test cases are a file, or a list of {"query": "…", "relevant_ids": ["…"]}'
    if isinstance(given, (Mapping, bytes)) or not isinstance(given, Iterable):
        raise InputTypeError(f"{SOURCE}: expected a list of dicts, found {type(given).__name__}", hint=hint)
    listed = list(given)
    for number, case in enumerate(listed, 1):
        if not isinstance(case, Mapping):
            raise InputTypeError(f"{SOURCE}:{number}: expected a dict, found {type(case).__name__}", hint=hint)
    if not listed:
        raise InputError("there are no test cases", hint=hint)
    return listed


def _lines(records: Iterable[tuple[int, Mapping[str, Any]]]) -> bytes:
    """Records as JSON Lines, each on the line that it came from, so that messages name it."""
    lines: dict[int, str] = {}
    for line, record in records:
        try:
            lines[line] = json.dumps(dict(record), default=_plain)
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"{SOURCE}:{line}: {error}") from None
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1)).encode()


def _plain(value: object) -> Any:
    """What JSON does not know and people have in their dicts."""
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value) if not isinstance(value, tuple) else list(value)
    if isinstance(value, (UUID, Path)):
        return str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"expected texts, numbers, lists and dicts, found {type(value).__name__}: {shown(repr(value))}")


def _csv_records(faults: Faults, data: bytes, head: Head) -> list[tuple[int, dict[str, Any]]]:
    """Rows under a header. A list of ids is separated by |, ; or a comma, or written as JSON."""
    mark = b"\t" if b"\t" in head.line else b";" if b";" in head.line and b"," not in head.line else b","
    cells = delimited.headed(delimited.cut(faults, data, mark))
    faults.stop()
    columns = [column.to_text() for column in cells.cells]
    out = []
    for line, row in zip(cells.line.tolist(), zip(*columns, strict=True), strict=True):
        record = {name: _cell(name, text.strip()) for name, text in zip(cells.names, row, strict=True) if text.strip()}
        for name in cells.names:
            if _is("relevant", name):
                record.setdefault(name, [])
        out.append((line, record))
    return out


def _cell(name: str, text: str) -> Any:
    if text[0] in "[{" and (_is("relevant", name) or _is("grades", name)):
        try:
            return json.loads(text)
        except ValueError:
            return text
    if _is("relevant", name):
        mark = next((mark for mark in SEPARATORS if mark in text), None)
        return [text] if mark is None else [part.strip() for part in text.split(mark) if part.strip()]
    if _is("k", name) or plain(name) == WEIGHT:
        try:
            return int(text) if _is("k", name) else float(text)
        except ValueError:
            return text
    return text


def _is(role: str, name: str) -> bool:
    return any(plain(name) == plain(known) for tier in log.KEYS[role] for known in tier)
