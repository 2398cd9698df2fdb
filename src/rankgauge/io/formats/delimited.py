"""CSV and TSV, MS MARCO's runs among them, read and written: columns by name, or by position without a header.

A line without quotation marks is split at its delimiters; one with them is read as Python's csv module reads it. The
extension splits plain lines, and Python the others. Ids keep their exact bytes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled
from rankgauge.core.arrays import Floats
from rankgauge.core.batch import WHOLE, Batch, Part
from rankgauge.core.ids import Ids, Ints
from rankgauge.errors import InputError, shown
from rankgauge.io import text_checks
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats.compiled_cells import MAX_NAMES, CellReader, CompiledCells, WantedColumns
from rankgauge.io.formats.detection import HEAD_BYTES, Head
from rankgauge.io.formats.named_columns import (
    SPACE,
    Kind,
    Wanted,
    batch_from_columns,
    find_columns,
    is_header,
    optional_columns,
)
from rankgauge.io.formats.text_blocks import BLOCK_ROWS, TextBlocks, open_text
from rankgauge.io.formats.trec import whole_grades, with_ranks, words, write_lines, write_qrels_rows

# The number of columns of a file without a header → their names.
POSITIONS: dict[Kind, dict[int, tuple[str, ...]]] = {
    "qrels": {3: ("query_id", "doc_id", "relevance"), 4: ("query_id", "iter", "doc_id", "relevance")},
    "run": {3: ("query_id", "doc_id", "score"), 6: ("query_id", "iter", "doc_id", "rank", "score", "tag")},
}
RANKED_NAMES = ("query_id", "doc_id", "rank")  # of MS MARCO's runs
RANK = re.compile(rb"[0-9]{1,9}")
NO_ROWS = np.zeros(0, dtype=np.int64)
HEADER_HINT = "a header? name its columns: columns={'query': …}, --column query=NAME"
CELL_ENDS_LATER = "unexpected end of data"  # in the words of the csv module


def csv_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """Rows separated by commas, or by semicolons if the first line has them and no comma."""
    head = Head(stream.head(HEAD_BYTES))
    blocks = open_text(stream, faults, is_kept=wanted.is_kept)
    return DelimitedReader(faults, blocks, wanted, comma_or_semicolon(head.line)).batches()


def tsv_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """Rows separated by tabs."""
    return DelimitedReader(faults, open_text(stream, faults, is_kept=wanted.is_kept), wanted, b"\t").batches()


def msmarco_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """``query document rank`` separated by tabs, without scores; a quotation mark is part of an id here."""
    blocks = open_text(stream, faults, is_kept=wanted.is_kept)
    return DelimitedReader(faults, blocks, wanted, b"\t", positions=RANKED_NAMES).batches()


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
    values, bad_rows = text_checks.read(tokens)
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


def with_header(cells: Cells) -> Cells:
    """The cells below the first row, under the names in it."""
    names = [column[0].decode("utf-8", "surrogateescape").strip() for column in cells.cells]
    rows = np.arange(1, len(cells.line))
    return Cells(names, cells.line[rows], [column.take(rows) for column in cells.cells])


def split_cells(faults: Faults, data: bytes, delimiter: bytes, *, quoted: bool = True) -> Cells:
    """All cells; the first row sets the number of columns of every line."""
    line, ragged, _, _ = Splitter(faults.source, delimiter, quoted).split(data)
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


class SplitLines(NamedTuple):
    """Lines that are not blank, their cells, and how much of the text they are."""

    line: Ints
    ragged: RaggedCells
    lines: int  # blank ones included
    size: int  # bytes


class Splitter(NamedTuple):
    """How the lines of a file are split into cells."""

    source: str
    delimiter: bytes
    is_quoted: bool = True  # whether a cell may be in quotation marks

    def split_first(self, data: bytes, *, is_last: bool, before: int) -> SplitLines:
        """The first line that is not blank, and the blank ones before it."""
        begin = lines = 0
        while begin < len(data):
            end = data.find(b"\n", begin) + 1 or (len(data) if is_last else 0)
            if not end:
                break
            line = data[begin:end]
            found = None
            if self.is_quoted and b'"' in line:
                found = self.split(data[begin:], is_last=is_last, before=before + lines, most=1)
            elif line.removesuffix(b"\n").removesuffix(b"\r"):
                found = self.split(line, before=before + lines)
            if found is not None:
                return found._replace(lines=lines + found.lines, size=begin + found.size)
            begin, lines = end, lines + 1
        return SplitLines(NO_ROWS, RaggedCells(Ids.from_bytes([]), NO_ROWS, NO_ROWS), lines, begin)

    def split(self, data: bytes, *, is_last: bool = True, before: int = 0, most: int | None = None) -> SplitLines:
        """All lines of a text that comes after some others, or the first ones that are not blank.

        A line that is not complete is left, unless the text is the last. A cell in quotation marks may contain
        delimiters, quotation marks and newlines.
        """
        # Only a newline ends a line: str.splitlines would also split at U+2028 and 0x1C, which are part of an id.
        texts = data.decode("utf-8", "surrogateescape").split("\n")
        rest = texts.pop()
        if rest and is_last:
            texts.append(rest)
        mark = self.delimiter.decode()
        lines: list[int] = []
        rows: list[list[str]] = []
        at = 0
        while at < len(texts) and len(rows) != most:
            row, size = texts[at].removesuffix("\r").split(mark), 1
            is_quoted = self.is_quoted and '"' in texts[at]
            if is_quoted:
                reader = csv.reader((text + "\n" for text in islice(texts, at, None)), delimiter=mark, strict=True)
                try:
                    row = next(reader)
                except csv.Error as error:
                    if not is_last and CELL_ENDS_LATER in str(error):
                        break
                    raise InputError.at(self.source, before + at + 1, csv_problem(error)) from None
                size = reader.line_num
            if row != [""] or is_quoted:
                lines.append(before + at + 1)
                rows.append(row)
            at += size
        count = np.array([len(row) for row in rows], dtype=np.int64)
        cells = Ids.from_bytes([cell.encode("utf-8", "surrogateescape") for row in rows for cell in row])
        used = sum(len(text.encode("utf-8", "surrogateescape")) + 1 for text in texts[:at])
        ragged = RaggedCells(cells, np.cumsum(count) - count, count)
        return SplitLines(np.array(lines, dtype=np.int64), ragged, at, min(used, len(data)))


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
    return text_checks.number_hint(text) or (HEADER_HINT if line == 1 else None)


@dataclass(frozen=True, eq=False)
class DelimitedColumns:
    """Some columns of a delimited file, in the form in which any table is read."""

    width: int  # the number of cells of a line
    line: Ints
    columns: Mapping[str, Ids]
    values: Floats
    bad_rows: Ints = field(default_factory=lambda: NO_ROWS)  # those without a number …
    bad_tokens: Sequence[bytes] = ()  # … and what they have instead
    wrong_lines: Ints = field(default_factory=lambda: NO_ROWS)  # lines with the wrong number of cells …
    wrong_texts: Sequence[str] = ()  # … and what is on them
    is_guarded: bool = True  # whether a mark against formulas is not part of a text

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids, none of them empty."""
        return self._cells(name).ids(faults, name, what)

    def texts(self, name: str) -> Ids:
        """A column of texts, possibly empty."""
        return self._cells(name).texts(name)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """The column of decimal numbers."""
        report_bad_numbers(faults, what, self.line[self.bad_rows], self.bad_tokens.__getitem__)
        return self.values

    def report_wrong_lines(self, faults: Faults) -> None:
        """Add lines with the wrong number of cells."""
        report_wrong_widths(faults, self.wrong_lines, self.width, self.wrong_texts.__getitem__)

    def _cells(self, name: str) -> Cells:
        return Cells([name], self.line, [self.columns[name]], self.is_guarded)


class FirstRow(NamedTuple):
    """The first row of a text: where to read it again, as bytes of the block and lines before it, and what it has."""

    before: tuple[int, int]
    line: int
    cells: list[str]


class DelimitedReader:
    """Reads the lines of a text. ``positions`` are the names of columns that never have a header."""

    def __init__(
        self,
        faults: Faults,
        blocks: TextBlocks,
        wanted: Wanted,
        delimiter: bytes,
        *,
        positions: Sequence[str] | None = None,
    ) -> None:
        self.faults, self.blocks, self.kind = faults, blocks, wanted.kind
        self.splitter = Splitter(faults.source, delimiter, is_quoted=positions is None)
        self.cells = CellReader(blocks)
        names = self._read_names(wanted, positions)
        self.roles = find_columns(faults.source, names, wanted.kind, wanted.columns)
        self.wanted = WantedColumns.of_roles(names, self.roles, wanted.kind)

    def _read_names(self, wanted: Wanted, positions: Sequence[str] | None) -> list[str]:
        """The names of the header, which is read, or those of the positions."""
        blocks, source = self.blocks, self.faults.source
        before, line, first_row = self._first_row()
        if positions is not None:
            if len(first_row) != len(positions):
                expected = f"expected {len(positions)} columns (query document rank)"
                raise InputError.at(source, line, f"{expected}, found {len(first_row)}")
            blocks.used, blocks.line = before
            return list(positions)
        if is_header(first_row, wanted.kind, wanted.columns):
            return [name.strip() for name in first_row]
        blocks.used, blocks.line = before
        names = POSITIONS[wanted.kind].get(len(first_row))
        if names is None:
            # The first row may be a header with unknown names: the error says what it lacks.
            find_columns(source, first_row, wanted.kind, wanted.columns)
            raise InputError.at(source, line, f"expected a header, found {len(first_row)} columns")
        return list(names)

    def _first_row(self) -> FirstRow:
        """The first line that is not blank, which is read."""
        blocks = self.blocks
        while True:
            before = blocks.used, blocks.line  # in this block: the next one begins with what is not read of it
            found = self.splitter.split_first(blocks.rest(), is_last=blocks.is_last, before=blocks.line)
            blocks.used += found.size
            blocks.line += found.lines
            if len(found.line):
                cells = [cell.decode("utf-8", "surrogateescape") for cell in found.ragged[0]]
                return FirstRow(before, int(found.line[0]), cells)
            if not blocks.advance():
                raise InputError.at(self.faults.source, None, "no lines with content")

    def batches(self) -> Iterator[Batch]:
        """The rows, block by block."""
        for table in self._parts():
            table.report_wrong_lines(self.faults)
            yield batch_from_columns(self.faults, table, self.kind, self.roles)

    def _parts(self) -> Iterator[DelimitedColumns]:
        is_left = self.blocks.used < self.blocks.size or self.blocks.advance()
        while is_left:
            cells = self._read_compiled()
            table = self._read_in_python() if cells is None else self._columns_of_cells(cells)
            table = replace(table, is_guarded=self.splitter.is_quoted)
            if len(table.line) or len(table.wrong_lines):
                yield table
            if cells is None or len(cells.line) < BLOCK_ROWS:
                is_left = self.blocks.advance()

    def _read_compiled(self) -> CompiledCells | None:
        """Some lines of the block; None if Python must read it."""
        if compiled.scanner is None or len(self.wanted.names) > MAX_NAMES:
            return None
        blocks, scanner, (_, delimiter, is_quoted) = self.blocks, compiled.scanner, self.splitter
        return self.cells.read(
            self.wanted,
            BLOCK_ROWS,
            lambda *arrays: scanner.delimited(
                blocks.buffer, blocks.place, delimiter, is_quoted, self.wanted.uses, *arrays
            ),
        )

    def _columns_of_cells(self, cells: CompiledCells) -> DelimitedColumns:
        """The lines of the extension; those that it left are read by Python."""
        width = len(self.wanted.names)
        if not len(cells.odd_rows):
            return DelimitedColumns(width, cells.line, cells.texts, cells.values)
        spans = zip(cells.begin.tolist(), cells.end.tolist(), strict=True)
        texts = [self.blocks.part(begin, end) for begin, end in spans]
        data = b"".join(text if text.endswith(b"\n") else text + b"\n" for text in texts)
        ragged = self.splitter.split(data).ragged
        odd = self._columns(cells.line[cells.odd_rows], ragged)
        is_wrong = ragged.count != width
        keep = np.ones(len(cells.line), dtype=bool)
        keep[cells.odd_rows[is_wrong]] = False
        rows = cells.odd_rows[~is_wrong]
        merged = cells.with_rows(rows, odd.columns, odd.values, keep)
        return DelimitedColumns(
            width,
            merged.line,
            merged.texts,
            merged.values,
            (np.cumsum(keep) - 1)[rows][odd.bad_rows],
            odd.bad_tokens,
            odd.wrong_lines,
            odd.wrong_texts,
        )

    def _read_in_python(self) -> DelimitedColumns:
        blocks = self.blocks
        found = self.splitter.split(blocks.rest(), is_last=blocks.is_last, before=blocks.line)
        blocks.used += found.size
        blocks.line += found.lines
        return self._columns(found.line, found.ragged)

    def _columns(self, lines: Ints, ragged: RaggedCells) -> DelimitedColumns:
        """The wanted columns of lines that are split."""
        names = list(self.wanted.names)
        keep = ragged.count == len(names)
        wrong_rows = np.flatnonzero(~keep)
        # Of two columns with one name, the first counts.
        columns = dict(zip(reversed(names), reversed(ragged.columns(len(names), keep)), strict=True))
        number = self.wanted.number
        tokens = strip_spaces(columns[number]) if number is not None else Ids.from_bytes([])
        values, bad_rows = read_numbers(tokens)
        return DelimitedColumns(
            len(names),
            lines[keep],
            {name: columns[name] for name in self.wanted.texts},
            values,
            bad_rows,
            [tokens[row] for row in bad_rows.tolist()],
            lines[wrong_rows],
            [describe_line(ragged, row, self.splitter.delimiter) for row in wrong_rows.tolist()],
        )


def has_ranks(lines: Sequence[bytes]) -> bool:
    """Whether the third of three columns is a rank: whole numbers that increase from 0 or 1 in each query.

    Raises if they could as well be scores, as in 3, 1, 2.
    """
    rows = [line.split(b"\t") for line in lines]
    if not rows or any(len(cells) != 3 or not RANK.fullmatch(cells[2]) for cells in rows):
        return False
    values: dict[bytes, list[int]] = {}
    for query, _, number in rows:
        values.setdefault(query, []).append(int(number))
    if all(numbers[0] in (0, 1) and np.all(np.diff(numbers) > 0) for numbers in values.values()):
        return True
    never_increase = all(np.all(np.diff(numbers) <= 0) for numbers in values.values())
    if never_increase and not all(sorted(numbers) == list(range(1, len(numbers) + 1)) for numbers in values.values()):
        return False
    raise InputError(
        f"the third column may be a rank or a score: {shown(lines[0])}",
        hint="choose one: format='msmarco' (ranks) or format='tsv' (scores), --set reading.run_format=…, --from",
    )


QUOTE = '"'


class DelimitedTable(NamedTuple):
    """Where a delimited table is written, and how."""

    out: IO[bytes]
    delimiter: str
    part: Part = WHOLE
    escape_formulas: bool = False  # whether ids that a spreadsheet would read as formulas are marked


def write_msmarco_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query document rank`` separated by tabs, or TREC's judgments."""
    if kind == "qrels":
        write_qrels_rows(rows, out, b"\t")
        return
    rows = with_ranks(replace(rows, rank=None))
    query, doc = words(rows.query, "query id"), words(rows.doc, "document id")
    assert rows.rank is not None
    write_lines(out, b"\t", zip(query, doc, rows.rank, strict=True), part)


def write_beir_rows(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """``query-id corpus-id score`` separated by tabs, below a header."""
    names = ["query-id", "corpus-id", "score"]
    write_table(DelimitedTable(out, "\t", part), names, [rows.query, rows.doc], list(whole_grades(rows)))


def write_delimited_rows(rows: Batch, kind: Kind, table: DelimitedTable) -> None:
    """Named columns; iter, rank and tag if there are any."""
    optional = optional_columns(rows)
    names = ["query_id", "doc_id", *(name for name, _ in optional), "relevance" if kind == "qrels" else "score"]
    ids = [rows.query, rows.doc, *(column for _, column in optional)]
    values = [text_checks.number_text(value) for value in rows.value.tolist()]
    write_table(table, names, ids, values)


def write_table(table: DelimitedTable, names: list[str], ids: list[Ids], values: list[bytes]) -> None:
    """Columns of ids, and one of numbers, below their names."""
    out, delimiter = table.out, table.delimiter
    # Python's csv writer leaves a lone carriage return unquoted, which its reader then takes for the end of a line.
    # A line that begins with :: or ##[ is a command for the runner of a CI server that sees it.
    special = re.compile(rf'[{delimiter}"\r\n]|^\s*(?:::|##\[)')
    guard = guard_formula if table.escape_formulas else guard_marked
    columns = [[guard(cell) for cell in column.to_text()] for column in ids]
    if table.part.is_first:
        out.write(delimiter.join(names).encode("ascii") + b"\n")
    for cells, value in zip(zip(*columns, strict=True), values, strict=True):
        quoted = [f'"{cell.replace(QUOTE, QUOTE * 2)}"' if special.search(cell) else cell for cell in cells]
        out.write(delimiter.join(quoted).encode("utf-8", "surrogateescape") + delimiter.encode("ascii") + value + b"\n")


# Cells of CSV that a spreadsheet would run as a formula, made safe so that they read back as they were.
#
# A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets a ``'`` before it: spreadsheets
# show it and do not run it. A plain number stays as it is: it is no formula, and must stay a number. So that nothing
# is lost, a text that begins with ``'`` and such a character gets one more, and reading removes one.

GUARD = "'"
FORMULA_STARTS = "=+-@\t\r"
GUARDABLE = re.compile(rf"{GUARD}*[{re.escape(FORMULA_STARTS)}]")
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?", re.ASCII)


def guard_formula(text: str) -> str:
    """A text that no spreadsheet runs."""
    return GUARD + text if GUARDABLE.match(text) and not NUMBER.fullmatch(text) else text


def guard_marked(text: str) -> str:
    """A text that reads back as it is, without making it safe: only one that looks guarded gets a guard."""
    return guard_formula(text) if text.startswith(GUARD) else text


def unguard_formula(text: str) -> str:
    """The inverse of ``guard_formula``."""
    is_guarded = text.startswith(GUARD) and GUARDABLE.match(text) and not NUMBER.fullmatch(text[1:])
    return text[1:] if is_guarded else text
