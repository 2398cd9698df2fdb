"""Rows that do not fit into memory, in one temporary file: by partition of their query, read partition by partition.

The file has no name, so nothing of it is left when its process ends, in whatever way. A segment holds rows of one
partition, column after column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

import numpy as np

from rankgauge.core.ids import PADDING, Ids, Ints, hashes_of, order_by_group
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError
from rankgauge.io.checks.faults import Faults
from rankgauge.io.owned import nameless_file
from rankgauge.io.rows import Rows, concatenate_rows

PARTITION_BITS = 6
PARTITIONS = 1 << PARTITION_BITS
SPILLED_COLUMNS = ("query", "doc", "rank")  # ids of each row, besides numbers
HINT = "set TMPDIR to a folder with more space, or raise --memory"


@dataclass(frozen=True, eq=False)
class MarkedRows:
    """Rows of several runs: the number of the run of each row, and whether its query differs from the one before it."""

    rows: Rows
    run: Ints
    is_change: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: Ints) -> MarkedRows:
        """Some rows, in the given order."""
        return MarkedRows(self.rows.take(chosen), self.run[chosen], self.is_change[chosen])

    @property
    def size(self) -> int:
        """The bytes in memory, about."""
        ids = (getattr(self.rows, name) for name in SPILLED_COLUMNS)
        return sum(16 * len(column) + int(column.length.sum()) for column in ids if column is not None) + 32 * len(self)


def concatenate_marked(parts: list[MarkedRows]) -> MarkedRows:
    """One table of rows made of several."""
    return MarkedRows(
        concatenate_rows([part.rows for part in parts]),
        np.concatenate([part.run for part in parts]),
        np.concatenate([part.is_change for part in parts]),
    )


@dataclass(frozen=True)
class Segment:
    """A place in the file."""

    begin: int
    size: int
    rows: int


class Spill:
    """Rows by partition in a temporary file. ``depth`` is 0, and higher for what was one partition of another spill."""

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth
        self.segments: list[list[Segment]] = [[] for _ in range(PARTITIONS)]
        self._file: IO[bytes] | None = None
        self._end = 0
        self._columns: tuple[str, ...] = ()

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete the file."""
        if self._file is not None:
            self._file.close()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return self._file is None

    def is_mixed(self, number: int, faults: Faults) -> bool:
        """Whether a partition has rows of more than one query, by its first and its last rows."""
        segments = self.segments[number]
        queries = {query for at in (0, -1) for query in self.read(segments[at], faults).rows.query}
        return len(queries) > 1

    def write(self, marked: MarkedRows) -> None:
        """Add rows to their partitions."""
        self._columns = tuple(name for name in SPILLED_COLUMNS if getattr(marked.rows, name) is not None)
        shift = np.uint64(PARTITION_BITS * self.depth)
        partition = ((hashes_of(marked.rows.query, 0) >> shift) & np.uint64(PARTITIONS - 1)).astype(np.int64)
        marked = marked.take(order_by_group(partition, PARTITIONS))
        ends = np.cumsum(np.bincount(partition, minlength=PARTITIONS)).tolist()
        begin = 0
        for number, end in enumerate(ends):
            if end > begin:
                self._write_segment(number, marked, begin, end)
            begin = end

    def _write_segment(self, number: int, marked: MarkedRows, begin: int, end: int) -> None:
        rows = marked.rows.slice(begin, end)
        parts = [
            (rows.line * 2 + marked.is_change[begin:end]).tobytes(),
            rows.value.tobytes(),
            marked.run[begin:end].astype(np.int32).tobytes(),
        ]
        for name in self._columns:
            ids: Ids = getattr(rows, name).compact()
            size = int(ids.length.sum())
            parts += [ids.length.astype(np.int32).tobytes(), np.int64(size).tobytes(), ids.buffer[:size].tobytes()]
        data = b"".join(parts)
        try:
            if self._file is None:
                self._file = nameless_file()
            self._file.seek(self._end)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise InputError(f"cannot write a temporary file: {error.strerror or error}", hint=HINT) from None
        self.segments[number].append(Segment(self._end, len(data), end - begin))
        self._end += len(data)

    def sizes(self) -> Ints:
        """The bytes of each partition in the file."""
        return np.array([sum(segment.size for segment in segments) for segments in self.segments], dtype=np.int64)

    def read(self, segment: Segment, faults: Faults) -> MarkedRows:
        """The rows of a segment."""
        assert self._file is not None
        self._file.seek(segment.begin)
        data = bytearray(segment.size)
        view = memoryview(data)
        filled = 0
        while filled < segment.size:
            size = self._file.readinto(view[filled:])  # type: ignore[attr-defined]  # the file is not buffered
            if not size:
                raise InputError("a temporary file ends early", hint=HINT)
            filled += size
        cells = _Cells(data)
        line, value = cells.numbers(segment.rows, np.int64), cells.numbers(segment.rows, np.float64)
        run = cells.numbers(segment.rows, np.int32).astype(np.int64)
        columns = {name: cells.ids(segment.rows) for name in self._columns}
        rows = Rows(faults, line >> 1, columns["query"], columns["doc"], value, rank=columns.get("rank"))
        return MarkedRows(rows, run, line & 1)


class _Cells:
    """The columns of a segment, read one after another."""

    def __init__(self, data: bytearray) -> None:
        self._data, self._at = data, 0

    def numbers(self, count: int, kind: type) -> Floats | Ints:
        """The next numbers."""
        size = count * np.dtype(kind).itemsize
        out = np.frombuffer(bytes(self._data[self._at : self._at + size]), dtype=kind)
        self._at += size
        return out

    def ids(self, count: int) -> Ids:
        """The next column of ids."""
        length = self.numbers(count, np.int32).astype(np.int64)
        size = int(self.numbers(1, np.int64)[0])
        text = np.zeros(size + PADDING, dtype=np.uint8)
        text[:size] = np.frombuffer(self._data, np.uint8, size, self._at)
        self._at += size
        return Ids(text, np.cumsum(length) - length, length)
