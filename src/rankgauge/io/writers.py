"""Rows out as text: one function a format. What a format cannot hold at all is an error that names the id."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import repeat
from typing import IO

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.ids import Ids
from rankgauge.core.tables import Floats, offsets_of
from rankgauge.errors import InputError, shown
from rankgauge.io.formats.names import Kind
from rankgauge.io.rows import Rows

WHITE = re.compile(rb"[ \t\n\v\f\r]")
# A file that begins so is taken for something else: a byte order mark, UTF-16, or a packed file.
TAKEN = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PAR1",
         b"ARROW1", b"\xff\xff\xff\xff", b"\x80", b"PK\x03\x04")  # fmt: skip
QUOTE = '"'
FORMULA = ("=", "+", "-", "@", "\t", "\r")
DEFAULT_ITER: dict[Kind, bytes] = {"qrels": b"0", "run": b"Q0"}


def trec(rows: Rows, kind: Kind, out: IO[bytes]) -> None:
    """``query iter document grade``, or ``query Q0 document rank score tag``."""
    query, doc = _words(rows.query, "query id"), _words(rows.doc, "document id")
    iters = _words(rows.iters, "iter", DEFAULT_ITER[kind])
    if kind == "qrels":
        _lines(out, b" ", zip(query, iters, doc, _whole(rows), strict=False))
        return
    rows = ranked(rows)
    query, doc = _words(rows.query, "query id"), _words(rows.doc, "document id")
    rank, tag = _words(rows.rank, "rank", b"1"), _words(rows.tag, "tag", b"run")
    iters = _words(rows.iters, "iter", DEFAULT_ITER[kind])
    _lines(out, b" ", zip(query, iters, doc, rank, _numbers(rows.value), tag, strict=False))


def msmarco(rows: Rows, kind: Kind, out: IO[bytes]) -> None:
    """``query document rank`` between tabs, or TREC's judgments."""
    if kind == "qrels":
        query, doc = _words(rows.query, "query id"), _words(rows.doc, "document id")
        iters = _words(rows.iters, "iter", DEFAULT_ITER[kind])
        _lines(out, b"\t", zip(query, iters, doc, _whole(rows), strict=False))
        return
    rows = ranked(replace(rows, rank=None))
    query, doc = _words(rows.query, "query id"), _words(rows.doc, "document id")
    assert rows.rank is not None
    _lines(out, b"\t", zip(query, doc, rows.rank, strict=True))


def beir(rows: Rows, kind: Kind, out: IO[bytes]) -> None:
    """``query-id corpus-id score`` between tabs, below a header."""
    _table(out, "\t", ["query-id", "corpus-id", "score"], [rows.query, rows.doc], list(_whole(rows)))


def delimited(rows: Rows, kind: Kind, out: IO[bytes], mark: str, *, escape_formulas: bool = False) -> None:
    """Named columns; iter, rank and tag where there are any."""
    more = [(name, column) for name, column in (("iter", rows.iters), ("rank", rows.rank), ("tag", rows.tag)) if column]
    names = ["query_id", "doc_id", *(name for name, _ in more), "relevance" if kind == "qrels" else "score"]
    ids = [rows.query, rows.doc, *(column for _, column in more)]
    _table(out, mark, names, ids, list(_numbers(rows.value)), escape_formulas=escape_formulas)


def jsonl(rows: Rows, kind: Kind, out: IO[bytes]) -> None:
    """One object a row; iter, rank and tag where there are any."""
    _refuse_infinite(rows)
    what = "relevance" if kind == "qrels" else "score"
    more = [(name, column) for name, column in (("iter", rows.iters), ("rank", rows.rank), ("tag", rows.tag)) if column]
    columns = [("query_id", rows.query), ("doc_id", rows.doc), *more]
    names = [name for name, _ in columns]
    cells = zip(*(column.to_text() for _, column in columns), strict=True)
    for texts, value in zip(cells, rows.value.tolist(), strict=True):
        row: dict[str, object] = dict(zip(names, texts, strict=True))
        row[what] = _number(value)
        out.write(_json(row) + b"\n")


def mapping(rows: Rows, kind: Kind, out: IO[bytes]) -> None:
    """``{query: {document: number}}``, a query a line."""
    _refuse_infinite(rows)
    found: dict[str, dict[str, float | int]] = {}
    for query, doc, value in zip(rows.query.to_text(), rows.doc.to_text(), rows.value.tolist(), strict=True):
        found.setdefault(query, {})[doc] = _number(value)
    for query in Ids.from_bytes(rows.empty).to_text():
        found.setdefault(query, {})
    lines = [_json(query) + b": " + _json(row) for query, row in found.items()]
    out.write(b"{\n" + b",\n".join(lines) + b"\n}\n")


def ranked(rows: Rows) -> Rows:
    """Rows with a rank column: their own, or by score, then ordered by it within each query."""
    if rows.rank is not None:
        return rows
    group = rows.group()
    by = np.argsort(group, kind="stable")
    offsets = offsets_of(group[by], int(group.max(initial=-1)) + 1)
    by = by[ranking.order(offsets, rows.doc.take(by), rows.value[by])]
    place = np.arange(len(by)) - offsets[group[by]] + 1
    more = {name: column.take(by) for name in ("iters", "tag") if isinstance(column := getattr(rows, name), Ids)}
    return replace(
        rows,
        line=rows.line[by],
        query=rows.query.take(by),
        doc=rows.doc.take(by),
        value=rows.value[by],
        rank=Ids.from_bytes([b"%d" % number for number in place.tolist()]),
        **more,  # type: ignore[arg-type]  # the two columns of that name
    )


def _words(ids: Ids | None, what: str, default: bytes | None = None) -> Iterable[bytes]:
    """Ids that can stand between blanks. A missing or empty one of the less important columns is the default."""
    if ids is None:
        assert default is not None
        return repeat(default)
    found = list(ids)
    for value in found:
        if WHITE.search(value):
            raise InputError(
                f"{what} {shown(value)} has white space in it, which separates columns in this format",
                hint="write JSON, JSON Lines, CSV or Parquet, or rename the id on both sides",
            )
    return found if default is None else [value or default for value in found]


def _lines(out: IO[bytes], mark: bytes, rows: Iterable[tuple[bytes, ...]]) -> None:
    for number, row in enumerate(rows):
        if not number and row[0].startswith(TAKEN):
            raise InputError(
                f"a file that begins with the query id {shown(row[0])} would be taken for another kind of file",
                hint="write JSON Lines, CSV or Parquet",
            )
        out.write(mark.join(row) + b"\n")


def _table(
    out: IO[bytes], mark: str, names: list[str], ids: list[Ids], values: list[bytes], *, escape_formulas: bool = False
) -> None:
    # Python's csv writer leaves a lone carriage return unquoted, which its reader then takes for a line's end.
    special = re.compile(f'[{mark}"\r\n]')
    columns = [column.to_text() for column in ids]
    if escape_formulas:
        columns = [["'" + cell if cell.startswith(FORMULA) else cell for cell in column] for column in columns]
    out.write(mark.join(names).encode("ascii") + b"\n")
    for cells, value in zip(zip(*columns, strict=True), values, strict=True):
        quoted = [f'"{cell.replace(QUOTE, QUOTE * 2)}"' if special.search(cell) else cell for cell in cells]
        out.write(mark.join(quoted).encode("utf-8", "surrogateescape") + mark.encode("ascii") + value + b"\n")


def _numbers(values: Floats) -> Iterator[bytes]:
    """The shortest text that reads back as the same number."""
    return (str(_number(value)).encode("ascii") for value in values.tolist())


def _number(value: float) -> float | int:
    whole = abs(value) < 2**53 and value == int(value) and (value != 0 or str(value) == "0.0")
    return int(value) if whole else value


def _whole(rows: Rows) -> Iterator[bytes]:
    bad = np.flatnonzero(rows.value != np.floor(rows.value))
    if len(bad):
        row = int(bad[0])
        raise InputError(
            f"grade {rows.value[row]:g} of document {shown(rows.doc[row])} for query {shown(rows.query[row])} "
            "is no whole number, and this format has only those",
            hint="write JSON, JSON Lines, CSV or Parquet",
        )
    return (b"%d" % int(value) for value in rows.value.tolist())


def _refuse_infinite(rows: Rows) -> None:
    bad = np.flatnonzero(np.isinf(rows.value))
    if len(bad):
        row = int(bad[0])
        raise InputError(
            f"the score of document {shown(rows.doc[row])} for query {shown(rows.query[row])} is infinite, "
            "which JSON does not have"
        )


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogateescape")
