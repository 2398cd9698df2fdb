"""JSON files that rankgauge itself wrote: read back with their schema, their version and their keys checked.

A schema is a name and a version, as in ``rankgauge.baseline/1``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankgauge.errors import InputError, shown
from rankgauge.io.formats.jsontext import JsonPairs, parse_json
from rankgauge.io.sources import DEFAULT_LIMITS, Limits, read_bytes

JSON_TYPE_NAMES: dict[type, str] = {str: "a string", int: "a whole number", dict: "an object", list: "a list"}


class JsonDocument:
    """A JSON object with a schema. What is missing or has another type is an error that names its path."""

    def __init__(self, source: str, data: dict[str, Any], *, hint: str | None = None) -> None:
        self.source, self.data, self.hint = source, data, hint

    def check_schema(self, schema: str, path: str = "schema") -> None:
        """Raise if the schema at a path is another one, or another version of this one."""
        found_schema = self.value(path, str)
        if found_schema == schema:
            return
        name, _, version = schema.partition("/")
        found_name, _, found_version = found_schema.partition("/")
        if found_name == name:
            raise self.error(path, f"version {version} of the schema {name}", f"version {shown(found_version)}")
        raise self.error(path, f"the schema {schema}", shown(found_schema))

    def check_keys(self, keys: Sequence[str]) -> None:
        """Raise if a key is missing."""
        missing_key = next((key for key in keys if key not in self.data), None)
        if missing_key is not None:
            raise InputError.at(self.source, None, f"expected the field '{missing_key}', found none", hint=self.hint)

    def value(self, path: str, kind: type, *, within: dict[str, Any] | None = None, prefix: str = "") -> Any:
        """The value at a dotted path, of the type it must have; ``prefix`` is the path of the object ``within``."""
        value: Any = self.data if within is None else within
        for key in path.split("."):
            if not isinstance(value, dict) or key not in value:
                raise self.error(prefix + path, JSON_TYPE_NAMES[kind], "nothing")
            value = value[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.error(prefix + path, JSON_TYPE_NAMES[kind], shown(json.dumps(value)))
        return value

    def error(self, path: str, expected: str, found: str) -> InputError:
        """An error that names a path of the document."""
        return InputError.at(self.source, None, f"expected {expected} at {path}, found {found}", hint=self.hint)


def read_document(
    path: str | Path,
    schema: str,
    *,
    keys: Sequence[str] = (),
    hint: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, Any]:
    """The object in a JSON file of a schema; raises if it is not JSON, has another schema, or lacks a key."""
    data, _ = read_bytes(path, limits=limits)
    document = JsonDocument(str(path), parse_object(str(path), data, hint=hint), hint=hint)
    document.check_schema(schema)
    document.check_keys(keys)
    return document.data


def parse_object(source: str, data: bytes, *, hint: str | None = None) -> dict[str, Any]:
    """A JSON object as dicts all the way down; raises if it is not an object or a key appears twice in one."""
    value = parse_json(source, None, data)
    if not isinstance(value, JsonPairs):
        kind = "a list" if isinstance(value, list) else shown(json.dumps(value))
        raise InputError.at(source, None, f"expected a JSON object, found {kind}", hint=hint)
    try:
        plain: dict[str, Any] = _plain(value, source)
    except RecursionError:
        raise InputError.at(source, None, "JSON is nested too deeply", hint=hint) from None
    return plain


def _plain(value: Any, source: str) -> Any:
    if isinstance(value, JsonPairs):
        return {key: _plain(item, source) for key, item in value.to_dict(source, None).items()}
    return [_plain(item, source) for item in value] if isinstance(value, list) else value
