"""Texts as columns: JSON objects, JSON mappings, and delimited lines."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from scripts.fuzz_extension.inputs import (
    DECIMAL,
    NOT_NUMBERS,
    PADDING,
    buffer,
    cuts,
    damage,
    padded,
    some_count,
    some_number,
)
from scripts.fuzz_extension.json_text import Json, NotJsonError, OddError, Value
from scripts.fuzz_extension.probe import Probe, fuzzes

MAX_NAMES, MAX_CELL, MAX_NUMBER = 64, 131072, 300
ID, TEXT, NUMBER = 1, 2, 4
NAMES = [b"query_id", b"doc_id", b"score", b"text", "é".encode(), b"", b"a b", b"x" * 70, b"n1", b"n2", b"\xff"]
TEXTS = [
    "q1",
    "q1",
    "q1",
    "d7",
    "",
    "é",
    "\U0001f600",
    "a b",
    'say "x"',
    "tab\there",
    "x" * 70,
    "\\",
    "/",
    "1",
    "-0",
    "\ud800",
]
ESCAPED = r"""
\ud83d\ude00 \ud83d\ue000 \ud83d\udbff \ud83d\u0041 \ud83dx \ud800 \udc00 a\u0000b \u0000 \u0041 \u00e9 \u20AC \n\"\\ \x
""".split()
NESTED = [
    "[]",
    "{}",
    '[1, "x", {"a": null}]',
    '{"a": {"b": [true, false]}}',
    *("[" * n + "]" * n for n in range(60, 67)),
]
Place = tuple[int, int, bool]
NOTHING = Value("missing")


@dataclass(frozen=True)
class Wanted:
    """The columns of a table, and what they are for."""

    names: list[bytes]
    uses: bytes

    @classmethod
    def random(cls, rng: Random) -> Wanted:
        """Some columns; now and then the largest number of them, or none."""
        names = rng.sample(NAMES, rng.randrange(1, 6))
        if rng.random() < 0.05:
            names = [b"c%d" % number for number in range(MAX_NAMES)]
        if rng.random() < 0.02:
            names = []
        return cls(names, bytes(rng.choice((0, ID, TEXT, NUMBER, ID | NUMBER, TEXT | NUMBER, 255, 8)) for _ in names))

    @property
    def texts(self) -> list[int]:
        """The columns whose text is wanted."""
        return [at for at, use in enumerate(self.uses) if use & (ID | TEXT)]


class Arrays:
    """What the extension fills in: cells, values and texts, with little room or much."""

    def __init__(self, rng: Random, per_row: int, rows: int, size: int) -> None:
        self.room = rng.choice((rows, rows, rows + 1, rng.randrange(rows + 1)))
        self.text_room = rng.choice((size, size, size + 1, rng.randrange(size + 1)))
        self.cells = np.full(self.room * per_row, -7, dtype=np.int64)
        self.values = np.full(self.room, -7.0)
        self.texts = np.full(self.text_room, 0x3F, dtype=np.uint8)

    def __iter__(self) -> Any:
        return iter((self.cells, self.values, self.texts))

    def text(self, start: int, length: int) -> bytes:
        """A text that was stored."""
        assert 0 <= start <= start + length <= self.text_room
        return self.texts[start : start + length].tobytes()


@dataclass(frozen=True)
class Expected:
    """A row of a table: where it is, and its cells, which an odd row has not."""

    line: int
    begin: int
    end: int
    texts: list[bytes] | None
    value: float | None


def zero_padded(rng: Random, text: bytes) -> Any:
    """A text with zeros behind it."""
    return buffer(rng, text + bytes(PADDING))


def some_place(rng: Random, text: bytes) -> Place:
    """Mostly the beginning, sometimes any other position."""
    used = rng.randrange(len(text) + 1) if rng.random() < 0.15 else 0
    return used, rng.choice((0, 0, 1, 2**40)), rng.random() < 0.6


def call_wrongly(probe: Probe, name: str, text: bytes, arguments: tuple[Any, ...]) -> None:
    """Call with anything wrong, most often the padding or the place."""
    _, (used, line, is_last), *others = arguments
    source = padded(probe.rng, text) if probe.rng.random() < 0.3 else arguments[0]
    if probe.rng.random() < 0.3:
        used = len(text) + probe.rng.choice((-1, 1, 8, 24, 25, 100))
    probe.call_wrongly(name, source, (used, line, is_last), *others)


def check_rows(wanted: Wanted, arrays: Arrays, rows: int, expected: list[Expected]) -> None:
    """The rows that were read are the first of those expected."""
    texts = len(wanted.texts)
    cells = arrays.cells.reshape(2 * texts + 3, arrays.room)
    assert rows <= len(expected), expected
    for row, one in zip(range(rows), expected, strict=False):
        line, begin, end = cells[2 * texts :, row].tolist()
        assert (line, begin, end) == (one.line, one.begin, 0 if one.texts is not None else one.end), one
        for at in range(texts if one.texts is not None else 0):
            assert arrays.text(int(cells[at, row]), int(cells[texts + at, row])) == (one.texts or [])[at], one
        if one.value is not None:
            assert repr(float(arrays.values[row])) == repr(one.value), one


def is_full(arrays: Arrays, rows: int, text_size: int, following: Expected) -> bool:
    """Whether there is no room for the row that follows."""
    return rows == arrays.room or following.end - following.begin > arrays.text_room - text_size


def _some_value(rng: Random) -> str:
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice(NESTED)
    if kind == 1:
        return rng.choice(("null", "true", "false", "-0", "0", "-1", "NaN", "1" * 299, "1" * 301, "1e400", "-1e-400"))
    if kind <= 3:
        number = some_number(rng).decode()
        return str(float(number)) if rng.random() < 0.8 else number
    if kind == 4:
        return _some_text(rng)
    return json.dumps(rng.choice(TEXTS[:5]))


def _some_text(rng: Random) -> str:
    if rng.random() < 0.4:
        return f'"{rng.choice(("", "", "x"))}{rng.choice(ESCAPED)}{rng.choice(("", "", "x"))}"'
    return json.dumps(rng.choice(TEXTS), ensure_ascii=rng.random() < 0.5)


def _some_name(rng: Random, wanted: Wanted, at: int) -> str:
    name = (
        wanted.names[at % len(wanted.names)] if wanted.names and rng.random() < 0.95 else rng.choice((b"other", b"q1"))
    )
    return json.dumps(name.decode("utf-8", "surrogateescape"), ensure_ascii=rng.random() < 0.02)


def _some_object(rng: Random, wanted: Wanted) -> str:
    blank = rng.choice(("", "", "", " ", "\t", "\r"))
    count = max(0, len(wanted.names) + rng.choice((0, 0, 0, 0, -1, 1)))
    pairs = [f"{_some_name(rng, wanted, at)}{blank}:{blank}{_some_value(rng)}" for at in range(count)]
    if rng.random() < 0.1:
        rng.shuffle(pairs)
    return "{" + f"{blank},{blank}".join(pairs) + "}"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass" if "\ud800" in text else "surrogateescape")


@fuzzes("records")
def fuzz_records(probe: Probe) -> None:
    """Objects in lines or in an array: what a plain reading finds, and odd rows where Python must look."""
    rng = probe.rng
    wanted, is_array = Wanted.random(rng), rng.random() < 0.4
    objects = [_some_object(rng, wanted) for _ in range(some_count(rng) // 4)]
    if is_array:
        text = _encoded(rng.choice((",", ", ", "\n,\n")).join(objects) + rng.choice(("]", "]", "]\n", "", ",")))
    else:
        text = _encoded("".join(one + rng.choice(("\n", "\n", "\n", "\r\n", "\n\n")) for one in objects))
        text = text.rstrip() if rng.random() < 0.2 else text
    for part in cuts(rng, damage(rng, text) if rng.random() < 0.4 else text):
        _check_records(probe, wanted, part, is_array)


def _check_records(probe: Probe, wanted: Wanted, text: bytes, is_array: bool) -> None:
    rng, place = probe.rng, some_place(probe.rng, text)
    rows, ends, is_bad = (_records_of_array if is_array else _records_of_lines)(wanted, text, place)
    arrays = Arrays(rng, 2 * len(wanted.texts) + 3, len(rows) + 1, len(text))
    arguments = (zero_padded(rng, text), place, is_array, tuple(wanted.names), wanted.uses, *arrays)
    found = probe.call("records", *arguments)
    if found is None:
        assert is_bad, (text, place, wanted)
    else:
        used, line, count, text_size = found
        check_rows(wanted, arrays, count, rows)
        if count < len(rows):
            assert is_full(arrays, count, text_size, rows[count]), (text, place, wanted)
        assert used == ends[count], (text, place, wanted)
        assert count < len(rows) or not is_bad, (text, place, wanted)
        is_unfinished = used > place[0] and used == len(text) and not text.endswith(b"\n")
        assert is_array or line == place[1] + text.count(b"\n", place[0], used) + is_unfinished, (text, place)
    call_wrongly(probe, "records", text, arguments)


def _records_of_lines(wanted: Wanted, text: bytes, place: Place) -> tuple[list[Expected], list[int], bool]:
    """The rows, how far the text is read before each of them and then behind all, and whether anything is wrong."""
    used, line, is_last = place
    rows: list[Expected] = []
    while used < len(text):
        newline = text.find(b"\n", used)
        end = len(text) if newline < 0 else newline
        if newline < 0 and not is_last:
            break
        line += 1
        if text[used:end].strip(b" \t\r"):
            try:
                json = Json(text[:end], used, in_line=True)
                members = json.members(0)
                json.skip_blanks()
                if json.at < end:
                    raise NotJsonError
            except NotJsonError:
                members = None
            rows.append(_record(wanted, members, line, used, end))
        used = end + (newline >= 0)
    return rows, [*(row.begin for row in rows), used], False


def _records_of_array(wanted: Wanted, text: bytes, place: Place) -> tuple[list[Expected], list[int], bool]:
    used, _, is_last = place
    rows: list[Expected] = []
    ends = [used]
    while True:
        try:
            json = Json(text, used)
            begin = json.at
            members = json.members(0)
            end = json.at
            is_done = json.ends(b"]", is_last)
        except NotJsonError:
            return rows, ends, is_last
        rows.append(_record(wanted, members, 0, begin, end))
        used = json.at
        ends.append(used)
        if is_done:
            return rows, ends, False


def _record(wanted: Wanted, members: list[tuple[Value, Value]] | None, line: int, begin: int, end: int) -> Expected:
    odd = Expected(line, begin, end, None, None)
    if members is None or len({name for name, _ in members}) < len(members):
        return odd
    values = {name.raw: value for name, value in members}
    if any(b"\\" in name or name not in wanted.names for name in values):
        return odd
    texts, number = [], None
    try:
        for name, use in zip(wanted.names, wanted.uses, strict=True):
            value = values.get(name, NOTHING)
            if use & NUMBER:
                number = value.number
            if use & (ID | TEXT):
                texts.append(_id_or_text(value, use))
    except OddError:
        return odd
    return Expected(line, begin, end, texts, number)


def _id_or_text(value: Value, use: int) -> bytes:
    if value.kind == "text" and value.raw:
        return value.text
    if value.kind == "integer" and value.raw != b"-0":
        return value.raw
    if use & ID or value.kind == "integer":
        raise OddError
    return b""


@fuzzes("mapping")
def fuzz_mapping(probe: Probe) -> None:
    """Queries with documents and numbers; a query that is anything else is odd."""
    rng = probe.rng
    text = _encoded(_some_mapping(rng))
    for part in cuts(rng, damage(rng, text) if rng.random() < 0.4 else text):
        _check_mapping(probe, part)


def _check_mapping(probe: Probe, text: bytes) -> None:
    rng, place = probe.rng, some_place(probe.rng, text)
    queries, ends, is_bad = _mapping_of(text, place)
    room = sum(len(entries or ()) for _, entries, _, _ in queries) + 1
    arrays = Arrays(rng, 2, room, len(text))
    query_room = rng.choice((len(queries), len(queries) + 1, len(queries) + 1, rng.randrange(len(queries) + 1)))
    cells = np.full(5 * query_room, -7, dtype=np.int64)
    arguments = (zero_padded(rng, text), place, cells, *arrays)
    found = probe.call("mapping", *arguments)
    if found is None:
        assert is_bad, (text, place)
    else:
        used, count, entry_count, text_size = found
        at = 0
        assert used == ends[count], (text, place)
        for (query, entries, begin, end), row in zip(queries, cells.reshape(-1, 5)[:count].tolist(), strict=False):
            if entries is None:
                assert row[2:] == [0, begin, end], (text, place)
                continue
            assert row[2:] == [len(entries), begin, 0], (text, place)
            assert arrays.text(row[0], row[1]) == query, (text, place)
            for number, (doc, value) in enumerate(entries, at):
                start, length = int(arrays.cells[number]), int(arrays.cells[arrays.room + number])
                assert arrays.text(start, length) == doc, (text, place)
                assert repr(float(arrays.values[number])) == repr(value), (text, place)
            at += len(entries)
        assert entry_count == at, (text, place)
        if count < len(queries):
            _, _, begin, end = queries[count]
            is_tight = at + text[begin:end].count(b":") > arrays.room or text_size + end - begin > arrays.text_room
            assert count == query_room or is_tight, (text, place)
        elif is_bad:  # what is wrong comes after there was no more room
            rest = text[used:]
            is_tight = at + rest.count(b":") > arrays.room or text_size + len(rest) > arrays.text_room
            assert count == query_room or is_tight, (text, place)
    call_wrongly(probe, "mapping", text, arguments)


def _some_mapping(rng: Random) -> str:
    blank = rng.choice(("", "", " ", "\n", "\t\r\n "))
    queries = []
    for _ in range(some_count(rng) // 6):
        docs = [
            f'"{rng.choice(TEXTS[:5])}{at}"{blank}:{blank}{rng.choice((some_number(rng).decode(), rng.random(), at))}'
            for at in range(rng.randrange(6))
        ]
        if rng.random() < 0.1:
            docs.append(f"{_some_text(rng)}:{_some_value(rng)}")
        value = "{" + f"{blank},{blank}".join(docs) + "}" if rng.random() < 0.95 else _some_value(rng)
        queries.append(f"{blank}{_some_text(rng)}{blank}:{blank}{value}{blank}")
    return ",".join(queries) + rng.choice(("}", "}", "}\n", "", ","))


Query = tuple[bytes, list[tuple[bytes, float]] | None, int, int]  # id, entries unless it is odd, where it is


def _mapping_of(text: bytes, place: Place) -> tuple[list[Query], list[int], bool]:
    """The queries, how far the text is read with each, and whether something is wrong behind them."""
    used, _, is_last = place
    queries: list[Query] = []
    ends = [used]
    while True:
        try:
            query, json = _query_of(text, used)
            is_done = json.ends(b"}", is_last)
        except NotJsonError:
            return queries, ends, is_last
        queries.append(query)
        used = json.at
        ends.append(used)
        if is_done:
            return queries, ends, False


def _query_of(text: bytes, used: int) -> tuple[Query, Json]:
    json = Json(text, used)
    begin = json.at
    key = json.value(1)
    json.skip_blanks()
    if key.kind != "text" or not json.takes(b":"):
        raise NotJsonError
    value_at = json.at
    value = json.value(1)
    end = json.at
    try:
        if value.kind != "nested" or text[value_at : value_at + 1] != b"{":
            raise OddError
        entries = [(doc.text, number.number) for doc, number in Json(text, value_at).members(1)]
        if not key.text or not all(doc for doc, _ in entries):
            raise OddError
        return (key.text, entries, begin, end), json
    except OddError:
        return (b"", None, begin, end), json


@fuzzes("delimited")
def fuzz_delimited(probe: Probe) -> None:
    """Lines of cells: what the csv module finds, or without quotation marks a plain split."""
    rng = probe.rng
    wanted, delimiter, is_quoted = Wanted.random(rng), rng.choice((b",", b"\t", b";", b"|", b" ")), rng.random() < 0.6
    text = _some_lines(rng, wanted, delimiter, is_quoted)
    for part in cuts(rng, damage(rng, text) if rng.random() < 0.4 else text):
        _check_delimited(probe, wanted, part, delimiter, is_quoted)


def _check_delimited(probe: Probe, wanted: Wanted, text: bytes, delimiter: bytes, is_quoted: bool) -> None:
    rng, place = probe.rng, some_place(probe.rng, text)
    arrays = Arrays(rng, 2 * len(wanted.texts) + 3, text.count(b"\n") + 1, len(text))
    arguments = (zero_padded(rng, text), place, delimiter, is_quoted, wanted.uses, *arrays)
    found = probe.call("delimited", *arguments)
    if found is None:
        assert is_quoted, text
        assert _is_for_csv(text[place[0] :], delimiter), (text, place)
    else:
        used, line, count, text_size = found
        read = text[place[0] : used]
        cells = _cells_of(read, delimiter, is_quoted)
        is_complete = used == len(text)
        assert line == place[1] + read.count(b"\n") + (bool(read) and not read.endswith(b"\n")), (text, place)
        assert is_complete or read.endswith(b"\n") or not read, (text, place)
        rows = _delimited_rows(wanted, text, place, arrays, cells)
        assert len(rows) == count, (text, place, wanted)
        check_rows(wanted, arrays, count, rows)
        has_room = count < arrays.room and len(text) - used <= arrays.text_room - text_size
        if not is_complete and has_room:
            assert not place[2], (text, place)
            assert b"\n" not in text[used:] or (is_quoted and b'"' in text[used:]), (text, place)
    call_wrongly(probe, "delimited", text, arguments)


def _some_lines(rng: Random, wanted: Wanted, delimiter: bytes, is_quoted: bool) -> bytes:
    end = rng.choice((b"\n", b"\n", b"\r\n"))
    cells = [b"q1", b"q1", b"d7", b"", b"\xff", b"x" * 70, b"1", b" 1.5 ", b" ", b"a\0b"]
    lines = []
    for _ in range(some_count(rng) // 3):
        line = []
        for at in range(max(1, len(wanted.uses) + rng.choice((0, 0, 0, 0, 0, -1, 1)))):
            is_number = at < len(wanted.uses) and wanted.uses[at] & NUMBER
            cell = some_number(rng) if is_number and rng.random() < 0.95 else rng.choice([*cells, *NOT_NUMBERS[:3]])
            if is_quoted and rng.random() < 0.3:
                cell = b'"' + rng.choice((cell, cell + b'""', b'""' + cell, cell + b"\n", cell + delimiter)) + b'"'
            line.append(cell)
        lines.append(
            delimiter.join(line) + (end if rng.random() < 0.95 else rng.choice((b"\n\n", b"\r\n", b"\r", b" \n")))
        )
    text = b"".join(lines)
    if rng.random() < 0.02:
        text += b"x" * rng.choice((MAX_CELL, MAX_CELL + 1)) + end
    return text.rstrip(b"\r\n") if rng.random() < 0.2 else text


def _cells_of(text: bytes, delimiter: bytes, is_quoted: bool) -> list[list[bytes]]:
    """The cells of all lines that are not blank."""
    if not is_quoted:
        lines = [line.removesuffix(b"\r").split(delimiter) for line in text.split(b"\n")]
        return [line for line in lines if line != [b""]]
    with io.StringIO(text.decode("latin-1"), newline="") as stream:
        reader = csv.reader(stream, delimiter=delimiter.decode(), strict=True)
        return [[cell.encode("latin-1") for cell in line] for line in reader if line]


def _is_for_csv(text: bytes, delimiter: bytes) -> bool:
    """Whether the csv module must read a text: it refuses it, or a carriage return is not part of a line's end."""
    try:
        cells = _cells_of(text, delimiter, True)
    except csv.Error:
        return True
    return re.search(rb"\r(?!\n)", text) is not None or any(len(cell) > MAX_CELL for line in cells for cell in line)


def _delimited_rows(
    wanted: Wanted, text: bytes, place: Place, arrays: Arrays, lines: list[list[bytes]]
) -> list[Expected]:
    """The rows that are expected of these cells; where each begins is taken from what was found."""
    begins, ends = arrays.cells.reshape(2 * len(wanted.texts) + 3, arrays.room)[-2:].tolist()
    rows = []
    for row, (cells, begin, end) in enumerate(zip(lines, begins, ends, strict=False)):
        line = place[1] + 1 + text.count(b"\n", place[0], begin)
        assert begin >= place[0], (text, place)
        assert not row or begin > begins[row - 1], (text, place)
        numbers = [cell.strip(b" ") for cell, use in zip(cells, wanted.uses, strict=False) if use & NUMBER]
        is_odd = len(cells) != len(wanted.uses) or not all(map(_is_number, numbers))
        if end and not is_odd:  # a number that only Python reads
            is_odd = any(len(number) > 19 or b"e" in number.lower() for number in numbers)
        texts = None if is_odd else [cells[at] for at in wanted.texts]
        value = None if is_odd or not numbers else float(numbers[-1])
        rows.append(Expected(line, begin, end, texts, value))
    return rows


def _is_number(text: bytes) -> bool:
    return DECIMAL.fullmatch(text) is not None and len(text) <= MAX_NUMBER
