"""JSON that rankgauge itself wrote, read back: one strict loader for manifests, baselines, journals, indexes, caches.

Such a file may be damaged, or made by somebody else. Repeated keys, numbers that no writer of ours produces, deep
nesting and more than the maximum size are errors, as is any value that differs from its declared shape. A schema is a
name and a version, as in ``rankgauge.manifest/2``; another version is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.errors import InputError, other_version, printable, shown
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, read_bytes
from rankgauge.io.formats.json_text import JsonLimitError, decode_json, reject_constant, unique_keys
from rankgauge.io.text_checks import has_lone_surrogate

MAX_RECORD_BYTES = 1 << 30
MAX_DEPTH = 64
MAX_INTEGER = 2**63


class JsonDocument:
    """A JSON object with a schema. What is missing or has another type is an error that names its path."""

    def __init__(self, source: str, data: dict[str, Any], *, hint: str) -> None:
        self.source, self.data, self.hint = source, data, hint

    def check_schema(self, schema: str, path: str = "schema") -> None:
        """Raise if the schema at a path is another one, or another version of this one."""
        found_schema = self.value(path, str)
        if found_schema == schema:
            return
        name, _, version = schema.partition("/")
        found_name, _, found_version = found_schema.partition("/")
        if found_name == name:
            raise other_version(self.source, name, found_version, version, self.hint)
        raise self.error(path, f"the schema {schema}", shown(found_schema))

    def check_shape(self, shape: Shape) -> None:
        """Raise if the document has another shape."""
        misfit = first_misfit(self.data, shape)
        if misfit is not None:
            raise self.error(misfit.path, misfit.expected, misfit.found)

    def value(self, path: str, kind: type, *, within: dict[str, Any] | None = None, prefix: str = "") -> Any:
        """The value at a dotted path, of the type it must have; ``prefix`` is the path of the object ``within``."""
        value: Any = self.data if within is None else within
        for key in path.split("."):
            if not isinstance(value, dict) or key not in value:
                raise self.error(prefix + path, JSON_TYPE_NAMES[kind], "nothing")
            value = value[key]
        if not has_type(value, kind):
            raise self.error(prefix + path, JSON_TYPE_NAMES[kind], described(value))
        return value

    def error(self, path: str, expected: str, found: str) -> InputError:
        """An error that names a path of the document."""
        return InputError.at(self.source, None, f"expected {expected} at {path}, found {found}", hint=self.hint)


def read_document(
    path: str | Path, schema: str, *, hint: str, shape: Shape = dict, limits: Limits = DEFAULT_LIMITS
) -> dict[str, Any]:
    """The object in a JSON file of a schema; raises if it is not JSON, or has another schema or shape."""
    data, _ = read_bytes(path, limits=limits)
    document = JsonDocument(str(path), parse_object(str(path), data, hint=hint), hint=hint)
    document.check_schema(schema)
    document.check_shape(shape)
    return document.data


def parse_object(source: str, data: bytes, *, hint: str | None = None) -> dict[str, Any]:
    """A JSON object as dicts all the way down; raises if it is not an object or exceeds a limit."""
    value = parse_record(source, None, data, hint=hint)
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else shown(json.dumps(value))
        raise InputError.at(source, None, f"expected a JSON object, found {kind}", hint=hint)
    return value


def parse_record(
    source: str, line: int | None, data: bytes, *, shape: Shape | None = None, hint: str | None = None
) -> Any:
    """A JSON value of our own as plain dicts and lists, of a shape if there is one."""
    if len(data) > MAX_RECORD_BYTES:
        raise InputError.at(source, line, f"JSON of more than {MAX_RECORD_BYTES} bytes", hint=hint)
    value = decode_json(source, line, data.decode("utf-8", "surrogateescape"), _DECODER, hint=hint)
    problem = _problem(value, has_escapes=b"\\u" in data)
    if problem is not None:
        raise InputError.at(source, line, problem, hint=hint)
    misfit = None if shape is None else first_misfit(value, shape)
    if misfit is not None:
        where = f" at {misfit.path}" if misfit.path else ""
        raise InputError.at(source, line, f"expected {misfit.expected}{where}, found {misfit.found}", hint=hint)
    return value


def _problem(value: Any, *, has_escapes: bool) -> str | None:
    """What no writer of ours produces: deep nesting, or a text that cannot be encoded; found without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        texts = [item for item in level if isinstance(item, str)] if has_escapes else []
        objects = [item for item in level if isinstance(item, dict)]
        texts += [key for item in objects for key in item] if has_escapes else []
        bad_text = next((text for text in texts if has_lone_surrogate(text)), None)
        if bad_text is not None:
            return f"expected Unicode text, found {shown(bad_text)}"
        level = [inner for item in level if isinstance(item, list) for inner in item]
        level += [inner for item in objects for inner in item.values()]
        if not level:
            return None
    return "JSON is nested too deeply"


def _integer(text: str) -> int:
    if len(text) > len(str(MAX_INTEGER)) + 1 or abs(int(text)) > MAX_INTEGER:
        raise JsonLimitError(f"expected whole numbers up to 2^63, found {shown(text)}")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise JsonLimitError(f"expected finite numbers, found {shown(text)}")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=unique_keys, parse_constant=reject_constant, parse_int=_integer, parse_float=_float
)

# What a JSON value must look like: types, keys and limits, declared once per file that rankgauge writes.
#
# str, int, float, bool, dict, list   a value of this type; a whole number is a float, too; true is not a number
# (str, bool)                         a value of one of these types
# [shape]                             a list of such values
# {"name": shape, "other?": shape}    an object with these keys, and perhaps others; ``?`` marks one that may be missing
# MapOf(shape), Maybe(shape)          an object with any keys; a value or null
# Matching("a path", accepts)         a string that a function accepts; ``MapOf(shape, keys=Matching(…))`` limits keys
# AtMost(1000)                        a whole number from 0 to a limit
# Between(-1, 1)                      a number within limits

JSON_TYPE_NAMES: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}
Shape = Any


@dataclass(frozen=True)
class Maybe:
    """A value or null."""

    shape: Shape


@dataclass(frozen=True)
class Matching:
    """A string that a function accepts."""

    expected: str
    accepts: Callable[[str], bool]


@dataclass(frozen=True)
class MapOf:
    """An object with any keys."""

    shape: Shape
    keys: Matching | None = None


@dataclass(frozen=True)
class AtMost:
    """A whole number from 0 to a limit."""

    limit: int


@dataclass(frozen=True)
class Between:
    """A number within limits."""

    low: float
    high: float


@dataclass(frozen=True)
class Misfit:
    """Where a value differs from its shape, what was expected there, and what was found."""

    path: str
    expected: str
    found: str


def first_misfit(value: Any, shape: Shape, path: str = "") -> Misfit | None:
    """The first place where a value differs from its shape; None if it has that shape."""
    return next(_misfits(value, shape, path), None)


def _misfits(value: Any, shape: Shape, path: str) -> Iterator[Misfit]:
    if isinstance(shape, Maybe):
        if value is not None:
            yield from _misfits(value, shape.shape, path)
    elif isinstance(shape, tuple):
        if all(first_misfit(value, choice) for choice in shape):
            yield Misfit(path, " or ".join(JSON_TYPE_NAMES[choice] for choice in shape), described(value))
    elif isinstance(shape, type):
        if not has_type(value, shape):
            yield Misfit(path, JSON_TYPE_NAMES[shape], described(value))
    elif isinstance(shape, Matching):
        if not isinstance(value, str) or not shape.accepts(value):
            yield Misfit(path, shape.expected, described(value))
    elif isinstance(shape, AtMost):
        if not has_type(value, int) or not 0 <= value <= shape.limit:
            yield Misfit(path, f"a whole number from 0 to {shape.limit}", described(value))
    elif isinstance(shape, Between):
        if not has_type(value, float) or not shape.low <= value <= shape.high:
            yield Misfit(path, f"a number from {shape.low:g} to {shape.high:g}", described(value))
    elif isinstance(shape, list):
        yield from _misfits(value, list, path)
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _misfits(item, shape[0], f"{path}[{index}]")
    else:
        yield from _object_misfits(value, shape, path)


def _object_misfits(value: Any, shape: Shape, path: str) -> Iterator[Misfit]:
    yield from _misfits(value, dict, path)
    members = value if isinstance(value, dict) else {}
    if isinstance(shape, MapOf):
        for key, item in members.items():
            if shape.keys is not None and not shape.keys.accepts(key):
                yield Misfit(_inner(path, key), shape.keys.expected, shown(key))
            yield from _misfits(item, shape.shape, _inner(path, key))
        return
    for name, inner_shape in shape.items():
        key = name.removesuffix("?")
        if key in members:
            yield from _misfits(members[key], inner_shape, _inner(path, key))
        elif key == name:
            yield Misfit(_inner(path, key), "a value", "nothing")


def has_type(value: Any, kind: type) -> bool:
    """Whether a JSON value has a type; true and false are not numbers."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def described(value: Any) -> str:
    """A JSON value for a message."""
    if isinstance(value, (dict, list)):
        return JSON_TYPE_NAMES[type(value)]
    return shown(json.dumps(value))


def _inner(path: str, key: str) -> str:
    return f"{path}.{printable(key)}" if path else printable(key)


def number_to_json(value: float) -> float | str | None:
    """A number for JSON of our own; null for NaN, and text for an infinite one, which JSON does not have."""
    return None if math.isnan(value) else value if math.isfinite(value) else "inf" if value > 0 else "-inf"


def stored_number(value: float | str | None) -> float:
    """The number that ``number_to_json`` wrote; raises if it is another text."""
    if isinstance(value, str) and value not in ("inf", "-inf"):
        raise InputError(f"expected a number, found {shown(value)}")
    return math.nan if value is None else float(value)
