"""Columns of JSON objects, block by block: no object is kept.

The extension reads plain objects. Any other one, and all of them without the extension, is read by Python's decoder,
which also says what is wrong with it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.ids import Ids, Ints, concatenate
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, UsageError
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.compiled_cells import MAX_NAMES, CellReader, CompiledCells, WantedColumns
from rankgauge.io.formats.head import Head
from rankgauge.io.formats.jsonl import describe_json, id_from_json, number_from_json
from rankgauge.io.formats.jsontext import BLANKS, read_records_of_lines
from rankgauge.io.formats.names import Columns, Kind, find_columns
from rankgauge.io.formats.text_blocks import BLOCK_ROWS, NewColumnError, NotInBlocksError, TextBlocks

Record = dict[str, Any]
BadCells = list[tuple[int, str]]  # the row, and what was found
SAMPLED_LINES = 64  # whose keys are known before the first block is read
SAMPLED_BYTES = 1 << 16


@dataclass(frozen=True, eq=False)
class RecordColumns:
    """Some columns of objects, in the form in which any table is read. A cell that cannot be read is empty or NaN."""

    names: Sequence[str]
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

    Raises :class:`NewColumnError` if a key that appears late changes which column is which: ``names`` has it then.
    """

    def __init__(
        self,
        faults: Faults,
        blocks: TextBlocks,
        kind: Kind,
        columns: Columns | None,
        names: Sequence[str] = (),
    ) -> None:
        self.faults, self.blocks, self.kind, self.chosen = faults, blocks, kind, columns
        self.names = dict.fromkeys(names)
        self.cells = CellReader(blocks)
        if not blocks.size:
            blocks.advance()
        head = blocks.bytes(blocks.used, min(blocks.size, blocks.used + SAMPLED_BYTES))
        stripped = head.lstrip()
        self.is_array = stripped[:1] == b"["
        self._sample_names(head)
        if self.is_array:
            blocks.used += len(head) - len(stripped) + 1
        self.roles = self.find_roles()

    def find_roles(self) -> dict[str, str]:
        """Role → column by the names known so far; none if there is an error, which is reported at the end."""
        try:
            return find_columns(self.faults.source, list(self.names), self.kind, self.chosen)
        except (InputError, UsageError):
            return {}

    def _sample_names(self, head: bytes) -> None:
        """Learn the keys of the first objects; what is wrong with them is reported later."""
        if self.is_array:
            self.names.update(dict.fromkeys(Head(head).record or ()))
            return
        for text in head.decode("utf-8", "surrogateescape").split("\n")[:SAMPLED_LINES]:
            try:
                value = read_records_of_lines(self.faults.source, [1], [text])[0]
            except InputError:
                continue
            self.names.update(dict.fromkeys(value if isinstance(value, dict) else ()))

    def parts(self) -> Iterator[RecordColumns]:
        """The columns, block by block."""
        blocks = self.blocks
        is_left, is_ended = self.is_array or blocks.used < blocks.size or blocks.advance(), not self.is_array
        while is_left:
            is_ended |= blocks.is_last  # an array ends in the last block, where the extension checks that
            if compiled.scanner is None or len(self.names) > MAX_NAMES:
                rows, is_done = self._read_in_python(), True
            else:
                rows, is_done = self._read_compiled()
            if len(rows.line) or rows.not_objects:
                yield rows
            if is_done:
                is_left = blocks.advance()
        if not is_ended:
            raise NotInBlocksError

    @property
    def wanted(self) -> WantedColumns:
        """The columns that are read, among those known so far."""
        return WantedColumns.of_roles(list(self.names), self.roles, self.kind)

    def _read_compiled(self) -> tuple[RecordColumns, bool]:
        assert compiled.scanner is not None
        wanted = self.wanted
        blocks, scanner = self.blocks, compiled.scanner
        names = tuple(name.encode("utf-8", "surrogateescape") for name in wanted.names)
        cells = self.cells.read(
            wanted,
            BLOCK_ROWS,
            lambda *arrays: scanner.records(blocks.buffer, blocks.place, self.is_array, names, wanted.uses, *arrays),
        )
        if cells is None:
            raise NotInBlocksError
        is_done = len(cells.line) < BLOCK_ROWS
        if not len(cells.odd_rows):
            names_of_ids: dict[str, BadCells] = {name: [] for name in wanted.ids}
            return RecordColumns(list(self.names), cells.line, cells.texts, cells.values, names_of_ids, [], []), is_done
        lines = cells.line[cells.odd_rows].tolist()
        spans = zip(cells.begin.tolist(), cells.end.tolist(), strict=True)
        texts = [blocks.bytes(begin, end).decode("utf-8", "surrogateescape") for begin, end in spans]
        try:
            odd = self.from_texts(lines, texts)
        except InputError:
            if self.is_array:
                raise NotInBlocksError from None  # something later may be wrong first: that it is not JSON
            raise
        return self._merged(cells, odd), is_done

    def _merged(self, cells: CompiledCells, odd: RecordColumns) -> RecordColumns:
        """The rows of the extension with those that Python read."""
        keep = np.ones(len(cells.line), dtype=bool)
        is_object = np.ones(len(cells.odd_rows), dtype=bool)
        # Lines of an array are 0, but everything in it is an object: it would not have been read otherwise.
        is_object[np.isin(cells.line[cells.odd_rows], [line for line, _ in odd.not_objects])] = False
        keep[cells.odd_rows[~is_object]] = False
        rows = cells.odd_rows[is_object]
        merged = cells.with_rows(rows, odd.columns, odd.values, keep)
        place = (np.cumsum(keep) - 1)[rows].tolist()  # of each odd row among those that are kept
        return RecordColumns(
            odd.names,
            merged.line,
            merged.texts,
            merged.values,
            {name: [(place[row], found) for row, found in bad] for name, bad in odd.bad_ids.items()},
            [(place[row], found) for row, found in odd.bad_numbers],
            odd.not_objects,
        )

    def _read_in_python(self) -> RecordColumns:
        if self.is_array:
            raise NotInBlocksError
        blocks = self.blocks
        data = blocks.bytes(blocks.used, blocks.size)
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
            list(self.names),
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
            raise NewColumnError


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


def joined_parts(parts: Sequence[RecordColumns]) -> RecordColumns:
    """One table of several; the names are those of the last one, which knows all."""
    first_rows = np.cumsum([0, *(len(part.line) for part in parts)]).tolist()
    placed = list(zip(first_rows, parts, strict=False))
    return RecordColumns(
        parts[-1].names,
        np.concatenate([part.line for part in parts]),
        {name: concatenate([part.columns[name] for part in parts]) for name in parts[0].columns},
        np.concatenate([part.values for part in parts]),
        {
            name: [(before + row, found) for before, part in placed for row, found in part.bad_ids[name]]
            for name in parts[0].bad_ids
        },
        [(before + row, found) for before, part in placed for row, found in part.bad_numbers],
        [item for part in parts for item in part.not_objects],
    )
