"""What stands beside a query in JSON: ids with numbers, in any of the shapes that people write.

{"d1": 2.5, "d2": 1}                    an object
["d1", "d2"]                            ids, best first
[["d1", 2.5], ["d2", 1]]                pairs
[{"id": "d1", "score": 2.5}, …]         objects
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import graded, note_infinite
from rankgauge.io.formats.jsonl import id_of, number_of, said
from rankgauge.io.formats.jsontext import Pairs
from rankgauge.io.formats.names import Kind, candidates
from rankgauge.io.rows import Rows

Entry = tuple[object, object]  # an id and its number, or ABSENT where the order says it all
ABSENT = object()  # not None: a null where a number must be is an error
ID_KEYS = ("id", "_id")
SHAPES = "a list of ids, of [id, number] pairs or of objects with an id, or an object of ids and numbers"


class Wrong(Exception):
    """A shape that is none of these; the text says what was found."""


def entries(value: Any, kind: Kind) -> list[Entry]:
    """The entries of one query; raises :class:`Wrong`."""
    if isinstance(value, Pairs):
        return list(value)
    if not isinstance(value, list):
        raise Wrong(said(value))
    out = [_entry(item, kind) for item in value]
    scored = sum(number is not ABSENT for _, number in out)
    if scored not in (0, len(out)):
        raise Wrong(f"a list in which {scored} of {len(out)} have a number")
    return out


def _entry(item: Any, kind: Kind) -> Entry:
    if isinstance(item, Pairs):
        keys = item.names()
        ids = [key for key in ID_KEYS if key in keys] or candidates(keys, "doc")
        numbers = candidates(keys, "score" if kind == "run" else "grade")
        if len(ids) != 1 or len(numbers) > 1 or len(set(keys)) != len(keys):
            raise Wrong(f"an object with the keys {', '.join(shown(key) for key in keys[:12])}")
        found = dict(item)
        return found[ids[0]], (found[numbers[0]] if numbers else ABSENT)
    if isinstance(item, list):
        if len(item) != 2:
            raise Wrong(f"a list of {len(item)} in the list")
        return item[0], item[1]
    return item, ABSENT


class Collected:
    """Rows in the making: query by query, each with its entries."""

    def __init__(self, faults: Faults, kind: Kind) -> None:
        self.faults, self.kind = faults, kind
        self.line: list[int] = []
        self.query: list[bytes] = []
        self.doc: list[bytes] = []
        self.value: list[float] = []
        self.empty: list[bytes] = []

    def add(self, line: int, query: bytes, found: Sequence[Entry]) -> None:
        """One query's entries. Those without numbers are ordered (a run) or relevant (judgments)."""
        what = "score" if self.kind == "run" else "grade"
        if not found:
            self.empty.append(query)
        for place, (doc, number) in enumerate(found):
            try:
                name = id_of(doc, "document id")
            except InputError:
                expected = "a string or a whole number as document id"
                self.faults.add("id", [line], expected=expected, found=f"{said(doc)} for query {shown(query)}")
                continue
            if number is ABSENT:
                value: float | None = len(found) - place if self.kind == "run" else 1
            else:
                value = number_of(number)
            if value is None:
                where = f"{said(number)} for document {shown(name)} of query {shown(query)}"
                self.faults.add(what, [line], expected=f"a number as {what}", found=where)
                continue
            self.line.append(line)
            self.query.append(query)
            self.doc.append(name)
            self.value.append(value)

    def rows(self) -> Rows:
        """The rows, those left out that cannot be read."""
        line, value = np.array(self.line, dtype=np.int64), np.array(self.value, dtype=np.float64)
        query, doc = Ids.from_bytes(self.query), Ids.from_bytes(self.doc)
        rows = Rows(self.faults, line, query, doc, value, empty=tuple(self.empty))
        if self.kind == "run":
            note_infinite(self.faults, value, line, query, doc)
            return rows
        return rows.kept(graded(self.faults, value, line, query, doc))
