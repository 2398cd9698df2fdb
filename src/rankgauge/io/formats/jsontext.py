"""JSON, read without losing anything: repeated keys are kept, and what is not JSON is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rankgauge.errors import InputError, shown


class JsonLimitError(ValueError):
    """JSON that is valid but not accepted; the text is the whole message."""


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs of an object as a dict; raises :class:`JsonLimitError` if a key appears twice."""
    values = dict(pairs)
    if len(values) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonLimitError(f"expected each key once in an object, found {shown(key)} twice")
            seen.add(key)
    return values


class JsonPairs(list[tuple[str, Any]]):
    """An object as its keys and values: a key that appears twice is there twice."""

    def names(self) -> list[str]:
        """The keys, in order (not called keys, because dict() treats whatever has keys() as a mapping)."""
        return [key for key, _ in self]

    def to_dict(self, source: str, line: int | None) -> dict[str, Any]:
        """The object as a dict; raises if a key appears twice."""
        try:
            return unique_keys(self)
        except JsonLimitError as error:
            raise InputError.at(source, line, str(error)) from None


def parse_json(source: str, line: int | None, data: bytes) -> Any:
    """The value of a JSON text; objects are :class:`JsonPairs`. A line of None means a text of several lines."""
    return decode_json(source, line, data.decode("utf-8", "surrogateescape"), _PAIRS_DECODER)


def read_records_of_lines(source: str, lines: Sequence[int], texts: Sequence[str]) -> list[Any]:
    """The value on each line as :func:`parse_json` gives it, but objects as dicts; a repeated key is an error.

    The usual object is decoded only once. No key is there twice if it has as many colons as keys: each key has one.
    """
    decode = _STRICT_DECODER.raw_decode
    values: list[Any] = []
    for line, text in zip(lines, texts, strict=True):
        plain = text.strip(BLANKS)
        try:
            value, end = decode(plain)
        except (ValueError, RecursionError):
            value, end = None, -1
        if end != len(plain) or type(value) is not dict or len(value) != text.count(":"):
            value = decode_json(source, line or None, text, _PAIRS_DECODER)
            value = value.to_dict(source, line or None) if isinstance(value, JsonPairs) else value
        values.append(value)
    return values


def parse_plain_json(source: str, line: int | None, data: bytes) -> Any:
    """The same with objects as dicts, of which the last of several equal keys counts; the text must be UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError.at(source, line, f"not JSON: {error}") from None
    return decode_json(source, line, text, _PLAIN_DECODER)


def decode_json(source: str, line: int | None, text: str, decoder: json.JSONDecoder, *, hint: str | None = None) -> Any:
    """The value of a JSON text as a decoder makes it; whatever is wrong with it is an error with its line."""
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        may_be_lines = line is None and error.msg == "Extra data"
        raise InputError.at(
            source,
            error.lineno if line is None else line,
            f"not JSON: {error.msg}: {shown(text[error.pos : error.pos + 100])}",
            hint=LINES_HINT if may_be_lines and hint is None else hint,
        ) from None
    except RecursionError:
        raise InputError.at(source, line, "JSON is nested too deeply", hint=hint) from None
    except JsonLimitError as error:
        raise InputError.at(source, line, str(error), hint=hint) from None
    except ValueError as error:
        too_long = "digits" in str(error)  # Python converts no integer of more than 4,300
        problem = "a number has thousands of digits" if too_long else str(error)
        raise InputError.at(source, line, f"not JSON: {problem}", hint=hint) from None


def reject_constant(name: str) -> None:
    """Raise for NaN and the infinities, which Python's decoder accepts."""
    raise ValueError(f"{name} is not a JSON number: leave the document out, or give it a finite number")


BLANKS = " \t\r"  # white space within a line
LINES_HINT = "if it has one object per line: format='jsonl' or 'log', --from"
_PAIRS_DECODER = json.JSONDecoder(object_pairs_hook=JsonPairs, parse_constant=reject_constant)  # made once
_STRICT_DECODER = json.JSONDecoder(parse_constant=reject_constant)
_PLAIN_DECODER = json.JSONDecoder()
