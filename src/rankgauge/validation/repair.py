"""A repaired copy: only what has a safe repair is changed, everything else stays the same, byte for byte.

Lines are trimmed or removed, then results beyond the maximum depth are removed, then the ranks of queries with wrong
ranks are renumbered. Rows keep their order in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.core.batch import NO_LINES
from rankgauge.core.ids import Ints, repeated
from rankgauge.io.byte_streams import LoadedFile
from rankgauge.io.faults import Faults
from rankgauge.io.formats.named_columns import Kind, Wanted
from rankgauge.io.read import collect
from rankgauge.io.sources import open_results
from rankgauge.io.text_checks import BOM
from rankgauge.validation.codes import CODES
from rankgauge.validation.findings import Finding, Validation
from rankgauge.validation.run_validation import queries_with_wrong_ranks
from rankgauge.validation.validated_file import CheckedRows

SIX_COLUMNS = re.compile(rb"\s*(?:\S+\s+){5}\S+")
RANK_COLUMN = re.compile(rb"\A(\s*(?:\S+\s+){3})(\S+)")
RENUMBERED = {"rank", "duplicate-rank", "rank-order", "rank-gap", "rank-start", "duplicate-document", "too-deep"}
NOT_REPAIRABLE = {"unreadable", "empty", "swapped"}


@dataclass(frozen=True)
class Repair:
    """The repaired text, the findings it resolves, and those that remain. Without a text, nothing was repaired."""

    text: bytes | None
    resolved: tuple[Finding, ...]
    remaining: tuple[Finding, ...]


def repair_text(
    data: bytes, kind: Kind, validation: Validation, *, max_depth: int | None = None, by_subtopic: bool = False
) -> Repair:
    """Repair a TREC text by its validation, which must have the same depth and subtopic options."""
    codes = set(validation.codes)
    if codes & NOT_REPAIRABLE:
        return Repair(None, (), validation.findings)
    lines = data.removeprefix(BOM).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if "crlf" in codes:
        lines = [line.removesuffix(b"\r") for line in lines]
    if "header" in codes:
        lines[(validation["header"].places[0].line or 1) - 1] = b""
    if codes & {"header", "blank-line"}:
        lines = [line for line in lines if line.strip()]
    if "extra-columns" in codes and "columns" not in codes:
        for number in _read_table(lines, kind).rows.line.tolist():
            lines[number - 1] = _first_six_columns(lines[number - 1])
    shortened_queries: set[bytes] = set()
    if codes & {"duplicate-document", "duplicate-judgment"}:
        table = _read_table(lines, kind)
        lines, shortened_queries = _remove_lines(lines, table.rows.line[_redundant_rows(table, kind, by_subtopic)])
    if "too-deep" in codes and max_depth is not None:
        table = _read_table(lines, kind)
        lines, cut_queries = _remove_lines(lines, table.rows.line[table.ranking.rank > max_depth])
        shortened_queries |= cut_queries
    if codes & RENUMBERED:
        _renumber(lines, shortened_queries)
    return Repair(
        b"".join(line + b"\n" for line in lines),
        tuple(finding for finding in validation.findings if _is_repairable(finding, codes)),
        tuple(finding for finding in validation.findings if not _is_repairable(finding, codes)),
    )


def _is_repairable(finding: Finding, codes: set[str]) -> bool:
    # If some lines have the wrong number of columns, the usual number is uncertain: a long line may be two joined ones.
    if finding.code == "extra-columns" and "columns" in codes:
        return False
    return finding.code in CODES and CODES[finding.code].repair is not None


def _first_six_columns(line: bytes) -> bytes:
    match = SIX_COLUMNS.match(line)
    return match.group() if match and len(line.split(None, 6)) > 6 else line


def _redundant_rows(table: CheckedRows, kind: Kind, by_subtopic: bool) -> Ints:
    """The rows that repeat an earlier one."""
    group = table.rows.group(by_iter=True) if by_subtopic else table.query
    first_rows, repeated_rows = repeated(table.rows.doc, group)
    if kind == "run":
        return repeated_rows
    agreeing_rows: Ints = repeated_rows[table.rows.value[first_rows] == table.rows.value[repeated_rows]]
    return agreeing_rows


def _remove_lines(lines: list[bytes], numbers: Ints) -> tuple[list[bytes], set[bytes]]:
    """The lines without some of them, and the queries of the removed ones."""
    removed_numbers = set(numbers.tolist())
    kept_lines = [line for number, line in enumerate(lines, start=1) if number not in removed_numbers]
    return kept_lines, set(_query_ids(lines[number - 1] for number in removed_numbers))


def _query_ids(lines: Iterable[bytes]) -> Iterable[bytes]:
    return (line.split(None, 1)[0] for line in lines)


def _renumber(lines: list[bytes], shortened_queries: set[bytes]) -> None:
    """Write the ranks of the order rule into the queries whose ranks are wrong.

    A gap that is explained by an unreadable line is not a fault, but if lines were removed it must be closed.
    """
    table = _read_table(lines, "run")
    wrong_queries = queries_with_wrong_ranks(table)
    if shortened_queries:
        unexplained = queries_with_wrong_ranks(replace(table, skipped=NO_LINES))
        shortened = [number for number, query in enumerate(table.queries) if query in shortened_queries]
        wrong_queries = np.union1d(wrong_queries, np.intersect1d(unexplained, np.array(shortened, dtype=np.int64)))
    rows = np.flatnonzero(np.isin(table.query, wrong_queries))
    for line, rank in zip(table.rows.line[rows].tolist(), table.ranking.rank[rows].tolist(), strict=True):
        lines[line - 1] = RANK_COLUMN.sub(rb"\g<1>" + str(rank).encode(), lines[line - 1], count=1)


def _read_table(lines: list[bytes], kind: Kind) -> CheckedRows:
    faults = Faults("repair", limit=0)
    text = LoadedFile("repair", b"\n".join(lines))
    with open_results(text, kind, format="trec") as source:
        rows = collect(source, Wanted(kind), faults)
    return CheckedRows(rows, faults, np.setdiff1d(np.arange(1, len(lines) + 1), rows.line))
