"""Compare the compiled scanner with the one of NumPy on files that nobody would write.

    python -m scripts.fuzz_scanner --cases 1000000 --seed 7
    python -m scripts.fuzz_scanner --cases 20000 --sanitize     # compiled again, with ASan and UBSan

Every case is a run, made of odd pieces and then damaged byte by byte, and a size of blocks. Both scanners must find the
same hits, the same faults on the same lines, or the same error.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import COMPATS
from rankgauge.errors import RankgaugeError
from rankgauge.io.byte_streams import Limits, LoadedFile
from rankgauge.io.formats import text_blocks
from rankgauge.io.pipeline.run_pipeline import RunReader, RunRows
from rankgauge.io.reading_options import Reading
from rankgauge.io.sources import open_results
from scripts.compile_scanner import load
from scripts.sanitized import run_sanitized

LONG = b"clueweb09-en0000-00-00001-"
QUERIES = [b"1", b"2", b"10", b"301", b"query-number-eleven", "é".encode(), b"01", b"12345678", b"123456789", LONG * 50]
DOCS = [
    b"a", b"b", b"A", b"doc-1234", b"doc-12345", b"doc-12345678", b"doc-12345679", LONG, LONG + b"x", LONG * 50,
    LONG * 50 + b"1", "é".encode(), "x\u00a0y".encode(), "e\u0301".encode(), b"z\x1cz", b"\x7f", b"\xff\xfe",
    b"\xe2\x80", *(b"d%d" % number for number in range(40)),
]  # fmt: skip
RANKS = b"1 2 3 10 0 - 1.5 02 -0 1e2 inf 1e400 9999999999999999999999999 12345678901".split()
SCORES = b"""
3 2.5 2.50 1e1 -0.0 0 .5 5. +7 -1.25e-3 0.8123456835746765 1.00000001 1.0 17.046234 123456.7890123456
0.81234568357467651367 4.9e-324 1E22 1e23 3.5e38 3.5e39 9007199254740993 9007199254740992.5 16777217 16777216 1e-30
0e999 00000000000000000000000000001
""".split()
ODD_SCORES = [*b"inf -Infinity nan x . - 1e 1e+ 0x10 1_0 1,5 1e999 --1".split(), b""]
SEPARATORS = [b" ", b" ", b" ", b" ", b"\t", b"  ", b" \t", b"\v", b"\r", b"\f"]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\n\n", b" more\n", b"\n \n"]
SPILLED_BLOCK = 1000  # with blocks below this, scattered runs go to a temporary file
BLOCKS = [32, 64, 200, 333, 1000, 1000, 4096, 4096, 1 << 16, 1 << 16]
QRELS = Qrels.from_dict(
    {
        query.decode(): {doc.decode(): (place + at) % 4 - 1 for at, doc in enumerate(DOCS[place % 3 : 16])}
        for place, query in enumerate(QUERIES[:5])
    }
)


@dataclass(frozen=True)
class Case:
    """A file, and how it is read."""

    data: bytes
    block: int
    compat: Any = COMPATS[0]
    on_duplicate: Any = "error"
    strict: bool = False
    max_line: int = 1 << 20


def make_case(rng: np.random.Generator) -> Case:
    """A random case; some are plain, some odd in places, some damaged."""
    oddness = rng.choice([0.0, 0.0, 0.0, 0.02, 0.2])
    lines = _lines(rng, oddness, int(rng.integers(0, 60)))
    data = b"".join(lines)
    if rng.random() < 0.3:
        data = data.rstrip(b"\n")
    if rng.random() < 0.35:
        data = damaged(rng, data)
    return Case(
        data,
        int(rng.choice(BLOCKS)),
        COMPATS[int(rng.integers(2))],
        "first" if rng.random() < 0.2 else "error",
        bool(rng.random() < 0.2),
        int(rng.choice([16, 1 << 20], p=[0.05, 0.95])),
    )


def _lines(rng: np.random.Generator, oddness: float, count: int) -> list[bytes]:
    def pick(choices: list[bytes]) -> bytes:
        return choices[int(rng.integers(len(choices)))]

    # Few documents, so that most of them are judged, and few queries, so that they have several rows.
    docs, queries = DOCS[: 8 + int(rng.integers(len(DOCS) - 8))], QUERIES[: 1 + int(rng.integers(len(QUERIES)))]
    rows = [(pick(queries), pick(docs)) for _ in range(count)]
    if rng.random() < 0.9:
        rows = list(dict.fromkeys(rows))
    if rng.random() < 0.9:
        rows.sort(key=lambda row: QUERIES.index(row[0]))
    order = ["by score", "by score", "unranked", "tied", "random"][int(rng.integers(5))]
    end, separator = pick(ENDS), pick(SEPARATORS)
    lines = []
    for number, (query, doc) in enumerate(rows):
        rank = {"by score": b"%d" % number, "unranked": b"0", "tied": b"1"}.get(order) or pick(RANKS)
        score = {"by score": b"%.4f" % (99 - number // 2 / 7), "tied": b"1.50"}.get(order) or pick(SCORES)
        is_odd = rng.random() < oddness
        columns = [query, b"Q0", doc, rank, pick(ODD_SCORES) if is_odd and rng.random() < 0.5 else score, b"tag"]
        if is_odd and rng.random() < 0.3:
            columns = columns[: int(rng.integers(7))] + [b"x"] * int(rng.integers(3))
        lines.append((pick(SEPARATORS) if is_odd else separator).join(columns) + (pick(ENDS) if is_odd else end))
    return lines


def damaged(rng: np.random.Generator, data: bytes) -> bytes:
    """Bytes changed, inserted, removed or repeated."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        if not out:
            break
        at, kind = int(rng.integers(len(out))), int(rng.integers(4))
        if kind == 0:
            out[at] = int(rng.integers(256))
        elif kind == 1:
            out[at:at] = bytes([int(rng.choice([0, 9, 10, 13, 32, 0x2E, 0x65, 0x7F, 0xC2, 0xFF]))])
        elif kind == 2:
            del out[at : at + int(rng.integers(1, 20))]
        else:
            out[at:at] = out[at : at + int(rng.integers(1, 60))]
    return bytes(out)


def outcome(case: Case, extension: Any) -> tuple[object, ...]:
    """All that can be seen of reading a run: its join, or the error, and the faults."""
    limits = Limits(max_line=case.max_line, strict=case.strict)
    memory = case.block if case.block < SPILLED_BLOCK else 1 << 29
    reading = Reading(on_duplicate=case.on_duplicate, limits=limits, memory=memory)
    before, text_blocks.BLOCK_BYTES = (compiled.scanner, text_blocks.BLOCK_BYTES), case.block
    compiled.scanner = extension
    try:
        with (
            warnings.catch_warnings(),
            open_results(LoadedFile("run", case.data), "run", format="trec", limits=limits) as source,
        ):
            warnings.simplefilter("ignore")
            reader = RunReader(source, reading, qrels=QRELS, compat=case.compat)
            (run,) = reader.read()
    except RankgaugeError as error:
        return (str(error),)
    finally:
        compiled.scanner, text_blocks.BLOCK_BYTES = before
    faults = reader.faults
    notes = [(note.code, note.message) for severity in ("warning", "note") for note in faults.notes(severity)]
    return *_seen(run), notes, sorted(faults.counts.items()), sorted(faults.causes.items())


def _seen(run: RunRows) -> tuple[object, ...]:
    hits = run.hits
    assert hits is not None
    columns = (
        hits.status,
        hits.retrieved,
        hits.offsets,
        hits.rank,
        hits.ordinal,
        hits.tie_first,
        hits.tie_last,
        hits.grade,
    )
    return run.tag, list(run.queries), run.sizes.tolist(), [column.tolist() for column in columns]


def compare(case: Case, extension: Any) -> str | None:
    """What differs between the two scanners; None if nothing does."""
    expected, found = outcome(case, None), outcome(case, extension)
    return None if found == expected else f"{case}\n  numpy:    {expected}\n  compiled: {found}"


def main() -> int:
    """Run the cases; 1 at the first difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sanitize", action="store_true", help="compile with ASan and UBSan, and use that")
    parser.add_argument("--extension", type=Path, help="the extension to use instead of the installed one")
    options = parser.parse_args()
    if options.sanitize:
        return run_sanitized({"scripts.fuzz_scanner": ["--cases", str(options.cases), "--seed", str(options.seed)]})
    extension = load(options.extension) if options.extension else compiled.scanner
    if extension is None:
        print(f"the compiled scanner is not here: {compiled.describe()}")
        return 1
    rng = np.random.default_rng(options.seed)
    for number in range(options.cases):
        difference = compare(make_case(rng), extension)
        if difference is not None:
            print(f"case {number} of seed {options.seed}\n{difference}")
            return 1
    print(f"{options.cases} cases: no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
