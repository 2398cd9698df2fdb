"""Random data sets: judgments and rows of results, with the ids, scores and orders that readers get wrong."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

Row = tuple[str, str, float]  # query, document, score

PLAIN = ("q{n}", "Q{n}", "{n}", "doc-{n}", "é{n}", "日本{n}", "a_{n}.x", "ID{n:08d}", "x" * 40 + "{n}", "{n}e5", "-{n}")
# Only formats with quotation marks or escapes can hold these.
RICH = (
    *PLAIN,
    "a b {n}",
    " {n}",
    "{n} ",
    'say "{n}"',
    "{n},{n}",
    "{n};x",
    "a\r{n}",
    "a\tb{n}",
    "l 0 {n}\n 2 {n} 1",
    "x y 1 {n}\nz",
    "\\{n}",
    "{{n}}",
    "[{n}]",
    "\u2028{n}",
    "\u00a0{n}",
    "\U0001f600{n}",
)
SCORES = (
    lambda rng: float(rng.randrange(-3, 4)),
    lambda rng: rng.random(),
    lambda rng: rng.gauss(0, 1) * 10 ** rng.randrange(-12, 12),
    lambda rng: rng.choice([0.5, 0.5 + 2**-30, 0.25, -0.0, 0.0]),
    lambda rng: rng.choice([1e-320, 1e300, 16777217.0, 16777216.0, 123456789012345.67]),
)


@dataclass(frozen=True)
class DataSet:
    """Judgments, and the rows of a run in the order of its source."""

    seed: int
    grades: dict[str, dict[str, int]]
    rows: list[Row]
    is_plain: bool  # whether no id has white space, so that every format can hold it
    is_scattered: bool  # whether the rows of a query are not all in one place

    @property
    def by_query(self) -> dict[str, dict[str, float]]:
        """The results by query."""
        results: dict[str, dict[str, float]] = {}
        for query, doc, score in self.rows:
            results.setdefault(query, {})[doc] = score
        return results

    @property
    def ranked(self) -> dict[str, dict[str, float]]:
        """The results by query, best first: a list of results is in this order, whatever its scores are."""
        return self._ranked(1)

    @property
    def ranked_by_negative(self) -> dict[str, dict[str, float]]:
        """The results by query, best first if the signs of all scores change."""
        return self._ranked(-1)

    def _ranked(self, sign: int) -> dict[str, dict[str, float]]:
        def key(item: tuple[str, float]) -> tuple[float, bytes]:
            return as_float32(sign * item[1]), item[0].encode()

        return {query: dict(sorted(docs.items(), key=key, reverse=True)) for query, docs in self.by_query.items()}

    def rng(self, purpose: str) -> random.Random:
        """Random numbers for one purpose, the same in every process."""
        return random.Random(f"{self.seed} {purpose}")


def as_float32(score: float) -> float:
    """A score in the precision in which it is compared."""
    with np.errstate(over="ignore"):
        return float(np.float32(score))


def draw(seed: int) -> DataSet:
    """The data set of a seed."""
    rng = random.Random(seed)
    is_plain = rng.random() < 0.6
    templates = PLAIN if is_plain else RICH
    queries = _names(rng, templates, rng.choice([1, 2, 2, 3, 5, 8]))
    docs = _names(rng, templates, rng.choice([3, 5, 8, 12, 30]))
    score = rng.choice(SCORES)
    rows: list[Row] = []
    grades: dict[str, dict[str, int]] = {}
    for query in queries:
        if rng.random() < 0.85:
            judged = rng.sample(docs, rng.randrange(1, len(docs) + 1))
            grades[query] = {doc: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for doc in judged}
        if rng.random() < 0.9 or not rows:
            found = rng.sample(docs, rng.randrange(1, len(docs) + 1))
            ranked = [(query, doc, score(rng)) for doc in found]
            if rng.random() < 0.7:
                ranked.sort(key=lambda row: -row[2])
            rows += ranked
    if not grades.keys() & {query for query, _, _ in rows}:
        grades[rows[0][0]] = {rows[0][1]: 1}
    is_scattered = rng.random() < 0.3
    if is_scattered:
        rng.shuffle(rows)
    return DataSet(seed, grades, rows, is_plain, is_scattered)


def _names(rng: random.Random, templates: tuple[str, ...], count: int) -> list[str]:
    template = rng.choice(templates)
    names = [
        (template if rng.random() < 0.6 else rng.choice(templates))
        .replace("{n}", str(number))
        .replace("{n:08d}", f"{number:08d}")
        for number in range(count)
    ]
    return list(dict.fromkeys(names))


def damaged(rng: random.Random, data: bytes) -> bytes:
    """A text with one or a few faults."""
    for _ in range(rng.choice([1, 1, 2, 4])):
        data = rng.choice(DAMAGES)(rng, data)
    return data


def _line(rng: random.Random, data: bytes) -> tuple[list[bytes], int]:
    lines = data.split(b"\n")
    return lines, rng.randrange(len(lines))


def _without_line(rng: random.Random, data: bytes) -> bytes:
    lines, at = _line(rng, data)
    return b"\n".join(lines[:at] + lines[at + 1 :])


def _with_line_again(rng: random.Random, data: bytes) -> bytes:
    lines, at = _line(rng, data)
    to = rng.randrange(len(lines) + 1)
    return b"\n".join([*lines[:to], lines[at], *lines[to:]])


def _with_blank_line(rng: random.Random, data: bytes) -> bytes:
    lines, at = _line(rng, data)
    return b"\n".join([*lines[:at], rng.choice([b"", b" ", b"\t", b"\r"]), *lines[at:]])


def _with_other_byte(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(BYTES) + data[at + 1 :]


def _with_more_bytes(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + b"".join(rng.choices(BYTES, k=rng.randrange(1, 4))) + data[at:]


def _truncated(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _with_other_number(rng: random.Random, data: bytes) -> bytes:
    digits = [at for at, byte in enumerate(data) if 0x30 <= byte <= 0x39]
    at = rng.choice(digits or [0])
    return data[:at] + rng.choice(NUMBERS) + data[at + 1 :]


def _with_other_line_endings(rng: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", rng.choice([b"\r\n", b"\n", b" \n"]))


def _with_byte_order_mark(rng: random.Random, data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data


BYTES = (
    b"\0",
    b" ",
    b'"',
    b"\r",
    b"\n",
    b"\t",
    b",",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\\",
    b"\xff",
    b"0",
    b"-",
    b"e",
    b".",
)
NUMBERS = (
    b"nan",
    b"inf",
    b"-",
    b"1e999",
    b"1e-400",
    b"0x1",
    b"null",
    b"true",
    b'"5"',
    b"12345678901234567890",
    b"1.5",
    b"",
)
DAMAGES = (
    _without_line,
    _with_line_again,
    _with_blank_line,
    _with_other_byte,
    _with_other_byte,
    _with_more_bytes,
    _truncated,
    _with_other_number,
    _with_other_number,
    _with_other_line_endings,
    _with_byte_order_mark,
)
