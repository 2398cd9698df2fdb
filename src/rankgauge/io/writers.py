"""Batch to text in every format but TREC's: one function per format. An id that a format cannot contain is an error."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import IO, NamedTuple

import numpy as np

from rankgauge.core.batch import Batch
from rankgauge.core.ids import Ids
from rankgauge.errors import InputError, shown
from rankgauge.io.formats.formulas import guard_formula, guard_marked
from rankgauge.io.formats.names import Kind
from rankgauge.io.trec_writer import (
    WHOLE,
    Part,
    int_if_exact,
    number_text,
    whole_grades,
    with_ranks,
    words,
    write_lines,
    write_qrels_rows,
)

QUOTE = '"'


class DelimitedTable(NamedTuple):
    """Where a delimited table is written, and how."""

    out: IO[bytes]
    delimiter: str
    part: Part = WHOLE
    escape_formulas: bool = False  # whether ids that a spreadsheet would read as formulas are marked


def msmarco(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query document rank`` separated by tabs, or TREC's judgments."""
    if kind == "qrels":
        write_qrels_rows(rows, out, b"\t")
        return
    rows = with_ranks(replace(rows, rank=None))
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    assert rows.rank is not None
    write_lines(out, b"\t", zip(query, doc, rows.rank, strict=True), part)


def beir(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query-id corpus-id score`` separated by tabs, below a header."""
    names = ["query-id", "corpus-id", "score"]
    _write_table(DelimitedTable(out, "\t", part), names, [rows.query, rows.doc], list(whole_grades(rows)))


def delimited(rows: Batch, kind: Kind, table: DelimitedTable) -> None:
    """Named columns; iter, rank and tag if there are any."""
    optional = _optional_columns(rows)
    names = ["query_id", "doc_id", *(name for name, _ in optional), "relevance" if kind == "qrels" else "score"]
    ids = [rows.query, rows.doc, *(column for _, column in optional)]
    values = [number_text(value) for value in rows.value.tolist()]
    _write_table(table, names, ids, values)


def jsonl(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """One object per row; iter, rank and tag if there are any."""
    _check_finite(rows)
    value_name = "relevance" if kind == "qrels" else "score"
    columns = [("query_id", rows.query), ("doc_id", rows.doc), *_optional_columns(rows)]
    names = [name for name, _ in columns]
    cells = zip(*(column.to_text() for _, column in columns), strict=True)
    for texts, value in zip(cells, rows.value.tolist(), strict=True):
        row: dict[str, object] = dict(zip(names, texts, strict=True))
        row[value_name] = int_if_exact(value)
        out.write(_json(row) + b"\n")


def mapping(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``{query: {document: number}}``, one query per line."""
    _check_finite(rows)
    by_query: dict[str, dict[str, float | int]] = {}
    for query, doc, value in zip(rows.query.to_text(), rows.doc.to_text(), rows.value.tolist(), strict=True):
        by_query.setdefault(query, {})[doc] = int_if_exact(value)
    for query in Ids.from_bytes(rows.empty).to_text():
        by_query.setdefault(query, {})
    lines = [_json(query) + b": " + _json(row) for query, row in by_query.items()]
    begin = b"{\n" if part.is_first else b",\n" if lines else b""
    out.write(begin + b",\n".join(lines) + (b"\n}\n" if part.is_last else b""))


def _optional_columns(rows: Batch) -> list[tuple[str, Ids]]:
    columns = (("iter", rows.iters), ("rank", rows.rank), ("tag", rows.tag))
    return [(name, column) for name, column in columns if column]


def _write_table(table: DelimitedTable, names: list[str], ids: list[Ids], values: list[bytes]) -> None:
    out, delimiter = table.out, table.delimiter
    # Python's csv writer leaves a lone carriage return unquoted, which its reader then takes for the end of a line.
    special = re.compile(f'[{delimiter}"\r\n]')
    guard = guard_formula if table.escape_formulas else guard_marked
    columns = [[guard(cell) for cell in column.to_text()] for column in ids]
    if table.part.is_first:
        out.write(delimiter.join(names).encode("ascii") + b"\n")
    for cells, value in zip(zip(*columns, strict=True), values, strict=True):
        quoted = [f'"{cell.replace(QUOTE, QUOTE * 2)}"' if special.search(cell) else cell for cell in cells]
        out.write(delimiter.join(quoted).encode("utf-8", "surrogateescape") + delimiter.encode("ascii") + value + b"\n")


def _check_finite(rows: Batch) -> None:
    infinite = np.flatnonzero(np.isinf(rows.value))
    if len(infinite):
        row = int(infinite[0])
        raise InputError(
            f"the score of document {shown(rows.doc[row])} for query {shown(rows.query[row])} is infinite, "
            "which JSON cannot express"
        )


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape")
