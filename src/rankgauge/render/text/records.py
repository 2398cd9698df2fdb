"""One row per value, for programs: CSV and JSON Lines with full precision."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

from rankgauge.io.formats.formulas import guard_formula
from rankgauge.io.text import json_text

Value = str | int | float | None
Record = dict[str, Value]


def as_csv(fields: Sequence[str], records: Iterable[Record]) -> str:
    """A header and one line per record; a field that a record does not have is empty.

    A text that a spreadsheet would run as a formula gets a ``'`` before it; numbers stay numbers.
    """
    lines = _CsvLines()
    writer = csv.writer(lines)
    writer.writerow(fields)
    writer.writerows([_exact(record.get(field)) for field in fields] for record in records)
    return "".join(lines.kept)


class _CsvLines:
    r"""The lines that csv writes. It quotes a carriage return only if lines end in ``\r\n``; these end in ``\n``."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def write(self, line: str) -> None:
        self.kept.append(line.removesuffix("\r\n") + "\n")


def _exact(value: Value) -> str:
    """The shortest text that reads back as the same number."""
    return "" if value is None else guard_formula(value) if isinstance(value, str) else repr(value)


def as_jsonl(fields: Sequence[str], records: Iterable[Record]) -> str:
    """One object per record, all with the same keys; null for a field that a record does not have."""
    return "".join(json_text({field: record.get(field) for field in fields}) + "\n" for record in records)
