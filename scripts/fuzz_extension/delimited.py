"""Delimited lines as columns."""

from __future__ import annotations

import csv
import re
from random import Random

from scripts.fuzz_extension.inputs import DECIMAL, NOT_NUMBERS, cuts, damage, some_count, some_number
from scripts.fuzz_extension.probe import Probe, fuzzes
from scripts.fuzz_extension.tables import (
    NUMBER,
    Arrays,
    Expected,
    Place,
    Wanted,
    call_wrongly,
    check_rows,
    some_place,
    zero_padded,
)

MAX_CELL, MAX_NUMBER = 131072, 300
CELLS = [b"q1", b"q1", b"d7", b"", b"\xff", b"x" * 70, b"1", b" 1.5 ", b" ", b"a\0b", *NOT_NUMBERS[:3]]


@fuzzes("delimited")
def fuzz_delimited(probe: Probe) -> None:
    """Lines of cells: what the csv module finds, or in a line without quotation marks a plain split."""
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
    lines = []
    for _ in range(some_count(rng) // 3):
        line = []
        for at in range(max(1, len(wanted.uses) + rng.choice((0, 0, 0, 0, 0, -1, 1)))):
            is_number = at < len(wanted.uses) and wanted.uses[at] & NUMBER
            cell = some_number(rng) if is_number and rng.random() < 0.95 else rng.choice(CELLS)
            if is_quoted and rng.random() < 0.3:
                cell = b'"' + rng.choice((cell, cell + b'""', b'""' + cell, cell + b"\n", cell + delimiter)) + b'"'
            line.append(cell)
        own_end = end if rng.random() < 0.95 else rng.choice((b"\n\n", b"\r\n", b"\r", b" \n"))
        lines.append(delimiter.join(line) + own_end)
    text = b"".join(lines)
    if rng.random() < 0.02:
        text += b"x" * rng.choice((MAX_CELL, MAX_CELL + 1)) + end
    return text.rstrip(b"\r\n") if rng.random() < 0.2 else text


def _cells_of(text: bytes, delimiter: bytes, is_quoted: bool) -> list[list[bytes]]:
    """The cells of all lines that are not blank."""
    if not is_quoted:
        lines = [line.removesuffix(b"\r").split(delimiter) for line in text.split(b"\n")]
        return [line for line in lines if line != [b""]]
    texts = text.decode("latin-1").removesuffix("\n").split("\n")
    rows, at = [], 0
    while at < len(texts):  # the csv module reads a line with quotation marks, and those into which it goes on
        row, size = texts[at].removesuffix("\r").split(delimiter.decode()), 1
        if '"' in texts[at]:
            reader = csv.reader((part + "\n" for part in texts[at:]), delimiter=delimiter.decode(), strict=True)
            row, size = next(reader), reader.line_num
        if row != [""] or '"' in texts[at]:
            rows.append([cell.encode("latin-1") for cell in row])
        at += size
    return rows


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
