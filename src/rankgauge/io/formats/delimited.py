"""CSV and TSV: columns by name where there is a header, by position where there is none.

A file without quotation marks is cut all at once, without a Python object per cell; one that has them goes through
Python's csv module. Ids keep their exact bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import decimals
from rankgauge.io.formats.columns import rows_of
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.names import Columns, Kind, find, is_header
from rankgauge.io.formats.tokens import padded
from rankgauge.io.rows import Rows
from rankgauge.io.text import checked

# How many columns a file without a header has → what stands in them.
POSITIONS: dict[Kind, dict[int, tuple[str, ...]]] = {
    "qrels": {3: ("query_id", "doc_id", "relevance"), 4: ("query_id", "iter", "doc_id", "relevance")},
    "run": {3: ("query_id", "doc_id", "score"), 6: ("query_id", "iter", "doc_id", "rank", "score", "tag")},
}
HEADER = "a header? name its columns: columns={'query': …}, --column query=NAME"


@dataclass(frozen=True, eq=False)
class Cells:
    """Texts in columns, all rows of the same width."""

    names: Sequence[str]
    line: Ints
    cells: Sequence[Ids]

    def column(self, name: str) -> Ids:
        """One column."""
        return self.cells[list(self.names).index(name)]

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids, none of them empty."""
        ids = self.column(name)
        empty = np.flatnonzero(ids.length == 0)
        faults.add("empty-id", self.line[empty], expected=f"a {what}", found="nothing")
        return ids

    def texts(self, name: str) -> Ids:
        """A column of texts, perhaps empty."""
        return self.column(name)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of decimal numbers; blanks around them do no harm."""
        tokens = stripped(self.column(name))
        values, bad = decimals.read(tokens)
        faults.add(
            what,
            self.line[bad],
            expected=f"a number as {what}",
            found=lambda at: shown(tokens[int(bad[at])]),
            action=lambda at: _hint(tokens[int(bad[at])], int(self.line[bad[at]])),
        )
        values = np.array(values)
        values[bad] = np.nan
        return values


def csv_rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """Separated by commas, or by semicolons where the first line has them and no comma."""
    data = checked(faults, data)
    first = Head(data).line
    return _rows(faults, data, b";" if b";" in first and b"," not in first else b",", kind, columns)


def tsv_rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """Separated by tabs."""
    return _rows(faults, checked(faults, data), b"\t", kind, columns)


def _rows(faults: Faults, data: bytes, mark: bytes, kind: Kind, columns: Columns | None) -> Rows:
    return rows_of(faults, named(faults, cut(faults, data, mark), kind, columns), kind, columns)


def named(faults: Faults, cells: Cells, kind: Kind, columns: Columns | None = None) -> Cells:
    """The cells under the names of their header, or under those that their number tells."""
    first = [column[0].decode("utf-8", "surrogateescape") for column in cells.cells]
    if is_header(first, kind, columns):
        return headed(cells)
    names = POSITIONS[kind].get(len(first))
    if names is None:
        # There may be a header that is not known as one: the error says what it lacks.
        find(faults.source, first, kind, columns)
        raise InputError.at(faults.source, int(cells.line[0]), f"expected a header, found {len(first)} columns")
    return Cells(names, cells.line, cells.cells)


def headed(cells: Cells) -> Cells:
    """The cells below the first row, under the names that stand in it."""
    names = [column[0].decode("utf-8", "surrogateescape").strip() for column in cells.cells]
    rest = np.arange(1, len(cells.line))
    return Cells(names, cells.line[rest], [column.take(rest) for column in cells.cells])


def cut(faults: Faults, data: bytes, mark: bytes, *, quoted: bool = True) -> Cells:
    """All cells; the first row says how many there must be on each line."""
    line, ragged = _quoted(faults, data, mark) if quoted and b'"' in data else _plain(data, mark)
    if not len(line):
        raise InputError.at(faults.source, None, "no lines with anything on them")
    width = int(ragged.count[0])
    keep = ragged.count == width
    wrong = np.flatnonzero(~keep)
    faults.add(
        "columns",
        line[wrong],
        expected=f"{width} columns, as on the first line",
        found=lambda at: f"{ragged.count[wrong[at]]}: {shown(mark.join(ragged[int(wrong[at])]))}",
    )
    return Cells([], line[keep], ragged.columns(width, keep))


@dataclass(frozen=True, eq=False)
class Ragged:
    """The cells of lines that may differ in width: where each line's first cell stands, and how many it has."""

    every: Ids
    first: Ints
    count: Ints

    def __getitem__(self, row: int) -> list[bytes]:
        begin = int(self.first[row])
        return [self.every[at] for at in range(begin, begin + int(self.count[row]))]

    def columns(self, width: int, keep: NDArray[np.bool_]) -> list[Ids]:
        """The columns of the lines that are as wide as they must be."""
        begins = self.first[keep]
        return [self.every.take(begins + at) for at in range(width)]


def _plain(data: bytes, mark: bytes) -> tuple[Ints, Ragged]:
    """Cut at every mark and newline."""
    if not data.endswith(b"\n"):
        data += b"\n"
    buffer = padded(data)
    text = buffer[: len(data)]
    newline = text == 0x0A
    ends = np.flatnonzero(newline | (text == mark[0]))
    start = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    length = ends - start
    last = newline[ends]
    # A carriage return before a newline belongs to the line's end.
    length -= last & (length > 0) & (buffer[np.maximum(ends - 1, 0)] == 0x0D)
    stops = np.flatnonzero(last)
    count = np.diff(stops, prepend=-1)
    first = stops - count + 1
    full = np.flatnonzero((count > 1) | (length[first] > 0))
    return full + 1, Ragged(Ids(buffer, start, length), first[full], count[full])


def _quoted(faults: Faults, data: bytes, mark: bytes) -> tuple[Ints, Ragged]:
    """Cut as the csv module does; a cell may hold marks, quotation marks and newlines."""
    text = data.decode("utf-8", "surrogateescape")
    # Only a newline ends a line: str.splitlines would also cut at U+2028 and 0x1C, which are part of an id.
    reader = csv.reader((part + "\n" for part in text.split("\n")), delimiter=mark.decode(), strict=True)
    lines: list[int] = []
    sizes: list[int] = []
    cells: list[bytes] = []
    before = 0
    try:
        for row in reader:
            if row:
                lines.append(before + 1)
                sizes.append(len(row))
                cells += [cell.encode("utf-8", "surrogateescape") for cell in row]
            before = reader.line_num
    except csv.Error as error:
        raise InputError.at(faults.source, before + 1, f"quotation marks are wrong: {error}") from None
    count = np.array(sizes, dtype=np.int64)
    return np.array(lines, dtype=np.int64), Ragged(Ids.from_bytes(cells), np.cumsum(count) - count, count)


def stripped(ids: Ids) -> Ids:
    """The texts without blanks around them."""
    start, length = ids.start.copy(), ids.length.copy()
    while len(odd := np.flatnonzero((length > 0) & (ids.buffer[start] == 0x20))):
        start[odd] += 1
        length[odd] -= 1
    while len(odd := np.flatnonzero((length > 0) & (ids.buffer[start + np.maximum(length - 1, 0)] == 0x20))):
        length[odd] -= 1
    return Ids(ids.buffer, start, length)


def _hint(text: bytes, line: int) -> str | None:
    if b"," in text and decimals.DECIMAL.fullmatch(text.replace(b",", b".", 1)):
        return "a decimal comma? write a point"
    if text.lower().lstrip(b"+-") == b"nan":
        return "NaN has no place in an order: give the document a score or leave it out"
    return HEADER if line == 1 else None
