"""What the fuzzers of tables share: the columns wanted, the arrays that are filled in, the rows expected in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from scripts.fuzz_extension.inputs import PADDING, buffer, padded
from scripts.fuzz_extension.probe import Probe

MAX_NAMES = 64
ID, TEXT, NUMBER = 1, 2, 4
NAMES = [b"query_id", b"doc_id", b"score", b"text", "é".encode(), b"", b"a b", b"x" * 70, b"n1", b"n2", b"\xff"]
Place = tuple[int, int, bool]  # where to begin, the lines before, whether the file ends with the text


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

    def __iter__(self) -> Iterator[Any]:
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
