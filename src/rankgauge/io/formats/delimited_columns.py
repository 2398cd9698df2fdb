"""The columns of CSV and TSV that a kind of file needs, block by block.

The extension splits plain lines. Any other line (the wrong number of cells, a number that is none), and all of them
without the extension, is split as in ``delimited``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.ids import Ids, Ints, concatenate
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, UsageError
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import delimited
from rankgauge.io.formats.compiled_cells import MAX_NAMES, CellReader, CompiledCells, WantedColumns
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.names import Columns, Kind, find_columns, is_header
from rankgauge.io.formats.text_blocks import BLOCK_ROWS, NotInBlocksError, TextBlocks

NO_COLUMNS = WantedColumns((), b"")
NO_ROWS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class DelimitedColumns:
    """Some columns of a delimited file, in the form in which any table is read."""

    names: Sequence[str]
    line: Ints
    columns: Mapping[str, Ids]
    values: Floats
    bad_rows: Ints = field(default_factory=lambda: NO_ROWS)  # those without a number …
    bad_tokens: Sequence[bytes] = ()  # … and what they have instead
    wrong_lines: Ints = field(default_factory=lambda: NO_ROWS)  # lines with the wrong number of cells …
    wrong_texts: Sequence[str] = ()  # … and what is on them

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids, none of them empty."""
        return self._cells(name).ids(faults, name, what)

    def texts(self, name: str) -> Ids:
        """A column of texts, possibly empty."""
        return self._cells(name).texts(name)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """The column of decimal numbers."""
        delimited.report_bad_numbers(faults, what, self.line[self.bad_rows], self.bad_tokens.__getitem__)
        return self.values

    def report_wrong_lines(self, faults: Faults) -> None:
        """Add lines with the wrong number of cells."""
        delimited.report_wrong_widths(faults, self.wrong_lines, len(self.names), self.wrong_texts.__getitem__)

    def _cells(self, name: str) -> delimited.Cells:
        return delimited.Cells([name], self.line, [self.columns[name]], is_guarded=True)


class DelimitedReader:
    """Reads the lines of a text. Raises :class:`NotInBlocksError` if it must be read as a whole, or is wrong."""

    def __init__(
        self,
        faults: Faults,
        blocks: TextBlocks,
        kind: Kind,
        columns: Columns | None,
        *,
        delimiter_of: Callable[[bytes], bytes],
        is_quoted: bool = True,
    ) -> None:
        self.faults, self.blocks, self.is_quoted = faults, blocks, is_quoted
        self.cells = CellReader(blocks)
        if not blocks.size:
            blocks.advance()
        self.delimiter = delimiter_of(Head(blocks.bytes(blocks.used, blocks.size)).line)
        names = self._read_names(kind, columns)
        try:
            self.roles = find_columns(faults.source, names, kind, columns)
        except (InputError, UsageError):
            raise NotInBlocksError from None
        self.wanted = WantedColumns.of_roles(names, self.roles, kind)

    def _read_names(self, kind: Kind, columns: Columns | None) -> list[str]:
        """The names of the header, which is read, or those of the positions."""
        before = self.blocks.used, self.blocks.line
        first_row = [cell.decode("utf-8", "surrogateescape") for cell in self._first_row()]
        if is_header(first_row, kind, columns):
            return [name.strip() for name in first_row]
        self.blocks.used, self.blocks.line = before
        if len(first_row) not in delimited.POSITIONS[kind]:
            raise NotInBlocksError
        return list(delimited.POSITIONS[kind][len(first_row)])

    def _first_row(self) -> list[bytes]:
        blocks = self.blocks
        if compiled.scanner is None:
            data = blocks.bytes(blocks.used, blocks.size)
            begin = len(data) - len(data.lstrip(b"\r\n"))
            end = data.find(b"\n", begin) + 1 or len(data)
            if b'"' in data[:end] or not (blocks.is_last or data.endswith(b"\n", 0, end)):
                raise NotInBlocksError
            text = data[begin:end]
            blocks.used += end
            blocks.line += data[:end].count(b"\n")
        else:
            cells = self._read_compiled(NO_COLUMNS, 1)
            if not len(cells.line):
                raise NotInBlocksError
            text = blocks.bytes(int(cells.begin[0]), int(cells.end[0]))
        ragged = delimited.split_lines(self.faults, text, self.delimiter)[1]
        if not len(ragged.count) or ragged.count[0] > MAX_NAMES:
            raise NotInBlocksError
        return ragged[0]

    def parts(self) -> Iterator[DelimitedColumns]:
        """The columns, block by block."""
        is_left = self.blocks.used < self.blocks.size or self.blocks.advance()
        while is_left:
            table, is_done = self._read_in_python() if compiled.scanner is None else self._read_block()
            if len(table.line) or len(table.wrong_lines):
                yield table
            if is_done:
                is_left = self.blocks.advance()

    def _read_compiled(self, wanted: WantedColumns, room: int) -> CompiledCells:
        assert compiled.scanner is not None
        blocks, scanner = self.blocks, compiled.scanner
        cells = self.cells.read(
            wanted,
            room,
            lambda *arrays: scanner.delimited(
                blocks.buffer, blocks.place, self.delimiter, self.is_quoted, wanted.uses, *arrays
            ),
        )
        if cells is None:
            raise NotInBlocksError
        return cells

    def _read_block(self) -> tuple[DelimitedColumns, bool]:
        cells = self._read_compiled(self.wanted, BLOCK_ROWS)
        is_done = len(cells.line) < BLOCK_ROWS
        if not len(cells.odd_rows):
            return DelimitedColumns(self.wanted.names, cells.line, cells.texts, cells.values), is_done
        spans = zip(cells.begin.tolist(), cells.end.tolist(), strict=True)
        texts = [self.blocks.bytes(begin, end) for begin, end in spans]
        data = b"".join(text if text.endswith(b"\n") else text + b"\n" for text in texts)
        _, ragged = delimited.split_lines(self.faults, data, self.delimiter)
        odd = self._columns(cells.line[cells.odd_rows], ragged)
        is_wrong = ragged.count != len(self.wanted.names)
        keep = np.ones(len(cells.line), dtype=bool)
        keep[cells.odd_rows[is_wrong]] = False
        rows = cells.odd_rows[~is_wrong]
        merged = cells.with_rows(rows, odd.columns, odd.values, keep)
        bad_rows = (np.cumsum(keep) - 1)[rows][odd.bad_rows]
        return DelimitedColumns(
            self.wanted.names,
            merged.line,
            merged.texts,
            merged.values,
            bad_rows,
            odd.bad_tokens,
            odd.wrong_lines,
            odd.wrong_texts,
        ), is_done

    def _read_in_python(self) -> tuple[DelimitedColumns, bool]:
        blocks = self.blocks
        data = blocks.bytes(blocks.used, blocks.size)
        size = len(data) if blocks.is_last else data.rfind(b"\n") + 1
        if b'"' in data:
            raise NotInBlocksError  # a cell may go on in the next block
        lines, ragged = delimited.split_lines(self.faults, data[:size], self.delimiter)
        lines = lines + blocks.line
        blocks.used += size
        blocks.line += data.count(b"\n", 0, size)
        return self._columns(lines, ragged), True

    def _columns(self, lines: Ints, ragged: delimited.RaggedCells) -> DelimitedColumns:
        """The wanted columns of lines that are split."""
        names = list(self.wanted.names)
        keep = ragged.count == len(names)
        wrong_rows = np.flatnonzero(~keep)
        # Of two columns with one name, the first counts.
        columns = dict(zip(reversed(names), reversed(ragged.columns(len(names), keep)), strict=True))
        number = self.wanted.number
        tokens = delimited.strip_spaces(columns[number]) if number is not None else Ids.from_bytes([])
        values, bad_rows = delimited.read_numbers(tokens)
        return DelimitedColumns(
            names,
            lines[keep],
            {name: columns[name] for name in self.wanted.texts},
            values,
            bad_rows,
            [tokens[row] for row in bad_rows.tolist()],
            lines[wrong_rows],
            [delimited.describe_line(ragged, row, self.delimiter) for row in wrong_rows.tolist()],
        )


def joined_parts(parts: Sequence[DelimitedColumns]) -> DelimitedColumns:
    """One table of several."""
    first_rows = np.cumsum([0, *(len(part.line) for part in parts)]).tolist()
    return DelimitedColumns(
        parts[0].names,
        np.concatenate([part.line for part in parts]),
        {name: concatenate([part.columns[name] for part in parts]) for name in parts[0].columns},
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.bad_rows + before for before, part in zip(first_rows, parts, strict=False)]),
        [token for part in parts for token in part.bad_tokens],
        np.concatenate([part.wrong_lines for part in parts]),
        [text for part in parts for text in part.wrong_texts],
    )
