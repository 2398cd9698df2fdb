"""Rows that do not fit into memory, in one temporary file: by partition of their query, read partition by partition.

The file has no name, so nothing of it is left when its process ends, in whatever way. A segment holds rows of one
partition, column after column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import PADDING, Ids, Ints, concatenate, hashes_of, order_by_group
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, write_error
from rankgauge.io.owned import nameless_file

PARTITION_BITS = 7
PARTITIONS = 1 << PARTITION_BITS
HINT = "set TMPDIR to a folder with more space, or raise the limit: --set reading.memory=SIZE"


@dataclass(frozen=True, eq=False)
class MarkedRows:
    """Rows of several runs. ``mark`` is twice the line, and 1 more if the query differs from that of the row before."""

    mark: Ints
    value: Floats
    run: Ints | None  # the number of the run; None: all are of the first
    ids: tuple[Ids, ...]  # the query, the document and, if there is one, the rank

    def __len__(self) -> int:
        return len(self.mark)

    @property
    def query(self) -> Ids:
        """The query of each row."""
        return self.ids[0]

    def take(self, rows: Ints) -> MarkedRows:
        """Some rows, in the given order."""
        run = None if self.run is None else self.run[rows]
        return MarkedRows(self.mark[rows], self.value[rows], run, tuple(ids.take(rows) for ids in self.ids))

    @property
    def size(self) -> int:
        """The bytes in memory, about."""
        return sum(16 * len(ids) + int(ids.length.sum()) for ids in self.ids) + 24 * len(self)


def concatenate_marked(parts: Sequence[MarkedRows]) -> MarkedRows:
    """One table of rows made of several."""
    if len(parts) == 1:
        return parts[0]
    runs = [np.zeros(len(part), dtype=np.int64) if part.run is None else part.run for part in parts]
    return MarkedRows(
        np.concatenate([part.mark for part in parts]),
        np.concatenate([part.value for part in parts]),
        None if all(part.run is None for part in parts) else np.concatenate(runs),
        tuple(concatenate(column) for column in zip(*(part.ids for part in parts), strict=True)),
    )


@dataclass(frozen=True)
class Segment:
    """A place in the file."""

    begin: int
    size: int
    rows: int
    columns: int
    has_runs: bool


class SpillFile:
    """A temporary file without a name, which exists as soon as something is written."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._end = 0

    def close(self) -> None:
        """Delete the file."""
        if self._file is not None:
            self._file.close()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return self._file is None

    def append(self, data: bytes) -> int:
        """Write at the end, and return where that is."""
        begin = self._end
        try:
            if self._file is None:
                self._file = nameless_file()
            self._file.seek(begin)
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise write_error("a temporary file", error, hint=HINT) from None
        self._end += len(data)
        return begin

    def read_into(self, begin: int, data: NDArray[np.uint8]) -> None:
        """Fill an array with the bytes from a place on."""
        assert self._file is not None
        filled = 0
        try:
            self._file.seek(begin)
            while filled < len(data):
                size = self._file.readinto(data.data[filled:])  # type: ignore[attr-defined]  # the file is not buffered
                if not size:
                    raise InputError("a temporary file ends early", hint=HINT)
                filled += size
        except OSError as error:
            raise InputError(f"cannot read a temporary file: {error.strerror or error}", hint=HINT) from None


class Spill:
    """Rows by partition in a temporary file. ``depth`` is 0, and higher for what was one partition of another spill."""

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth
        self.segments: list[list[Segment]] = [[] for _ in range(PARTITIONS)]
        self._file = SpillFile()

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return self._file.is_empty

    def sizes(self) -> Ints:
        """The bytes of each partition in the file."""
        return np.array([sum(segment.size for segment in segments) for segments in self.segments], dtype=np.int64)

    def is_mixed(self, number: int) -> bool:
        """Whether a partition has rows of more than one query, as far as its first segment and its last one say."""
        first, last = self.read(self.segments[number][:1]), self.read(self.segments[number][-1:])
        return len(first.query.changes()) > 1 or len(last.query.changes()) > 1 or first.query[0] != last.query[0]

    def write(self, rows: MarkedRows) -> None:
        """Add rows to their partitions."""
        shift = np.uint64(PARTITION_BITS * self.depth)
        partition = ((hashes_of(rows.query, 0) >> shift) & np.uint64(PARTITIONS - 1)).astype(np.int64)
        rows = rows.take(order_by_group(partition, PARTITIONS))
        rows = MarkedRows(rows.mark, rows.value, rows.run, tuple(ids.compact() for ids in rows.ids))
        ends = np.cumsum(np.bincount(partition, minlength=PARTITIONS)).tolist()
        begin = 0
        for number, end in enumerate(ends):
            if end > begin:
                self._write_segment(number, rows, begin, end)
            begin = end

    def _write_segment(self, number: int, rows: MarkedRows, begin: int, end: int) -> None:
        parts: list[NDArray[Any]] = [rows.mark[begin:end], rows.value[begin:end]]
        parts += [] if rows.run is None else [rows.run[begin:end]]
        for ids in rows.ids:
            first, last = int(ids.start[begin]), int(ids.start[end - 1] + ids.length[end - 1])
            parts += [ids.length[begin:end].astype(np.int32), ids.buffer[first:last]]
        data = b"".join(part.data for part in parts)
        place = self._file.append(data)
        self.segments[number].append(Segment(place, len(data), end - begin, len(rows.ids), rows.run is not None))

    def read(self, segments: Sequence[Segment]) -> MarkedRows:
        """The rows of some segments, one after another."""
        pieces = [_pieces(self._load(segment), segment) for segment in segments]
        mark, value, run, *columns = zip(*pieces, strict=True)
        has_runs = any(segment.has_runs for segment in segments)
        return MarkedRows(
            np.concatenate(mark),
            np.concatenate(value),
            np.concatenate(run) if has_runs else None,
            tuple(_ids(lengths, texts) for lengths, texts in zip(columns[::2], columns[1::2], strict=True)),
        )

    def _load(self, segment: Segment) -> NDArray[np.uint8]:
        """The bytes of a segment."""
        data = np.empty(segment.size, dtype=np.uint8)
        self._file.read_into(segment.begin, data)
        return data


def _pieces(data: NDArray[np.uint8], segment: Segment) -> list[NDArray[Any]]:
    """The columns of a segment: marks, values, runs, then the lengths and the text of each column of ids."""
    at = 0

    def numbers(kind: str) -> NDArray[Any]:
        nonlocal at
        size = segment.rows * np.dtype(kind).itemsize
        at += size
        return data[at - size : at].view(kind)

    pieces = [numbers("i8"), numbers("f8"), numbers("i8") if segment.has_runs else np.zeros(segment.rows, np.int64)]
    for _ in range(segment.columns):
        lengths = numbers("i4")
        size = int(lengths.sum())
        pieces += [lengths, data[at : at + size]]
        at += size
    return pieces


def _ids(lengths: Sequence[NDArray[Any]], texts: Sequence[NDArray[np.uint8]]) -> Ids:
    """A column of ids from the lengths and the texts of several segments."""
    length = np.concatenate(lengths).astype(np.int64)
    text = np.concatenate([*texts, np.zeros(PADDING, dtype=np.uint8)])
    return Ids(text, np.cumsum(length) - length, length)
