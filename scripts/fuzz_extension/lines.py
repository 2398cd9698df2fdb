"""Lines of TREC files: random runs and their rows, and columns that are split."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

import numpy as np

from scripts.fuzz_extension.inputs import NOT_NUMBERS, ODD_IDS, PLAIN_IDS, damage, padded, some_count, some_number
from scripts.fuzz_extension.probe import Probe, fuzzes

TOKEN = re.compile(rb"[^ \t\n\v\f\r]+")
MAX_TAG = 256
QUERIES = [b"1", b"2", b"q0", b"q-123456", b"q-1234567", b"x" * 40, b"x" * 39 + b"y"]
DOCS = [*PLAIN_IDS, *(b"d%d" % number for number in range(60))]


@dataclass(frozen=True)
class Row:
    """A line with content: its number, and where its columns are."""

    line: int
    text: bytes
    spans: list[tuple[int, int]]

    def column(self, number: int) -> bytes:
        """The text of a column."""
        begin, end = self.spans[number]
        return self.text[begin:end]

    @property
    def query(self) -> bytes:
        """The first column."""
        return self.column(0)


def rows_of(text: bytes) -> list[Row]:
    """The lines with content."""
    rows, begin = [], 0
    for number, line in enumerate(text.split(b"\n"), 1):
        spans = [match.span() for match in TOKEN.finditer(text, begin, begin + len(line))]
        if spans:
            rows.append(Row(number, text, spans))
        begin += len(line) + 1
    return rows


def line_count(text: bytes) -> int:
    """The number of lines, the last of which may have no newline."""
    return text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))


def some_run(rng: Random) -> bytes:
    """A run, plain or odd in places; now and then with more queries or rows than there is room for at first."""
    if rng.random() < 0.01:
        count, size = rng.choice(((1, 5000), (3000, 1), (70, 3)))
        large = [b"q%d Q0 d%d %d %d t\n" % (query, at, at + 1, -at) for query in range(count) for at in range(size)]
        return b"".join(rng.sample(large, len(large)) if rng.random() < 0.3 else large)
    oddness = rng.choice((0.0, 0.0, 0.02, 0.2))
    queries, docs = rng.sample(QUERIES, rng.randrange(1, len(QUERIES))), rng.sample(DOCS, rng.randrange(1, len(DOCS)))
    rows = list(dict.fromkeys((rng.choice(queries), rng.choice(docs)) for _ in range(some_count(rng))))
    if rng.random() < 0.8:
        rows.sort(key=lambda row: queries.index(row[0]))
    tags = rng.choices((b"t", b"tag", b"t" * 8, b"t" * MAX_TAG, b"t" * (MAX_TAG + 1)), k=rng.choice((1, 1, 1, 2)))
    order = rng.choice(("ranked", "ranked", "tied", "random"))
    end = rng.choice((b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\n\n"))
    separator = rng.choice((b" ", b" ", b"\t", b"  ", b"\v"))
    lines, place = [], 0
    for at, (query, doc) in enumerate(rows):
        place = place + 1 if at and rows[at - 1][0] == query else 1
        score = (
            b"%.4f" % (99 - place // 3 / 7) if order == "ranked" else b"1.50" if order == "tied" else some_number(rng)
        )
        rank = b"%d" % (rng.randrange(30) if order == "random" else place)
        columns = [query, b"Q0", doc, rank, score, tags[0] if rng.random() < 0.95 else tags[-1]]
        if rng.random() < oddness:
            columns[rng.randrange(6)] = rng.choice((b"", rng.choice(NOT_NUMBERS), rng.choice(ODD_IDS), b"x" * 300))
        if rng.random() < oddness / 4:
            columns = columns[: rng.randrange(7)] + [b"x"] * rng.randrange(3)
        lines.append(separator.join(columns) + end)
    text = b"".join(lines)
    if rng.random() < 0.2:
        text = text.rstrip(b"\n")
    return damage(rng, text) if rng.random() < 0.3 else text


@fuzzes("split")
def fuzz_split(probe: Probe) -> None:
    """Where the columns of a regular text end, one column after another."""
    rng = probe.rng
    columns = rng.choice((1, 2, 4, 4, 6))
    tokens = [rng.choice((b"a", b"bb", b"7", b"x" * 70)) for _ in range(columns * some_count(rng))]
    lines = [
        rng.choice((b" ", b" ", b"\t", b"\v")).join(tokens[at : at + columns]) for at in range(0, len(tokens), columns)
    ]
    text = b"".join(line + b"\n" for line in lines)
    if rng.random() < 0.5:
        text = damage(rng, text)
    regular = rows_of(text)
    is_regular = bool(regular) and all(len(row.spans) == columns for row in regular) and text.endswith(b"\n")
    blanks = len(TOKEN.sub(b"", text))
    is_regular &= blanks == columns * len(regular) and not text[:1].isspace()
    is_regular &= re.fullmatch(rb"[\t-\r -~]*", text) is not None
    ends = np.zeros(columns * max(0, line_count(text) + rng.choice((0, 0, 0, 0, -1, 1))), dtype=np.int64)
    is_regular &= len(ends) == columns * len(regular)
    assert probe.call("split", padded(rng, text), columns, ends) is is_regular, (text, columns)
    if is_regular:
        expected = [[row.spans[number][1] for row in regular] for number in range(columns)]
        assert ends.reshape(columns, -1).tolist() == expected, (text, columns)
    probe.call_wrongly("split", padded(rng, text), columns, ends)
