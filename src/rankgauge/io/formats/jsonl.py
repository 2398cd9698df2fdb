"""JSON Lines: one object a line (or one array of objects), columns by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, Ints, encode_id
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import rows_of
from rankgauge.io.formats.jsontext import Pairs, parse
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.rows import Rows
from rankgauge.io.text import checked

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Records:
    """Objects with what their keys hold, as a table. A missing key is as a null."""

    line: Ints
    records: Sequence[Record]

    @property
    def names(self) -> Sequence[str]:
        """Every key that some object has."""
        return list(dict.fromkeys(key for record in self.records for key in record))

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids: strings, or whole numbers, which become their digits."""
        out: list[bytes] = []
        for line, record in zip(self.line.tolist(), self.records, strict=True):
            value = record.get(name)
            try:
                out.append(id_of(value, what))
            except InputError:
                out.append(b"")
                faults.add("id", [line], expected=f"a string or a whole number as {what}", found=said(value))
        return Ids.from_bytes(out)

    def texts(self, name: str) -> Ids:
        """A column of texts; what is neither text nor a number is empty."""
        out = []
        for record in self.records:
            try:
                out.append(id_of(record.get(name), name))
            except InputError:
                out.append(b"")
        return Ids.from_bytes(out)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers; true and false count 1 and 0."""
        values = np.full(len(self.records), np.nan)
        for row, record in enumerate(self.records):
            number = number_of(record.get(name))
            if number is None:
                found = said(record.get(name))
                faults.add(what, [int(self.line[row])], expected=f"a number as {what}", found=found)
            else:
                values[row] = number
        return values


def rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """Judgments or results, one a line."""
    return rows_of(faults, read(faults, data), kind, columns)


def read(faults: Faults, data: bytes) -> Records:
    """The objects of a file. What is no JSON stops the reading; what is no object is a fault."""
    data = checked(faults, data)
    lines: list[int] = []
    records: list[Record] = []
    for line, value in _values(faults, data):
        if isinstance(value, Pairs):
            lines.append(line)
            records.append(value.once(faults.source, line or None))
        else:
            faults.add("record", [line], expected="an object", found=said(value))
    if not records:
        faults.stop()
        raise InputError.at(faults.source, None, "no lines with anything on them")
    return Records(np.array(lines, dtype=np.int64), records)


def _values(faults: Faults, data: bytes) -> Iterator[tuple[int, Any]]:
    """Each value and its line. One at a time: a million of them as pairs is what takes memory here."""
    if data.lstrip()[:1] == b"[":
        yield from ((0, value) for value in parse(faults.source, None, data))
        return
    for number, text in enumerate(data.split(b"\n"), 1):
        if text.strip(b" \t\r"):
            yield number, parse(faults.source, number, text)


def id_of(value: object, what: str) -> bytes:
    """An id out of JSON: a string, or a whole number as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return encode_id(value, what)


def number_of(value: object) -> float | None:
    """A JSON number as a float; None where it is none, or none that a float can hold."""
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def said(value: object) -> str:
    """A JSON value for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, Pairs):
        return "an object"
    return "a list" if isinstance(value, list) else shown(value if isinstance(value, str) else repr(value))
