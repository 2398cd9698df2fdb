"""What a story and its queries have in common: JSON in three shapes, keys by any of their names, canonical text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import jsonl as records
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.jsonl import id_of, said
from rankgauge.io.formats.jsontext import Pairs, parse
from rankgauge.io.formats.names import plain


@dataclass(frozen=True)
class Row:
    """An object, and where it stands."""

    source: str
    line: int | None
    record: Mapping[str, Any]

    def keys(self, names: Sequence[str]) -> list[str]:
        """The keys with a value that go by one of the names, the first of these first."""
        order = [plain(name) for name in names]
        found = [key for key, value in self.record.items() if value is not None and plain(key) in order]
        return sorted(found, key=lambda key: order.index(plain(key)))

    def first(self, names: Sequence[str]) -> Any:
        """What stands under the best of the names; None where nothing does."""
        found = self.keys(names)
        return self.record[found[0]] if found else None

    def only(self, names: Sequence[str], what: str) -> Any:
        """The same where a second key would be a contradiction."""
        found = self.keys(names)
        if len(found) > 1:
            raise self.error(f"expected one key for {what}, found {len(found)}: {', '.join(map(shown, found))}")
        return self.record[found[0]] if found else None

    def error(self, message: str, *, hint: str | None = None) -> InputError:
        """An error at this place."""
        return InputError.at(self.source, self.line, message, hint=hint)


def objects(faults: Faults, data: bytes, inner: str) -> tuple[list[Row], Row | None]:
    """The objects of JSON Lines or of an array; or else the one document that holds them under ``inner``."""
    head = Head(data)
    if head.is_array:
        return listed(parse(faults.source, None, head.data[head.begin :]), faults.source), None
    if head.record is not None and plain(inner) not in map(plain, head.record):
        found = records.read(faults, data)
        faults.stop()
        return [
            Row(faults.source, line, record) for line, record in zip(found.line.tolist(), found.records, strict=True)
        ], None
    return [], Row(faults.source, None, mapping(parse(faults.source, None, head.data[head.begin :]), faults.source))


def listed(values: Iterable[Any], source: str) -> list[Row]:
    """A row for each object of a list."""
    out = []
    for number, value in enumerate(values, 1):
        if not isinstance(value, (Mapping, Pairs)):
            raise InputTypeError(f"{source}: expected an object as entry {number}, found {said(value)}")
        out.append(Row(source, None, mapping(value, source)))
    return out


def mapping(value: Mapping[str, Any] | Pairs, source: str) -> Mapping[str, Any]:
    """An object with each key once."""
    return value.once(source, None) if isinstance(value, Pairs) else value


def name_of(value: object, what: str, row: Row) -> str:
    """An id: a string, or a whole number as its digits."""
    try:
        return id_of(value, what).decode("utf-8", "surrogateescape")
    except InputError:
        raise row.error(f"expected a string or a whole number as {what}, found {said(value)}") from None


def canonical(text: str) -> str:
    """A text as it is compared: composed characters (NFC), any white space as one blank, no half characters."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(unicodedata.normalize("NFC", whole).split())
