"""JSON as columns: objects in lines or in an array, and queries with their documents."""

from __future__ import annotations

import json
from random import Random

import numpy as np

from scripts.fuzz_extension.inputs import cuts, damage, some_count, some_number
from scripts.fuzz_extension.json_text import Json, NotJsonError, OddError, Value
from scripts.fuzz_extension.probe import Probe, fuzzes
from scripts.fuzz_extension.tables import (
    ID,
    NUMBER,
    TEXT,
    Arrays,
    Expected,
    Place,
    Wanted,
    call_wrongly,
    check_rows,
    is_full,
    some_place,
    zero_padded,
)

PLAIN_TEXTS = ["q1", "q1", "q1", "d7", ""]
TEXTS = [
    *PLAIN_TEXTS, "é", "\U0001f600", "a b", 'say "x"', "tab\there", "x" * 70, "\\", "/", "1", "-0", "\ud800",
]  # fmt: skip
ESCAPED = r"""
\ud83d\ude00 \ud83d\ue000 \ud83d\udbff \ud83d\u0041 \ud83dx \ud800 \udc00 a\u0000b \u0000 \u0041 \u00e9 \u20AC \n\"\\ \x
""".split()
NESTED = ["[]", "{}", '[1, "x", {"a": null}]', '{"a": {"b": [true, false]}}']
NESTED += ["[" * depth + "]" * depth for depth in range(60, 67)]
NOTHING = Value("missing")


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
    return json.dumps(rng.choice(PLAIN_TEXTS))


def _some_text(rng: Random) -> str:
    if rng.random() < 0.4:
        return f'"{rng.choice(("", "", "x"))}{rng.choice(ESCAPED)}{rng.choice(("", "", "x"))}"'
    return json.dumps(rng.choice(TEXTS), ensure_ascii=rng.random() < 0.5)


def _some_name(rng: Random, wanted: Wanted, at: int) -> str:
    is_known = wanted.names and rng.random() < 0.95
    name = wanted.names[at % len(wanted.names)] if is_known else rng.choice((b"other", b"q1"))
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
            f'"{rng.choice(PLAIN_TEXTS)}{at}"{blank}:{blank}{rng.choice((some_number(rng).decode(), rng.random(), at))}'
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
