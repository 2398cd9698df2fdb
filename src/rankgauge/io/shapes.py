"""What a JSON value must look like: types, keys and limits, declared once per file that rankgauge writes.

str, int, float, bool, dict, list   a value of this type; a whole number is a float, too; true is not a number
(str, bool)                         a value of one of these types
[shape]                             a list of such values
{"name": shape, "other?": shape}    an object with these keys, and perhaps others; ``?`` marks one that may be missing
MapOf(shape), Maybe(shape)          an object with any keys; a value or null
Matching("a path", accepts)         a string that a function accepts; ``MapOf(shape, keys=Matching(…))`` limits keys
AtMost(1000)                        a whole number from 0 to a limit
Between(-1, 1)                      a number within limits
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import printable, shown

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
