"""One row a value, for programs: CSV and JSON Lines with every digit."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence

Value = str | int | float | None
Record = dict[str, Value]


def as_csv(fields: Sequence[str], records: Iterable[Record]) -> str:
    """A head and a line a record; what a record does not have is empty."""
    lines = _Lines()
    writer = csv.writer(lines)
    writer.writerow(fields)
    writer.writerows([_exact(record.get(field)) for field in fields] for record in records)
    return "".join(lines.kept)


class _Lines:
    r"""What csv writes to. It quotes a carriage return only where lines end in ``\r\n``; ours end in ``\n``."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def write(self, line: str) -> None:
        self.kept.append(line.removesuffix("\r\n") + "\n")


def _exact(value: Value) -> str:
    """The shortest text that reads back as the same number."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


def as_jsonl(fields: Sequence[str], records: Iterable[Record]) -> str:
    """An object a record, with the same keys in each; null for what it does not have."""
    return "".join(
        json.dumps({field: record.get(field) for field in fields}, ensure_ascii=False, allow_nan=False) + "\n"
        for record in records
    )
