"""The data: made, not downloaded, and the same bytes on every machine.

Only integers are drawn and compared, so no rounding of a CPU can change a line. A folder is complete when its
``recipe`` says what is asked for here; anything else is made anew.

    python -m benchmarks.data marco
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.digits import Ints, run_lines

HERE = Path(__file__).parent / "data"
VERSION = 2
BLOCK = 200  # queries in memory at a time
FOUND_IDS, ALL_IDS = 8_800_000, 8_841_823  # as many as MS MARCO has passages; a few that are never retrieved


@dataclass(frozen=True)
class Shape:
    """How large a data set is and what it is like."""

    name: str
    queries: int
    depth: int
    kind: Literal["one relevant", "graded"]
    judged: int
    tied: float  # the share of scores that another document of the query has too
    form: Literal["plain", "shuffled", "exponents"] = "plain"  # the lines in any order, or scores like 1.7e+01

    @property
    def rows(self) -> int:
        return self.queries * self.depth

    @property
    def qrels(self) -> Path:
        return HERE / self.name / "qrels.txt"

    @property
    def run(self) -> Path:
        return HERE / self.name / "run.txt"


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("small", 50, 100, "graded", judged=60, tied=0.0),
        Shape("robust", 250, 1000, "graded", judged=1250, tied=0.4),
        Shape("marco", 6_980, 1000, "one relevant", judged=1, tied=0.0),
        Shape("big", 50_000, 1000, "one relevant", judged=1, tied=0.0),
        Shape("million", 1000, 1000, "one relevant", judged=1, tied=0.0),
        Shape("ten-million", 10_000, 1000, "one relevant", judged=1, tied=0.0),
        Shape("shuffled", 1000, 1000, "one relevant", judged=1, tied=0.0, form="shuffled"),
        Shape("exponents", 1000, 1000, "one relevant", judged=1, tied=0.0, form="exponents"),
    )
}


def make(shape: Shape) -> bool:
    """Make the two files unless they are there; whether they had to be made."""
    folder, recipe = HERE / shape.name, f"{VERSION} {shape}\n"
    stamp = folder / "recipe"
    if stamp.exists() and stamp.read_text() == recipe:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    blocks = _one_relevant(shape) if shape.kind == "one relevant" else _graded(shape)
    with shape.qrels.open("wb") as qrels, shape.run.open("wb") as run:
        for judgments, results in blocks:
            qrels.write(judgments)
            run.write(results)
    if shape.form != "plain":
        lines = shape.run.read_bytes().splitlines(keepends=True)
        shape.run.write_bytes(b"".join(_shuffled(lines) if shape.form == "shuffled" else map(_with_exponent, lines)))
    stamp.write_text(recipe)
    return True


def _shuffled(lines: list[bytes]) -> Iterator[bytes]:
    return (lines[number] for number in np.random.default_rng(1).permutation(len(lines)).tolist())


def _with_exponent(line: bytes) -> bytes:
    """The same number, written as 1.7046234e+01."""
    *before, score, tag = line.split(b" ")
    whole, decimals = score.split(b".")
    return b" ".join([*before, b"%s.%s%se+%02d" % (whole[:1], whole[1:], decimals, len(whole) - 1), tag])


def _one_relevant(shape: Shape) -> Iterator[tuple[bytes, bytes]]:
    """Numeric ids, distinct scores, and one relevant document, which is in the result of 85% of the queries."""
    rng = np.random.default_rng(6980)
    names = rng.permutation(1_102_400)[: shape.queries].astype(np.int64) + 1
    for begin in range(0, shape.queries, BLOCK):
        queries = names[begin : begin + BLOCK]
        documents = _distinct(rng, len(queries), shape.depth)
        relevant = rng.integers(FOUND_IDS, ALL_IDS, len(queries))
        found = rng.integers(0, 100, len(queries)) < 85
        # Below a power of two that is drawn first: as often near the top as far down, as in a real search.
        place = rng.integers(0, np.minimum(2 ** rng.integers(0, 11, len(queries)), shape.depth))
        relevant[found] = documents[found, place[found]]
        judgments = "".join(f"{q} 0 {d} 1\n" for q, d in zip(queries.tolist(), relevant.tolist(), strict=True))
        scores = _scores(rng, len(queries), shape)
        ranks = np.tile(np.arange(1, shape.depth + 1), len(queries))
        lines = run_lines(np.repeat(queries, shape.depth), documents.ravel(), ranks, scores.ravel())
        yield judgments.encode(), lines


def _graded(shape: Shape) -> Iterator[tuple[bytes, bytes]]:
    """Newswire ids, grades 0 to 2; two fifths of the judged documents are in the result, mostly the good ones."""
    rng = np.random.default_rng(250)
    sources = np.array(["FBIS3-", "FT911-", "FR940104-0-", "LA010189-"])
    for query in range(301, 301 + shape.queries):
        numbers = rng.permutation(150_000)[: shape.depth + shape.judged]
        names = [f"{sources[n % 4]}{n}" for n in numbers.tolist()]
        inside = shape.judged * 2 // 5
        judged = np.concatenate(
            [rng.permutation(shape.depth)[:inside], np.arange(shape.depth, shape.depth + shape.judged - inside)]
        )
        likely = np.where(judged < shape.depth // 10, 400, np.where(judged < shape.depth, 100, 30))
        draw = rng.integers(0, 1000, shape.judged)
        grades = (draw < likely).astype(np.int64) + (draw < likely // 4)
        judgments = "".join(
            f"{query} 0 {names[d]} {g}\n" for d, g in zip(judged.tolist(), grades.tolist(), strict=True)
        )
        scores = _scores(rng, 1, shape)[0].tolist()
        lines = "".join(
            f"{query} Q0 {names[i]} {i + 1} {s // 1_000_000}.{s % 1_000_000:06d} bench\n" for i, s in enumerate(scores)
        )
        yield judgments.encode(), lines.encode()


def _distinct(rng: np.random.Generator, queries: int, depth: int) -> Ints:
    """Document ids that do not repeat within a query; the few rows where they do are drawn again."""
    documents = rng.integers(0, FOUND_IDS, (queries, depth))
    while True:
        ordered = np.sort(documents, axis=1)
        again = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not len(again):
            return documents
        documents[again] = rng.integers(0, FOUND_IDS, (len(again), depth))


def _scores(rng: np.random.Generator, queries: int, shape: Shape) -> Ints:
    """Decreasing scores in millionths, between about 7 and 25.

    Two scores are equal or at least 0.00005 apart, which is more than float32 rounds: tools that compare in single and
    in double precision must see the same ties. A score is alone where it equals neither neighbour, hence the root.
    """
    gaps = rng.integers(50, 16_000_000 // shape.depth // 2, (queries, shape.depth))
    equal = rng.integers(0, 1_000_000, (queries, shape.depth)) < round((1 - (1 - shape.tied) ** 0.5) * 1_000_000)
    gaps[equal] = 0
    top = rng.integers(13_000_000, 25_000_000, (queries, 1))
    return top - np.cumsum(gaps, axis=1)


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        print(wanted, "made" if make(SHAPES[wanted]) else "was there")
