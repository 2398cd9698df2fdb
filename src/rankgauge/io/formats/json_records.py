"""JSON objects, one per line or in an array, as Python objects: for files of which every key matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, Ints, encode_id
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.jsontext import JsonPairs, parse_json
from rankgauge.io.text import check_text

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Records:
    """Objects as a table: their keys are the columns. A missing key is the same as null."""

    line: Ints
    records: Sequence[Record]

    @property
    def names(self) -> Sequence[str]:
        """Every key of any object."""
        return list(dict.fromkeys(key for record in self.records for key in record))

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids: strings, or whole numbers, which become their digits."""
        ids: list[bytes] = []
        for line, record in zip(self.line.tolist(), self.records, strict=True):
            value = record.get(name)
            try:
                ids.append(id_from_json(value, what))
            except InputError:
                ids.append(b"")
                faults.add("id", [line], expected=f"a string or a whole number as {what}", found=describe_json(value))
        return Ids.from_bytes(ids)

    def texts(self, name: str) -> Ids:
        """A column of texts; a value that is neither a string nor a whole number is empty."""
        texts = []
        for record in self.records:
            try:
                texts.append(id_from_json(record.get(name), name))
            except InputError:
                texts.append(b"")
        return Ids.from_bytes(texts)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers; true and false are 1 and 0."""
        values = np.full(len(self.records), np.nan)
        for row, record in enumerate(self.records):
            number = number_from_json(record.get(name))
            if number is None:
                found = describe_json(record.get(name))
                faults.add(what, [int(self.line[row])], expected=f"a number as {what}", found=found)
            else:
                values[row] = number
        return values


def read_records(faults: Faults, data: bytes) -> Records:
    """The objects of a file. Text that is not JSON is an error at once; a value that is not an object is a fault."""
    data = check_text(faults, data)
    lines: list[int] = []
    records: list[Record] = []
    for number, (line, value) in enumerate(_read_values(faults, data), 1):
        if isinstance(value, JsonPairs):
            lines.append(line)
            records.append(value.to_dict(faults.source, line or None))
        else:
            faults.add("record", [line or number], expected="an object", found=describe_json(value))
    if not records:
        faults.raise_errors()
        raise InputError.at(faults.source, None, "no lines with content")
    return Records(np.array(lines, dtype=np.int64), records)


def _read_values(faults: Faults, data: bytes) -> Iterator[tuple[int, Any]]:
    """Each value and its line, one at a time: a million objects as pairs would take much memory."""
    faults.has_lines = data.lstrip()[:1] != b"["
    if not faults.has_lines:
        yield from ((0, value) for value in parse_json(faults.source, None, data))
        return
    for number, text in enumerate(data.split(b"\n"), 1):
        if text.strip(b" \t\r"):
            yield number, parse_json(faults.source, number, text)


def id_from_json(value: object, what: str) -> bytes:
    """An id from a JSON value: a string, or a whole number as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return encode_id(value, what)


def number_from_json(value: object) -> float | None:
    """A JSON number as a float; None if it is not a number, or too large for a float."""
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def describe_json(value: object) -> str:
    """A JSON value for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, JsonPairs):
        return "an object"
    return "a list" if isinstance(value, list) else shown(value if isinstance(value, str) else repr(value))
