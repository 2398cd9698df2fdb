"""JSON, read and written without losing anything: values, and objects by line.

Repeated keys are kept, and what is not JSON is refused. Ids and numbers have one form each.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.batch import Batch
from rankgauge.core.ids import Ids, Ints, encode_id
from rankgauge.errors import InputError, InputTypeError, rejoined, shown
from rankgauge.io.faults import Faults
from rankgauge.io.formats.text_blocks import TextBlocks
from rankgauge.io.text_checks import BOM, check_text, replace_lone_surrogates


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
    return decode_json(source, line, data.decode("utf-8", "surrogateescape"), pairs_decoder)


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
            value = decode_json(source, line or None, text, pairs_decoder)
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
        start = error.pos + error.msg.startswith("Illegal trailing comma")  # at which Python 3.13 and later point
        before, after = text[:start].rstrip(), text[start:].lstrip()
        if before.endswith(",") and after.startswith(("]", "}")):
            message = f"not JSON: a comma before {after[0]}"
            place = text.count("\n", 0, len(before)) + 1 if line is None else line
            raise InputError.at(source, place, message, hint="remove the comma") from None
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
pairs_decoder = json.JSONDecoder(object_pairs_hook=JsonPairs, parse_constant=reject_constant)  # made once
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
        at = skip_blanks(text, at)
        if self._may_end and text[at] == closing:
            self._is_ended = True
            return [], at + 1
        key = None
        if self._is_object:
            if text[at] != '"':
                raise ValueError
            key, at = pairs_decoder.raw_decode(text, at)
            at = skip_blanks(text, at)
            if text[at] != ":":
                raise ValueError
            at = skip_blanks(text, at + 1)
        value, at = pairs_decoder.raw_decode(text, at)
        at = skip_blanks(text, at)
        if text[at] not in (",", closing):
            raise ValueError
        self._is_ended = text[at] == closing
        return [(key, value) if self._is_object else value], at + 1


def skip_blanks(text: str, at: int) -> int:
    """Where the next character is that is not white space."""
    match = _WHITE_SPACE.match(text, at)
    return match.end() if match else at


def parse_whole(blocks: TextBlocks, source: str) -> Any:
    """The value of the whole text, whatever was read of it: the error of one that is not JSON names the line."""
    blocks.stream.rewind()
    return parse_json(source, None, blocks.stream.read().removeprefix(BOM))


# JSON objects, one per line or in an array, as Python objects: for files of which every key matters.

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Records:
    """Objects as a table: their keys are the columns. A missing key is the same as null."""

    line: Ints
    records: Sequence[Record]

    @cached_property
    def names(self) -> Sequence[str]:
        """Every key of any object."""
        names: dict[str, None] = {}
        for keys in dict.fromkeys(map(tuple, self.records)):  # few objects differ in their keys
            names.update(dict.fromkeys(keys))
        return list(names)

    def take(self, rows: Sequence[int]) -> Records:
        """Some of the objects, in the given order."""
        return Records(self.line[np.array(rows, dtype=np.int64)], [self.records[row] for row in rows])

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids: strings, or whole numbers, which become their digits."""
        ids: list[bytes] = []
        for line, record in zip(self.line.tolist(), self.records, strict=True):
            value = record.get(name)
            try:
                ids.append(id_from_json(value, what))
            except InputError:
                ids.append(b"")
                faults.add("id", [line], expected=f"a string or a whole number as {what}", found=describe_json(value))
        return Ids.from_bytes(ids)

    def texts(self, name: str) -> Ids:
        """A column of texts; a value that is neither a string nor a whole number is empty."""
        texts = []
        for record in self.records:
            try:
                texts.append(id_from_json(record.get(name), name))
            except InputError:
                texts.append(b"")
        return Ids.from_bytes(texts)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers; true and false are 1 and 0."""
        values = np.full(len(self.records), np.nan)
        for row, record in enumerate(self.records):
            number = number_from_json(record.get(name))
            if number is None:
                found = describe_json(record.get(name))
                faults.add(what, [int(self.line[row])], expected=f"a number as {what}", found=found)
            else:
                values[row] = number
        return values


def read_records(faults: Faults, data: bytes) -> Records:
    """The objects of a file. Text that is not JSON is an error at once; a value that is not an object is a fault."""
    data = check_text(faults, data)
    if (plain := _plain_records(faults.source, data)) is not None:
        return plain
    lines: list[int] = []
    records: list[Record] = []
    for number, (line, value) in enumerate(_read_values(faults, data), 1):
        if isinstance(value, JsonPairs):
            lines.append(line)
            records.append(value.to_dict(faults.source, line or None))
        else:
            faults.add("record", [line or number], expected="an object", found=describe_json(value))
    if not records:
        faults.raise_errors()
        raise InputError.at(faults.source, None, "no lines with content")
    return Records(np.array(lines, dtype=np.int64), records)


def _plain_records(source: str, data: bytes) -> Records | None:
    """One object per line, decoded all at once; None if that is not what the text is.

    An object with no other in it and as many colons as keys has no key twice; any other is decoded once more.
    """
    if data[:1] != b"{":
        return None
    texts = data.decode("utf-8", "surrogateescape").split("\n")
    while texts and not texts[-1]:
        texts.pop()
    try:
        records = _STRICT_DECODER.decode(f"[{','.join(texts)}]")
    except (ValueError, RecursionError):
        return None
    if len(records) != len(texts) or set(map(type, records)) != {dict}:
        return None
    if data.count(b"{") != len(records) or data.count(b":") != sum(map(len, records)):
        for row, (text, record) in enumerate(zip(texts, records, strict=True)):
            if text.count("{") != 1 or text.count(":") != len(record):
                records[row] = pairs_decoder.decode(text).to_dict(source, row + 1)
    return Records(np.arange(1, len(texts) + 1), records)


def _read_values(faults: Faults, data: bytes) -> Iterator[tuple[int, Any]]:
    """Each value and its line, one at a time: a million objects as pairs would take much memory."""
    faults.has_lines = data.lstrip()[:1] != b"["
    if not faults.has_lines:
        yield from ((0, value) for value in parse_json(faults.source, None, data))
        return
    for number, text in enumerate(data.split(b"\n"), 1):
        if text.strip(b" \t\r"):
            yield number, parse_json(faults.source, number, text)


def records_of(source: str, rows: Sequence[Mapping[str, Any]]) -> Records:
    """Dicts as a reader of JSON gives them, numbered from 1."""
    records = []
    for number, row in enumerate(rows, 1):
        try:
            records.append(dict(as_json(row)))
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"{source}:{number}: {error}") from None
    return Records(np.arange(1, len(rows) + 1), records)


def as_json(value: Any) -> Any:
    """A value of Python as a reader of JSON gives it: objects are pairs; types that JSON lacks become what it has."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Mapping):
        return JsonPairs([(str(key), as_json(inner)) for key, inner in value.items()])
    if isinstance(value, (list, tuple)):
        return [as_json(inner) for inner in value]
    if isinstance(value, (set, frozenset)):
        return [as_json(inner) for inner in sorted(value)]
    if isinstance(value, (UUID, Path)):
        return str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return as_json(value.tolist())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"expected text, numbers, lists and dicts, found {type(value).__name__}: {shown(repr(value))}")


def as_dicts(value: Any) -> Any:
    """A JSON value with dicts as objects."""
    if isinstance(value, JsonPairs):
        return {key: as_dicts(inner) for key, inner in value}
    return [as_dicts(inner) for inner in value] if isinstance(value, list) else value


def id_from_json(value: object, what: str) -> bytes:
    """An id from a JSON value: a string, or a whole number as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return encode_id(value, what)


def number_from_json(value: object) -> float | None:
    """A JSON number as a float; None if it is not a number, or too large for a float."""
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def describe_json(value: object) -> str:
    """A JSON value for a message."""
    if value is None:
        return "nothing"
    if isinstance(value, JsonPairs):
        return "an object"
    return "a list" if isinstance(value, list) else shown(value if isinstance(value, str) else repr(value))


def check_finite(rows: Batch) -> None:
    """Raise if a number of some rows is infinite."""
    infinite = np.flatnonzero(np.isinf(rows.value))
    if len(infinite):
        raise infinite_score(rows.doc[int(infinite[0])], rows.query[int(infinite[0])])


def infinite_score(doc: bytes, query: bytes) -> InputError:
    """The error for a score that JSON does not have."""
    return InputError(
        f"the score of document {shown(doc)} for query {shown(query)} is infinite, which JSON cannot express"
    )


def json_bytes(value: object) -> bytes:
    """A value on a line of a file; bytes of ids that are not UTF-8 come out as they went in."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape")


def plain_json(value: Any) -> Any:
    """A value of any type as JSON has it; what it lacks becomes text, a number that is not finite nothing."""
    if isinstance(value, str):
        return replace_lone_surrogates(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {replace_lone_surrogates(str(key)): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_json(inner) for inner in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return plain_json(value.tolist())
    return replace_lone_surrogates(str(value))


def json_text(data: Any, *, indent: int | None = None) -> str:
    """A result as JSON that any parser accepts; a value that is not a number raises.

    A byte that is not UTF-8, in an id or the name of a file, is an escape that our readers take for the same byte.
    """
    text = json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)
    return rejoined(text).encode("utf-8", "backslashreplace").decode("utf-8")


def json_line(row: Mapping[str, Any]) -> bytes:
    """An object on a line of its own."""
    text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogateescape") + b"\n"
