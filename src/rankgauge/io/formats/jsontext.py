"""JSON, read without losing anything: repeated keys are kept, and what is not JSON is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from rankgauge.errors import InputError, shown
from rankgauge.io.formats.text_blocks import TextBlocks
from rankgauge.io.text import BOM


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
    """The value of a JSON text in UTF-8; objects are dicts, in which the last of several equal keys counts."""
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
_WHITE_SPACE = re.compile(r"[ \t\n\r]*")


class NotJsonError(Exception):
    """A text is not JSON: only the decoder of the whole text says why."""


class JsonItems:
    """The values of an array, or the keys and values of an object, that is the whole text: decoded block by block.

    ``blocks`` has read its first bracket or brace; or more, up to a comma (``has_begun``).
    """

    def __init__(self, blocks: TextBlocks, *, is_object: bool, has_begun: bool = False) -> None:
        self._blocks, self._is_object = blocks, is_object
        self._may_end = not has_begun  # nothing was read yet: the closing bracket may follow at once
        self._is_ended = False  # whether the closing bracket was read

    def __iter__(self) -> Iterator[list[Any]]:
        """The items, block by block; raises :class:`NotJsonError` if the text is not JSON."""
        blocks = self._blocks
        while not self._is_ended:
            if items := self._read():
                yield items
            if not self._is_ended:
                blocks.advance()
        while blocks.used < blocks.size or blocks.advance():
            if blocks.rest().strip(b" \t\n\r"):
                raise NotJsonError
            blocks.used = blocks.size

    def _read(self) -> list[Any]:
        """The items that are complete in the block; the rest is not read."""
        blocks = self._blocks
        text = blocks.rest().decode("utf-8", "surrogateescape")
        items: list[Any] = []
        at = 0
        while not self._is_ended:
            try:
                item, end = self._item(text, at)
            except (ValueError, RecursionError, IndexError):
                if blocks.is_last:
                    raise NotJsonError from None
                break  # or its end is in the next block
            items += item
            at, self._may_end = end, False
        blocks.used += len(text[:at].encode("utf-8", "surrogateescape"))
        return items

    def _item(self, text: str, at: int) -> tuple[list[Any], int]:
        """The item at a place, none if there is the end, and where the next one begins; notes if there is none."""
        closing = "}" if self._is_object else "]"
        at = _skip(text, at)
        if self._may_end and text[at] == closing:
            self._is_ended = True
            return [], at + 1
        key = None
        if self._is_object:
            if text[at] != '"':
                raise ValueError
            key, at = _PAIRS_DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if text[at] != ":":
                raise ValueError
            at = _skip(text, at + 1)
        value, at = _PAIRS_DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] not in (",", closing):
            raise ValueError
        self._is_ended = text[at] == closing
        return [(key, value) if self._is_object else value], at + 1


def _skip(text: str, at: int) -> int:
    """Where the next character is that is not white space."""
    match = _WHITE_SPACE.match(text, at)
    return match.end() if match else at


def parse_whole(blocks: TextBlocks, source: str) -> Any:
    """The value of the whole text, whatever was read of it: the error of one that is not JSON names the line."""
    blocks.stream.rewind()
    return parse_json(source, None, blocks.stream.read().removeprefix(BOM))
