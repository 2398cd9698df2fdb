"""Test cases in CSV: one row per query, with all relevant ids in one cell.

Ids are separated by one of ``;``, ``|`` and ``,``, the same one in the whole column. Ids that contain one of these are
written as a JSON list: ``["a;b", "c"]``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import delimited, log
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.names import normalize_name
from rankgauge.measures.weights import WEIGHT

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
        (role for role in roles for tier in log.KEYS[role] for key in tier if normalized == normalize_name(key)), None
    )
