"""A repaired copy: only what has a safe repair is touched, everything else stays as it is, byte for byte.

Lines are trimmed or dropped, then results beyond the depth, then the ranks of the queries whose ranks are wrong are
numbered anew. Rows keep their order in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.core.ids import Ints, repeated
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import trec
from rankgauge.io.formats.names import Kind
from rankgauge.io.text import BOM
from rankgauge.validation import ranks
from rankgauge.validation.codes import CODES
from rankgauge.validation.findings import Finding, Validation
from rankgauge.validation.table import NONE, Table

SIX = re.compile(rb"\s*(?:\S+\s+){5}\S+")
RANK = re.compile(rb"(\s*(?:\S+\s+){3})(\S+)")
NUMBERED = {"rank", "duplicate-rank", "rank-order", "rank-gap", "rank-start", "duplicate-document", "too-deep"}
HOPELESS = {"unreadable", "empty", "swapped"}


@dataclass(frozen=True)
class Repair:
    """The repaired text, the findings it is meant to end, and those it leaves. No text: nothing could be done."""

    text: bytes | None
    done: tuple[Finding, ...]
    left: tuple[Finding, ...]


def repaired(
    data: bytes, kind: Kind, validation: Validation, *, max_depth: int | None = None, by_subtopic: bool = False
) -> Repair:
    """Repair a TREC text by its validation, made with the same depth and subtopics."""
    found = set(validation.codes)
    if found & HOPELESS:
        return Repair(None, (), validation.findings)
    lines = data.removeprefix(BOM).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if "crlf" in found:
        lines = [line.removesuffix(b"\r") for line in lines]
    if "header" in found:
        lines[(validation["header"].places[0].line or 1) - 1] = b""
    if found & {"header", "blank-line"}:
        lines = [line for line in lines if line.strip()]
    if "extra-columns" in found:
        for number in _table(lines, kind).rows.line.tolist():
            lines[number - 1] = _six(lines[number - 1])
    shortened: set[bytes] = set()
    if found & {"duplicate-document", "duplicate-judgment"}:
        table = _table(lines, kind)
        lines, shortened = _without(lines, table.rows.line[_again(table, kind, by_subtopic)])
    if "too-deep" in found and max_depth is not None:
        table = _table(lines, kind)
        lines, cut = _without(lines, table.rows.line[table.ranking.rank > max_depth])
        shortened |= cut
    if found & NUMBERED:
        _renumber(lines, shortened)
    return Repair(
        b"".join(line + b"\n" for line in lines),
        tuple(finding for finding in validation.findings if _repairable(finding)),
        tuple(finding for finding in validation.findings if not _repairable(finding)),
    )


def _repairable(finding: Finding) -> bool:
    return finding.code in CODES and CODES[finding.code].repair is not None


def _six(line: bytes) -> bytes:
    kept = SIX.match(line)
    return kept.group() if kept and len(line.split(None, 6)) > 6 else line


def _again(table: Table, kind: Kind, by_subtopic: bool) -> Ints:
    """The rows that say once more what an earlier one says."""
    first, again = repeated(table.rows.doc, table.rows.group(by_iter=True) if by_subtopic else table.query)
    return again if kind == "run" else again[table.rows.value[first] == table.rows.value[again]]


def _without(lines: list[bytes], numbers: Ints) -> tuple[list[bytes], set[bytes]]:
    """The lines without some of them, and the queries of these."""
    dropped = set(numbers.tolist())
    kept = [line for number, line in enumerate(lines, start=1) if number not in dropped]
    return kept, set(_queries(lines[number - 1] for number in dropped))


def _queries(lines: Iterable[bytes]) -> Iterable[bytes]:
    return (line.split(None, 1)[0] for line in lines)


def _renumber(lines: list[bytes], shortened: set[bytes]) -> None:
    """Write the ranks of the order rule into the queries whose ranks are wrong.

    A gap that a line which cannot be read explains is none, but where lines were dropped it must be closed.
    """
    table = _table(lines, "run")
    wrong = ranks.faulty_queries(table)
    if shortened:
        bare = ranks.faulty_queries(replace(table, skipped=NONE))
        ours = [number for number, query in enumerate(table.queries) if query in shortened]
        wrong = np.union1d(wrong, np.intersect1d(bare, np.array(ours, dtype=np.int64)))
    rows = np.flatnonzero(np.isin(table.query, wrong))
    for line, rank in zip(table.rows.line[rows].tolist(), table.ranking.rank[rows].tolist(), strict=True):
        lines[line - 1] = RANK.sub(rb"\g<1>" + str(rank).encode(), lines[line - 1], count=1)


def _table(lines: list[bytes], kind: Kind) -> Table:
    read = trec.run_rows if kind == "run" else trec.qrels_rows
    rows = read(Faults("repair", limit=0), b"\n".join(lines))
    return Table(rows, np.setdiff1d(np.arange(1, len(lines) + 1), rows.line))
