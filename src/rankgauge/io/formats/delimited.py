"""CSV and TSV: columns by name if there is a header, otherwise by position.

A file without quotation marks is split all at once, without a Python object per cell; one that has them goes through
Python's csv module. Ids keep their exact bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import decimals
from rankgauge.io.formats.columns import SPACE, rows_from_columns
from rankgauge.io.formats.formulas import GUARD, unguard_formula
from rankgauge.io.formats.names import Columns, Kind, find_columns, is_header
from rankgauge.io.formats.tokens import pad
from rankgauge.io.rows import Rows

# The number of columns of a file without a header → their names.
POSITIONS: dict[Kind, dict[int, tuple[str, ...]]] = {
    "qrels": {3: ("query_id", "doc_id", "relevance"), 4: ("query_id", "iter", "doc_id", "relevance")},
    "run": {3: ("query_id", "doc_id", "score"), 6: ("query_id", "iter", "doc_id", "rank", "score", "tag")},
}
NO_ROWS = np.zeros(0, dtype=np.int64)
HEADER_HINT = "a header? name its columns: columns={'query': …}, --column query=NAME"


@dataclass(frozen=True, eq=False)
class Cells:
    """Texts in columns; all rows have the same width."""

    names: Sequence[str]
    line: Ints
    cells: Sequence[Ids]
    is_guarded: bool = False  # whether a mark against formulas is not part of a text

    def column(self, name: str) -> Ids:
        """One column."""
        return self.cells[list(self.names).index(name)]

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids, none of them empty."""
        ids, guarded_rows = unguarded(self.column(name)) if self.is_guarded else (self.column(name), NO_ROWS)
        faults.add(
            "guarded-id",
            self.line[guarded_rows],
            expected=f"a {what} without a mark against formulas",
            found=lambda at: f"a ' before {shown(ids[int(guarded_rows[at])])}, which is read without it",
            severity="warning",
        )
        empty_rows = np.flatnonzero(ids.length == 0)
        faults.add("empty-id", self.line[empty_rows], expected=f"a {what}", found="nothing")
        return ids

    def texts(self, name: str) -> Ids:
        """A column of texts, possibly empty."""
        return unguarded(self.column(name))[0] if self.is_guarded else self.column(name)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of decimal numbers; spaces around them are ignored."""
        tokens = strip_spaces(self.column(name))
        values, bad_rows = read_numbers(tokens)
        report_bad_numbers(faults, what, self.line[bad_rows], lambda at: tokens[int(bad_rows[at])])
        return values


def read_numbers(tokens: Ids) -> tuple[Floats, Ints]:
    """The value of each token, and the rows that have no number, whose value is NaN."""
    values, bad_rows = decimals.read(tokens)
    values = np.array(values)
    values[bad_rows] = np.nan
    return values, bad_rows


def report_bad_numbers(faults: Faults, what: str, lines: Ints, token: Callable[[int], bytes]) -> None:
    """Add tokens that are not numbers."""
    faults.add(
        what,
        lines,
        expected=f"a number as {what}",
        found=lambda at: shown(token(at)),
        action=lambda at: _number_hint(token(at), int(lines[at])),
    )


def report_wrong_widths(faults: Faults, lines: Ints, width: int, found: Callable[[int], str]) -> None:
    """Add lines that have not as many cells as the first."""
    faults.add("columns", lines, expected=f"{width} columns, as on the first line", found=found)


def describe_line(ragged: RaggedCells, row: int, delimiter: bytes) -> str:
    """A line with the wrong number of cells, for a message."""
    return f"{ragged.count[row]}: {shown(delimiter.join(ragged[row]))}"


def csv_problem(error: csv.Error) -> str:
    """What is wrong with a line that the csv module rejects."""
    if "new-line" in str(error):
        return "a carriage return in a cell without quotation marks: quote the cell, or convert the line endings"
    return f"wrong quotation marks: {error}"


def delimiter_of(line: bytes) -> bytes:
    """The delimiter of a file by its first line: a tab if there is one, else a comma or a semicolon."""
    return b"\t" if b"\t" in line else comma_or_semicolon(line)


def comma_or_semicolon(line: bytes) -> bytes:
    """A semicolon if the first line has one and no comma, else a comma."""
    return b";" if b";" in line and b"," not in line else b","


def rows_of_cells(faults: Faults, data: bytes, delimiter: bytes, kind: Kind, columns: Columns | None) -> Rows:
    """The rows of a text, all of whose cells are split at once."""
    cells = split_cells(faults, data, delimiter)
    named = replace(_with_names(faults, cells, kind, columns), is_guarded=True)
    return rows_from_columns(faults, named, kind, columns)


def _with_names(faults: Faults, cells: Cells, kind: Kind, columns: Columns | None) -> Cells:
    """The cells under the names of their header, or under those of their positions."""
    first_row = [column[0].decode("utf-8", "surrogateescape") for column in cells.cells]
    if is_header(first_row, kind, columns):
        return with_header(cells)
    names = POSITIONS[kind].get(len(first_row))
    if names is None:
        # The first row may be a header with unknown names: the error says what it lacks.
        find_columns(faults.source, first_row, kind, columns)
        raise InputError.at(faults.source, int(cells.line[0]), f"expected a header, found {len(first_row)} columns")
    return Cells(names, cells.line, cells.cells)


def with_header(cells: Cells) -> Cells:
    """The cells below the first row, under the names in it."""
    names = [column[0].decode("utf-8", "surrogateescape").strip() for column in cells.cells]
    rows = np.arange(1, len(cells.line))
    return Cells(names, cells.line[rows], [column.take(rows) for column in cells.cells])


def split_cells(faults: Faults, data: bytes, delimiter: bytes, *, quoted: bool = True) -> Cells:
    """All cells; the first row sets the number of columns of every line."""
    line, ragged = split_lines(faults, data, delimiter, quoted=quoted)
    if not len(line):
        raise InputError.at(faults.source, None, "no lines with content")
    width = int(ragged.count[0])
    keep = ragged.count == width
    wrong_rows = np.flatnonzero(~keep)
    report_wrong_widths(
        faults, line[wrong_rows], width, lambda at: describe_line(ragged, int(wrong_rows[at]), delimiter)
    )
    return Cells([], line[keep], ragged.columns(width, keep))


@dataclass(frozen=True, eq=False)
class RaggedCells:
    """The cells of lines of different widths: all cells, the first cell of each line, and how many each line has."""

    cells: Ids
    first: Ints
    count: Ints

    def __getitem__(self, row: int) -> list[bytes]:
        begin = int(self.first[row])
        return [self.cells[position] for position in range(begin, begin + int(self.count[row]))]

    def columns(self, width: int, keep: NDArray[np.bool_]) -> list[Ids]:
        """The columns of the lines that have the right width."""
        begins = self.first[keep]
        return [self.cells.take(begins + number) for number in range(width)]


def split_lines(faults: Faults, data: bytes, delimiter: bytes, *, quoted: bool = True) -> tuple[Ints, RaggedCells]:
    """The lines that are not blank, and their cells."""
    has_quotes = quoted and b'"' in data
    return _split_quoted(faults, data, delimiter) if has_quotes else _split_plain(data, delimiter)


def _split_plain(data: bytes, delimiter: bytes) -> tuple[Ints, RaggedCells]:
    """Split at every delimiter and newline."""
    if not data.endswith(b"\n"):
        data += b"\n"
    buffer = pad(data)
    text = buffer[: len(data)]
    is_newline = text == 0x0A
    ends = np.flatnonzero(is_newline | (text == delimiter[0]))
    start = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    length = ends - start
    is_last = is_newline[ends]
    # A carriage return before a newline belongs to the line ending.
    length -= is_last & (length > 0) & (buffer[np.maximum(ends - 1, 0)] == 0x0D)
    last_cells = np.flatnonzero(is_last)
    count = np.diff(last_cells, prepend=-1)
    first = last_cells - count + 1
    lines = np.flatnonzero((count > 1) | (length[first] > 0))
    return lines + 1, RaggedCells(Ids(buffer, start, length), first[lines], count[lines])


def _split_quoted(faults: Faults, data: bytes, delimiter: bytes) -> tuple[Ints, RaggedCells]:
    """Split as the csv module does; a cell may contain delimiters, quotation marks and newlines."""
    text = data.decode("utf-8", "surrogateescape")
    # Only a newline ends a line: str.splitlines would also split at U+2028 and 0x1C, which are part of an id.
    reader = csv.reader((part + "\n" for part in text.split("\n")), delimiter=delimiter.decode(), strict=True)
    lines: list[int] = []
    sizes: list[int] = []
    cells: list[bytes] = []
    lines_before = 0
    try:
        for row in reader:
            if row:
                lines.append(lines_before + 1)
                sizes.append(len(row))
                cells += [cell.encode("utf-8", "surrogateescape") for cell in row]
            lines_before = reader.line_num
    except csv.Error as error:
        raise InputError.at(faults.source, lines_before + 1, csv_problem(error)) from None
    count = np.array(sizes, dtype=np.int64)
    return np.array(lines, dtype=np.int64), RaggedCells(Ids.from_bytes(cells), np.cumsum(count) - count, count)


def unguarded(ids: Ids) -> tuple[Ids, Ints]:
    """The texts without the marks that keep a spreadsheet from running them, and which rows had one."""
    quoted_rows = np.flatnonzero((ids.length > 0) & (ids.buffer[ids.start] == ord(GUARD)))
    texts = ids.take(quoted_rows).to_text()
    rows: Ints = quoted_rows[[unguard_formula(text) != text for text in texts]] if texts else quoted_rows
    if not len(rows):
        return ids, rows
    start, length = ids.start.copy(), ids.length.copy()
    start[rows] += 1
    length[rows] -= 1
    return Ids(ids.buffer, start, length), rows


def strip_spaces(ids: Ids) -> Ids:
    """The texts without leading and trailing spaces."""
    start, length = ids.start.copy(), ids.length.copy()
    while len(rows := np.flatnonzero((length > 0) & (ids.buffer[start] == SPACE))):
        start[rows] += 1
        length[rows] -= 1
    while len(rows := np.flatnonzero((length > 0) & (ids.buffer[start + np.maximum(length - 1, 0)] == SPACE))):
        length[rows] -= 1
    return Ids(ids.buffer, start, length)


def _number_hint(text: bytes, line: int) -> str | None:
    return decimals.number_hint(text) or (HEADER_HINT if line == 1 else None)
