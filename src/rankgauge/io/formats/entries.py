"""The documents of a query in JSON: ids with numbers, in any of the usual structures.

{"d1": 2.5, "d2": 1}                    an object
["d1", "d2"]                            ids, best first
[["d1", 2.5], ["d2", 1]]                pairs
[{"id": "d1", "score": 2.5}, …]         objects
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import LARGEST_GRADE
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import grades_within_limits, report_infinite_scores
from rankgauge.io.formats.json_records import describe_json, id_from_json, number_from_json
from rankgauge.io.formats.jsontext import JsonPairs
from rankgauge.io.formats.names import Kind, columns_for

Entry = tuple[object, object]  # an id and its number, or NO_NUMBER if only the order matters
NO_NUMBER = object()  # not None: a null in place of a number is an error
ID_KEYS = ("id", "_id")
STRUCTURES = "a list of ids, of [id, number] pairs or of objects with an id, or an object of ids and numbers"


class StructureError(Exception):
    """A structure that is none of these; the text says what was found."""


def read_entries(value: Any, kind: Kind) -> list[Entry]:
    """The entries of one query; raises :class:`StructureError`."""
    if isinstance(value, JsonPairs):
        return list(value)
    if not isinstance(value, list):
        raise StructureError(describe_json(value))
    entries = [_read_entry(item, kind) for item in value]
    numbered = sum(number is not NO_NUMBER for _, number in entries)
    if numbered not in (0, len(entries)):
        raise StructureError(f"a list in which {numbered} of {len(entries)} have a number")
    return entries


def _read_entry(item: Any, kind: Kind) -> Entry:
    if isinstance(item, JsonPairs):
        keys = item.names()
        id_keys = [key for key in ID_KEYS if key in keys] or columns_for(keys, "doc")
        number_keys = columns_for(keys, "score" if kind == "run" else "grade")
        if len(id_keys) != 1 or len(number_keys) > 1 or len(set(keys)) != len(keys):
            raise StructureError(f"an object with the keys {', '.join(shown(key) for key in keys[:12])}")
        values = dict(item)
        return values[id_keys[0]], (values[number_keys[0]] if number_keys else NO_NUMBER)
    if isinstance(item, list):
        if len(item) != 2:
            raise StructureError(f"a list of {len(item)} in the list")
        return item[0], item[1]
    return item, NO_NUMBER


class EntryRows:
    """Rows collected query by query, each with its entries."""

    def __init__(self, faults: Faults, kind: Kind) -> None:
        self.faults, self.kind = faults, kind
        self.queries: list[tuple[int, bytes, int]] = []  # line, id and number of rows
        self.docs: list[object] = []
        self.values = array("d")
        self.empty: list[bytes] = []

    def add(self, line: int, query: bytes, entries: Sequence[Entry]) -> None:
        """Add the entries of one query. Those without numbers are in order (a run) or relevant (judgments)."""
        before = len(self.docs)
        if not entries:
            self.empty.append(query)
        elif not self._add_plain(entries):
            self._add_any(line, query, entries)
        self.queries.append((line, query, len(self.docs) - before))

    def _add_plain(self, entries: Sequence[Entry]) -> bool:
        """Add entries if all of them are ASCII texts with numbers; otherwise nothing."""
        docs, numbers = zip(*entries, strict=True)
        try:
            text = "".join(docs)
            values = array("d", numbers)
        except (TypeError, OverflowError):
            return False
        if not text.isascii() or "\0" in text or not all(docs):
            return False
        if self.kind == "qrels" and any(abs(value) > LARGEST_GRADE for value in values):
            return False  # reported one by one, in order
        self.docs += docs
        self.values += values
        return True

    def _add_any(self, line: int, query: bytes, entries: Sequence[Entry]) -> None:
        what = "score" if self.kind == "run" else "grade"
        for position, (doc, number) in enumerate(entries):
            try:
                doc_id = id_from_json(doc, "document id")
            except InputError:
                expected = "a string or a whole number as document id"
                self.faults.add("id", [line], expected=expected, found=f"{describe_json(doc)} for query {shown(query)}")
                continue
            if number is NO_NUMBER:
                value: float | None = len(entries) - position if self.kind == "run" else 1
            else:
                value = number_from_json(number)
            if value is None:
                found = f"{describe_json(number)} for document {shown(doc_id)} of query {shown(query)}"
                self.faults.add(what, [line], expected=f"a number as {what}", found=found)
                continue
            if self.kind == "qrels" and not grades_within_limits(
                self.faults, np.array([value]), np.array([line]), Ids.from_bytes([query]), Ids.from_bytes([doc_id])
            ):
                continue
            self.docs.append(doc_id)
            self.values.append(value)

    def batch(self) -> Batch:
        """The rows, without those that cannot be read."""
        numbers = np.repeat(np.arange(len(self.queries)), np.array([rows for *_, rows in self.queries], dtype=np.int64))
        return entries_to_batch(
            self.faults,
            self.kind,
            np.array([line for line, *_ in self.queries], dtype=np.int64)[numbers],
            Ids.from_bytes([query for _, query, _ in self.queries]).take(numbers),
            Ids.from_text(self.docs, "document id"),
            np.array(self.values, dtype=np.float64),
            tuple(self.empty),
        )


def entries_to_batch(
    faults: Faults, kind: Kind, line: Ints, query: Ids, doc: Ids, value: Floats, empty: tuple[bytes, ...]
) -> Batch:
    """The rows of entries, with a fault or a warning for numbers out of range."""
    rows = Batch(line, query, doc, value, empty=empty)
    if kind == "run":
        report_infinite_scores(faults, value, line, query, doc)
        return rows
    return rows.select(grades_within_limits(faults, value, line, query, doc))
