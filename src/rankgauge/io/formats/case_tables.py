"""Test cases in a table: one row per case, or one row per label.

In a cell, ids are separated by one of ``;``, ``|`` and ``,``, the same one in the whole column; or by ``+`` if each of
them is in another cell by itself. Ids that contain one of these are written as a JSON list: ``["a;b", "c"]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankgauge.errors import InputError, Note, shown
from rankgauge.io.faults import Faults
from rankgauge.io.formats.case_keys import (
    KEYS,
    NOUNS,
    is_nothing,
    label_kind,
    names_for,
)
from rankgauge.io.formats.case_lists import CaseRecords
from rankgauge.io.formats.detection import Head
from rankgauge.io.formats.json_text import (
    Record,
    Records,
    as_json,
)
from rankgauge.io.formats.named_columns import Columns, columns_for, normalize_name
from rankgauge.io.text_checks import check_text

ID_SEPARATORS = (";", "|", ",")
WEAK_SEPARATOR = "+"  # if what it separates is in other cells by itself
DOCUMENT = re.compile(rf"(?:{'|'.join(NOUNS)}|memory|memories|filepath)s?(?:id|no|name)?|pid|corpusid|url")
NUMBERS = {"k": int}
LABEL_ROWS = "relevant_ids"


def is_case_header(names: Sequence[str], columns: Columns | None = None) -> bool:
    """Whether a table has test cases: the text of a query, and labels in a column, or neither grades nor scores."""
    if columns and "relevant" in columns:
        return columns["relevant"] in names or "{" in columns["relevant"]
    texts = [name for name in names_for(names, "query") if normalize_name(name) not in ("text", "input")]
    if not texts:
        return False
    if any(label_kind(name) for name in names) or names_for(names, "grades"):
        return not (columns_for(names, "doc") and columns_for(names, "grade"))
    return not any(columns_for(names, role) for role in ("grade", "score", "rank"))


def read_case_table(faults: Faults, data: bytes, head: Head, columns: Columns) -> CaseRecords:
    """The rows of a delimited table below its header; an empty cell is absent."""
    from rankgauge.io.formats import delimited

    text = check_text(faults, data)
    cells = delimited.with_header(delimited.split_cells(faults, text, delimited.delimiter_of(head.line)))
    faults.raise_errors()
    lines = cells.line.tolist()
    records: list[Record] = [{} for _ in lines]
    notes: list[Note] = []
    for name, column in zip(cells.names, cells.cells, strict=True):
        texts = [cell.strip() for cell in column.to_text()]
        role = _cell_role(name, texts, columns)
        is_label = label_kind(name) is not None or name == columns.get("relevant")
        separator = _id_separator(faults.source, name, lines, texts) if role == "ids" else None
        if separator == WEAK_SEPARATOR:
            cell = next(text for text in texts if WEAK_SEPARATOR in text)
            notes.append(
                Note("ids-separated", f"{faults.source}: {shown(cell)} in {shown(name)} is read as several ids")
            )
        for line, record, cell in zip(lines, records, texts, strict=True):
            if role == "ids" and is_label and is_nothing(cell):
                record[name] = cell  # a word, not an id
            elif role == "ids":
                record[name] = _ids_of_cell(faults.source, line, cell, separator)
            elif cell:
                record[name] = _json_or_text(cell) if role == "grades" else _number_or_text(cell, role)
    cases = with_label_rows(faults, Records(cells.line, records), list(cells.names), columns)
    return replace(cases, notes=(*notes, *cases.notes))


def with_label_rows(faults: Faults, table: Records, names: list[str], columns: Columns) -> CaseRecords:
    """The cases of a table; if it has no column of labels, each row is a label: a query and its document."""
    has_labels = "relevant" in columns or any(label_kind(name) for name in names) or bool(names_for(names, "grades"))
    has_results = bool(names_for(names, "retrieved"))
    texts = names_for(names, "query")
    if has_labels or has_results or not texts:
        return CaseRecords(table)
    documents = document_columns(names)
    ids = names_for(names, "id")
    key = documents[0] if len(documents) == 1 else ids[0] if ids and not documents else None
    if key is None:
        return CaseRecords(table)
    text_key = columns.get("query", texts[0])
    id_key = columns.get("id") or (ids[0] if ids and ids[0] != key else text_key)
    cases: dict[Any, tuple[int, Record]] = {}
    for line, record in zip(table.line.tolist(), table.records, strict=True):
        label = record.pop(key, None)
        case = cases.setdefault(record.get(id_key), (line, {**record, LABEL_ROWS: []}))[1]
        case[LABEL_ROWS] += [] if label is None or label in case[LABEL_ROWS] else [label]
    note = Note(
        "label-rows",
        f"{faults.source}: each row is one label: the document in {shown(key)} answers the query in {shown(text_key)}",
    )
    lines = np.array([line for line, _ in cases.values()], dtype=np.int64)
    return CaseRecords(Records(lines, [record for _, record in cases.values()]), (note,))


def document_columns(names: Sequence[str]) -> list[str]:
    """The columns that hold a document, by their names alone."""
    return columns_for(names, "doc") or [name for name in names if DOCUMENT.fullmatch(normalize_name(name))]


# -- cells --------------------------------------------------------------------------------------------------------


def _cell_role(name: str, texts: Sequence[str], columns: Columns) -> str | None:
    """What the cells of a column are: ids, grades as JSON, a number; None if text."""
    if name in columns.values():
        return "ids" if name in (columns.get("relevant"), columns.get("forbidden")) else None
    kind = label_kind(name)
    if kind is not None:
        return None if kind == "bare" and _are_sentences(texts) else "ids"
    normalized = normalize_name(name)
    if normalized in map(normalize_name, KEYS["retrieved"][0]) or names_for([name], "forbidden"):
        return "ids"
    if names_for([name], "grades"):
        return "grades"
    return "k" if names_for([name], "k") else normalized if normalized in NUMBERS else None


def _are_sentences(texts: Sequence[str]) -> bool:
    """Whether cells have text with white space between words: an answer, not ids."""
    parts = (part.strip() for text in texts if not _is_json(text) for part in re.split(r"[;|,]", text))
    return any(len(part.split()) > 1 for part in parts)


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
    if first_line:
        return next(iter(first_line))
    alone = {text for text in texts if text and WEAK_SEPARATOR not in text}
    parts = [part.strip() for text in texts if WEAK_SEPARATOR in text for part in text.split(WEAK_SEPARATOR)]
    return WEAK_SEPARATOR if parts and alone.issuperset(parts) else None


def _ids_of_cell(source: str, line: int, text: str, separator: str | None) -> Any:
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
        return as_json(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _number_or_text(text: str, role: str | None) -> Any:
    try:
        return NUMBERS[role](text) if role in NUMBERS else text
    except ValueError:
        return text
