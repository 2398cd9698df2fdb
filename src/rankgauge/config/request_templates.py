"""Templates of requests: JSON in which ``{query}``, ``{k}`` and ``{vector}`` are replaced for each query.

``{case.tenant}`` is the field ``tenant`` of a test case, of any type. A text that is exactly ``{k}`` becomes the
number, ``{vector}`` the list of numbers, ``{case.turns}`` whatever the case has; within a longer text they are written
out. ``{{`` and ``}}`` are literal braces. ``${NAME}`` is left alone: it belongs to :mod:`.environment`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import UsageError, shown

PLACEHOLDERS = ("query", "k", "vector")
CASE = "case."  # begins the name of a field of a test case
CASE_FIELD = re.compile(r"case\.[A-Za-z_][\w-]*")
_BRACE_HINT = "write {{ and }} for braces themselves"


@dataclass(frozen=True)
class Placeholder:
    """A place in a text that is filled for each query."""

    name: str


Part = str | Placeholder
Parsed = Any  # JSON, with ParsedText and ParsedObject in place of texts and objects


@dataclass(frozen=True)
class ParsedText:
    """A text, in parts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class ParsedObject:
    """The keys and values of an object."""

    items: tuple[tuple[ParsedText, Parsed], ...]


def unchanged(text: str) -> str:
    """The text as it is."""
    return text


class RequestTemplate:
    """JSON with placeholders, parsed once. ``convert`` is applied to the text around placeholders."""

    def __init__(self, value: Any, convert: Callable[[str], str] = unchanged) -> None:
        self._parsed = _parse(value, convert)
        self.placeholders = frozenset(_placeholders(self._parsed))

    @property
    def case_fields(self) -> frozenset[str]:
        """The fields of test cases that are replaced."""
        return frozenset(name.removeprefix(CASE) for name in self.placeholders if name.startswith(CASE))

    def fill(self, values: Mapping[str, Any]) -> Any:
        """The JSON of one request; ``values`` has every placeholder."""
        return _fill(self._parsed, values)


def parse_text(text: str) -> tuple[Part, ...]:
    """Split a text into literal parts and placeholders; an error names the character."""
    parts: list[Part] = []
    literal: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        end = position + 1
        if text.startswith("${", position):
            closing = text.find("}", position)
            end = closing + 1 if closing >= 0 else len(text)
            literal.append(text[position:end])
        elif character in "{}" and text.startswith(character * 2, position):
            literal.append(character)
            end = position + 2
        elif character == "{":
            closing = text.find("}", position)
            name = text[position + 1 : closing] if closing >= 0 else text[position + 1 :]
            if closing < 0 or (name not in PLACEHOLDERS and not CASE_FIELD.fullmatch(name)):
                raise UsageError(_expected(position, "{" + name + ("}" if closing >= 0 else "")), hint=_BRACE_HINT)
            parts += ["".join(literal), Placeholder(name)]
            literal = []
            end = closing + 1
        elif character == "}":
            raise UsageError(_expected(position, "}"), hint=_BRACE_HINT)
        else:
            literal.append(character)
        position = end
    return tuple(part for part in (*parts, "".join(literal)) if part != "") or ("",)


def escape_braces(text: str) -> str:
    """The text that :func:`parse_text` reads as this one, with ``${NAME}`` left alone."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        end = position + 1
        if text.startswith("${", position):
            closing = text.find("}", position)
            end = closing + 1 if closing >= 0 else len(text)
        part = text[position:end]
        parts.append(part * 2 if part in ("{", "}") else part)
        position = end
    return "".join(parts)


def case_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The values of placeholders such as ``case.tenant``, from the fields of a test case."""
    return {f"{CASE}{name}": value for name, value in fields.items()}


def _expected(position: int, found: str) -> str:
    names = ", ".join(f"{{{name}}}" for name in (*PLACEHOLDERS, f"{CASE}FIELD"))
    return f"expected one of {names} at character {position + 1}, found {shown(found)}"


def _parse(value: Any, convert: Callable[[str], str]) -> Parsed:
    if isinstance(value, str):
        return _parse_text(value, convert)
    if isinstance(value, Mapping):
        return ParsedObject(tuple((_parse_text(key, convert), _parse(inner, convert)) for key, inner in value.items()))
    if isinstance(value, list):
        return [_parse(inner, convert) for inner in value]
    return value


def _parse_text(text: str, convert: Callable[[str], str]) -> ParsedText:
    return ParsedText(tuple(convert(part) if isinstance(part, str) else part for part in parse_text(text)))


def _fill(parsed: Parsed, values: Mapping[str, Any]) -> Any:
    if isinstance(parsed, ParsedObject):
        return {_text(key, values): _fill(inner, values) for key, inner in parsed.items}
    if isinstance(parsed, list):
        return [_fill(inner, values) for inner in parsed]
    if not isinstance(parsed, ParsedText):
        return parsed
    if len(parsed.parts) == 1 and isinstance(parsed.parts[0], Placeholder):
        return values[parsed.parts[0].name]
    return _text(parsed, values)


def _text(parsed: ParsedText, values: Mapping[str, Any]) -> str:
    """Parts as one text."""
    texts = []
    for part in parsed.parts:
        value = values[part.name] if isinstance(part, Placeholder) else part
        texts.append(value if isinstance(value, str) else json.dumps(value))
    return "".join(texts)


def _placeholders(parsed: Parsed) -> Iterator[str]:
    if isinstance(parsed, ParsedText):
        yield from (part.name for part in parsed.parts if isinstance(part, Placeholder))
    elif isinstance(parsed, ParsedObject):
        for key, inner in parsed.items:
            yield from _placeholders(key)
            yield from _placeholders(inner)
    elif isinstance(parsed, list):
        for inner in parsed:
            yield from _placeholders(inner)
