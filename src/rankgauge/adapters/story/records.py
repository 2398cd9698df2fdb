"""What a story and its queries have in common: JSON in three shapes, keys with several spellings, canonical text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import json_records
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.json_records import describe_json, id_from_json
from rankgauge.io.formats.jsontext import JsonPairs, parse_json
from rankgauge.io.formats.names import normalize_name


@dataclass(frozen=True)
class SourceRecord:
    """An object, and the place that it comes from."""

    source: str
    line: int | None
    record: Mapping[str, Any]

    def keys(self, names: Sequence[str]) -> list[str]:
        """The keys with a value that are one of the names, in the order of the names."""
        order = [normalize_name(name) for name in names]
        keys = [key for key, value in self.record.items() if value is not None and normalize_name(key) in order]
        return sorted(keys, key=lambda key: order.index(normalize_name(key)))

    def first(self, names: Sequence[str]) -> Any:
        """The value under the first of the names; None if there is none."""
        keys = self.keys(names)
        return self.record[keys[0]] if keys else None

    def only(self, names: Sequence[str], label: str) -> Any:
        """The value under the only one of the names; a second key is an error."""
        keys = self.keys(names)
        if len(keys) > 1:
            raise self.error(f"expected one key for {label}, found {len(keys)}: {', '.join(map(shown, keys))}")
        return self.record[keys[0]] if keys else None

    def error(self, message: str, *, hint: str | None = None) -> InputError:
        """An error at the place of the object."""
        return InputError.at(self.source, self.line, message, hint=hint)


def read_records(faults: Faults, data: bytes, inner_key: str) -> tuple[list[SourceRecord], SourceRecord | None]:
    """The objects of JSON Lines or of an array; or else the one document that has them under ``inner_key``."""
    head = Head(data)
    if head.is_array:
        return records_of(parse_json(faults.source, None, head.data[head.begin :]), faults.source), None
    if head.record is not None and normalize_name(inner_key) not in map(normalize_name, head.record):
        lines = json_records.read_records(faults, data)
        faults.raise_errors()
        return [
            SourceRecord(faults.source, line, record)
            for line, record in zip(lines.line.tolist(), lines.records, strict=True)
        ], None
    document = unique_keys(parse_json(faults.source, None, head.data[head.begin :]), faults.source)
    return [], SourceRecord(faults.source, None, document)


def records_of(values: Iterable[Any], source: str) -> list[SourceRecord]:
    """One record per object of a list."""
    records = []
    for number, value in enumerate(values, 1):
        if not isinstance(value, (Mapping, JsonPairs)):
            raise InputTypeError(f"{source}: expected an object as entry {number}, found {describe_json(value)}")
        records.append(SourceRecord(source, None, unique_keys(value, source)))
    return records


def unique_keys(value: Mapping[str, Any] | JsonPairs, source: str) -> Mapping[str, Any]:
    """An object as a mapping; a key that appears twice is an error."""
    return value.to_dict(source, None) if isinstance(value, JsonPairs) else value


def check_id(value: object, label: str, record: SourceRecord) -> str:
    """Return an id: a string, or a whole number as its digits."""
    try:
        return id_from_json(value, label).decode("utf-8", "surrogateescape")
    except InputError:
        raise record.error(f"expected a string or a whole number as {label}, found {describe_json(value)}") from None


def canonical_text(text: str) -> str:
    """A text as it is compared: composed characters (NFC), any white space as one space, no lone surrogates."""
    valid = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(unicodedata.normalize("NFC", valid).split())
