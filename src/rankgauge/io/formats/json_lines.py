"""Judgments or results as JSON objects, one per line or in an array, read block by block and written.

The extension reads plain objects. Any other one, and all of them without the extension, is read by Python's decoder,
which also says what is wrong with it. No object is kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.arrays import Floats
from rankgauge.core.batch import WHOLE, Batch, Part
from rankgauge.core.ids import Ids, Ints
from rankgauge.errors import InputError, UsageError
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats.compiled_cells import MAX_NAMES, CellReader, CompiledCells, WantedColumns
from rankgauge.io.formats.detection import HEAD_BYTES, Head
from rankgauge.io.formats.json_text import (
    BLANKS,
    JsonItems,
    JsonPairs,
    NotJsonError,
    check_finite,
    describe_json,
    id_from_json,
    json_bytes,
    number_from_json,
    parse_whole,
    read_records_of_lines,
)
from rankgauge.io.formats.named_columns import Kind, Wanted, batch_from_columns, find_columns, optional_columns
from rankgauge.io.formats.text_blocks import BLOCK_ROWS, Restart, TextBlocks, open_text
from rankgauge.io.text_checks import int_if_exact

Record = dict[str, Any]
BadCells = list[tuple[int, str]]  # the row, and what was found
SAMPLED_LINES = 64  # whose keys are known before the first block is read
NEVER_A_KEY = b'"'  # in the text of a file


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """The rows of a file."""
    head = Head(stream.head(HEAD_BYTES))
    is_array = head.text.lstrip()[:1] == b"["
    blocks = open_text(stream, faults, has_lines=not is_array, is_kept=wanted.is_kept)
    reader = RecordReader(faults, blocks, wanted, head, is_array=is_array)
    count = 0
    for table in reader.parts():
        count += len(table.line)
        table.report_not_objects(faults)
        if reader.roles:
            yield batch_from_columns(faults, table, wanted.kind, reader.roles)
    if not count:
        faults.raise_errors()
        raise InputError.at(faults.source, None, "no lines with content")
    if not reader.roles:
        find_columns(faults.source, list(reader.names), wanted.kind, wanted.columns)  # raises


@dataclass(frozen=True, eq=False)
class RecordColumns:
    """Some columns of objects, in the form in which any table is read. A cell that cannot be read is empty or NaN."""

    line: Ints
    columns: Mapping[str, Ids]
    values: Floats
    bad_ids: Mapping[str, BadCells]
    bad_numbers: BadCells
    not_objects: BadCells  # lines, not rows

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids: strings, or whole numbers, which become their digits."""
        self._add(faults, "id", self.bad_ids[name], f"a string or a whole number as {what}")
        return self.columns[name]

    def texts(self, name: str) -> Ids:
        """A column of texts; a value that is neither a string nor a whole number is empty."""
        return self.columns[name]

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """The column of numbers; true and false are 1 and 0."""
        self._add(faults, what, self.bad_numbers, f"a number as {what}")
        return self.values

    def report_not_objects(self, faults: Faults) -> None:
        """Add values that are not objects."""
        lines = [line for line, _ in self.not_objects]
        faults.add("record", lines, expected="an object", found=lambda at: self.not_objects[at][1])

    def _add(self, faults: Faults, code: str, bad: BadCells, expected: str) -> None:
        lines = self.line[np.array([row for row, _ in bad], dtype=np.int64)]
        faults.add(code, lines, expected=expected, found=lambda at: bad[at][1])


class RecordReader:
    """Reads the objects of a text, one per line or in an array, with the columns of a kind of file.

    Raises :class:`Restart` if a key that appears late changes which column is which.
    """

    def __init__(self, faults: Faults, blocks: TextBlocks, wanted: Wanted, head: Head, *, is_array: bool) -> None:
        self.faults, self.blocks, self.is_array = faults, blocks, is_array
        self.kind, self.chosen = wanted.kind, wanted.columns
        self.names = dict.fromkeys(wanted.names)
        self.cells = CellReader(blocks)
        self._items = 0  # of the array, so far
        self._sample_names(head)
        self.roles = self.find_roles()

    def find_roles(self) -> dict[str, str]:
        """Role → column by the names known so far; none if there is an error, which is reported at the end."""
        try:
            return find_columns(self.faults.source, list(self.names), self.kind, self.chosen)
        except (InputError, UsageError):
            return {}

    def _sample_names(self, head: Head) -> None:
        """Learn the keys of the first objects; what is wrong with them is reported later."""
        if self.is_array:
            self.names.update(dict.fromkeys(head.record or ()))
            return
        for text in head.text.decode("utf-8", "surrogateescape").split("\n")[:SAMPLED_LINES]:
            try:
                value = read_records_of_lines(self.faults.source, [1], [text])[0]
            except InputError:
                continue
            self.names.update(dict.fromkeys(value if isinstance(value, dict) else ()))

    def parts(self) -> Iterator[RecordColumns]:
        """The columns, block by block."""
        read = self._array_parts if self.is_array else self._line_parts
        for rows in read():
            if len(rows.line) or rows.not_objects:
                yield rows

    @property
    def _is_compiled(self) -> bool:
        return compiled.scanner is not None and len(self.names) <= MAX_NAMES

    def _line_parts(self) -> Iterator[RecordColumns]:
        is_left = self.blocks.used < self.blocks.size or self.blocks.advance()
        while is_left:
            cells = self._read_compiled() if self._is_compiled else None
            yield self._lines_in_python() if cells is None else self._columns(cells)
            if cells is None or len(cells.line) < BLOCK_ROWS:
                is_left = self.blocks.advance()

    def _array_parts(self) -> Iterator[RecordColumns]:
        blocks = self.blocks
        try:
            self._skip_bracket()
            yield from self._compiled_array()
            if not blocks.is_ended_by(b"]"):
                for values in JsonItems(blocks, is_object=False, has_begun=self._items > 0):
                    yield self._from_pairs(values)
        except (NotJsonError, InputError):
            # What is not JSON, anywhere, is said before anything else.
            for value in parse_whole(blocks, self.faults.source):
                if isinstance(value, JsonPairs):
                    value.to_dict(self.faults.source, None)
            raise

    def _skip_bracket(self) -> None:
        text = self.blocks.rest()
        while not text.strip() and self.blocks.advance():
            text = self.blocks.rest()
        self.blocks.used += len(text) - len(text.lstrip()) + 1

    def _compiled_array(self) -> Iterator[RecordColumns]:
        """The objects that the extension reads; it stops behind a comma, or at the end."""
        while self._is_compiled and not self.blocks.is_ended_by(b"]"):
            cells = self._read_compiled()
            if cells is None:
                return
            yield self._columns(cells)
            if len(cells.line) < BLOCK_ROWS and not self.blocks.is_last:
                self.blocks.advance()

    @property
    def wanted(self) -> WantedColumns:
        """The columns that are read, among those known so far."""
        return WantedColumns.of_roles(list(self.names), self.roles, self.kind)

    def _read_compiled(self) -> CompiledCells | None:
        """Some rows of the block; None if Python must read it."""
        assert compiled.scanner is not None
        wanted = self.wanted
        blocks, scanner = self.blocks, compiled.scanner
        names = tuple(map(_key_bytes, wanted.names))
        cells = self.cells.read(
            wanted,
            BLOCK_ROWS,
            lambda *arrays: scanner.records(blocks.buffer, blocks.place, self.is_array, names, wanted.uses, *arrays),
        )
        if cells is None or not self.is_array:
            return cells
        return replace(cells, line=self._number(len(cells.line)))

    def _number(self, count: int) -> Ints:
        """The numbers of the next items of the array."""
        self._items += count
        return np.arange(self._items - count, self._items) + 1

    def _columns(self, cells: CompiledCells) -> RecordColumns:
        """The rows of the extension; those that it left are read by Python."""
        if not len(cells.odd_rows):
            bad_ids: dict[str, BadCells] = {name: [] for name in self.wanted.ids}
            return RecordColumns(cells.line, cells.texts, cells.values, bad_ids, [], [])
        lines = cells.line[cells.odd_rows].tolist()
        spans = zip(cells.begin.tolist(), cells.end.tolist(), strict=True)
        texts = [self.blocks.part(begin, end).decode("utf-8", "surrogateescape") for begin, end in spans]
        return self._merged(cells, self.from_texts(lines, texts))

    def _merged(self, cells: CompiledCells, odd: RecordColumns) -> RecordColumns:
        """The rows of the extension with those that Python read."""
        keep = np.ones(len(cells.line), dtype=bool)
        is_object = ~np.isin(cells.line[cells.odd_rows], [line for line, _ in odd.not_objects])
        keep[cells.odd_rows[~is_object]] = False
        rows = cells.odd_rows[is_object]
        merged = cells.with_rows(rows, odd.columns, odd.values, keep)
        place = (np.cumsum(keep) - 1)[rows].tolist()  # of each odd row among those that are kept
        return RecordColumns(
            merged.line,
            merged.texts,
            merged.values,
            {name: [(place[row], found) for row, found in bad] for name, bad in odd.bad_ids.items()},
            [(place[row], found) for row, found in odd.bad_numbers],
            odd.not_objects,
        )

    def _lines_in_python(self) -> RecordColumns:
        blocks = self.blocks
        data = blocks.rest()
        size = len(data) if blocks.is_last else data.rfind(b"\n") + 1
        texts = data[:size].decode("utf-8", "surrogateescape").split("\n")
        if not texts[-1]:
            texts.pop()
        first_line = blocks.line + 1
        blocks.used += size
        blocks.line += len(texts)
        lines: Sequence[int] = range(first_line, first_line + len(texts))
        if not all(text and text[0] == "{" for text in texts):
            lines = [line for line, text in zip(lines, texts, strict=True) if text.strip(BLANKS)]
            texts = [text for text in texts if text.strip(BLANKS)]
        return self.from_texts(lines, texts)

    def _from_pairs(self, values: Sequence[Any]) -> RecordColumns:
        """The columns of objects in an array that Python decoded."""
        source = self.faults.source
        records = [value.to_dict(source, None) if isinstance(value, JsonPairs) else value for value in values]
        return self.from_values(self._number(len(records)).tolist(), records)

    def from_texts(self, lines: Sequence[int], texts: Sequence[str]) -> RecordColumns:
        """The columns of objects in their texts."""
        return self.from_values(lines, read_records_of_lines(self.faults.source, lines, texts))

    def from_values(self, lines: Sequence[int], values: Sequence[Any]) -> RecordColumns:
        """The columns of objects that Python's decoder made."""
        wanted = self.wanted
        items = list(zip(lines, values, strict=True))
        records = [value for value in values if type(value) is dict]
        self._learn(records)
        columns: dict[str, Ids] = {}
        bad_ids: dict[str, BadCells] = {}
        for name in wanted.texts:
            columns[name], bad = _ids([record.get(name) for record in records], name)
            if name in wanted.ids:
                bad_ids[name] = bad
        number = wanted.number
        numbers, bad_numbers = _numbers([record.get(number) for record in records] if number is not None else [])
        return RecordColumns(
            np.array([line for line, value in items if type(value) is dict], dtype=np.int64),
            columns,
            numbers if number is not None else np.zeros(len(records)),
            bad_ids,
            bad_numbers,
            [(line, describe_json(value)) for line, value in items if type(value) is not dict],
        )

    def _learn(self, records: Sequence[Record]) -> None:
        before = len(self.names)
        for record in records:
            if not self.names.keys() >= record.keys():
                self.names.update(dict.fromkeys(record))
        if len(self.names) > before and self.find_roles() != self.roles:
            raise Restart(tuple(self.names))


def _ids(values: Sequence[object], name: str) -> tuple[Ids, BadCells]:
    """The ids in JSON values, and those that are none."""
    try:
        return Ids.from_text(values, name), []
    except InputError:
        pass
    ids: list[bytes] = []
    bad: BadCells = []
    for row, value in enumerate(values):
        try:
            ids.append(id_from_json(value, name))
        except InputError:
            ids.append(b"")
            bad.append((row, describe_json(value)))
    return Ids.from_bytes(ids), bad


def _numbers(values: Sequence[Any]) -> tuple[Floats, BadCells]:
    """The numbers in JSON values, and those that are none."""
    try:
        return np.frombuffer(array("d", values)).copy(), []
    except (TypeError, OverflowError):
        pass
    numbers = [number_from_json(value) for value in values]
    bad = [(row, describe_json(values[row])) for row, number in enumerate(numbers) if number is None]
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64), bad


def _key_bytes(name: str) -> bytes:
    """A key as it is in the text of a file, for the extension. One with half a character is only written in escapes."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return NEVER_A_KEY


def write_json_lines(rows: Batch, kind: Kind, out: IO[bytes], part: Part = WHOLE) -> None:
    """One object per row; iter, rank and tag if there are any."""
    check_finite(rows)
    value_name = "relevance" if kind == "qrels" else "score"
    columns = [("query_id", rows.query), ("doc_id", rows.doc), *optional_columns(rows)]
    names = [name for name, _ in columns]
    cells = zip(*(column.to_text() for _, column in columns), strict=True)
    for texts, value in zip(cells, rows.value.tolist(), strict=True):
        row: dict[str, object] = dict(zip(names, texts, strict=True))
        row[value_name] = int_if_exact(value)
        out.write(json_bytes(row) + b"\n")
