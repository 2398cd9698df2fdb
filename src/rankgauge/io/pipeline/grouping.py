"""Whole queries out of rows in any order.

Usually the rows of a query are contiguous, and only the last query of a batch waits for the next one. If queries are
scattered over a source, rows are grouped first, in memory or in a temporary file.

Rows collect in memory up to a limit. If there are more, all of them go into a temporary file, partitioned by a hash of
the query; then one partition after the other is read back, grouped and handed on. A partition above the limit is
partitioned again. The rows of one query must fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.batch import Batch, concatenate_batches
from rankgauge.core.ids import PADDING, Ids, Ints, concatenate, hashes_of, number_ids, order_by_group
from rankgauge.errors import InputError, write_error
from rankgauge.io.faults import Faults
from rankgauge.io.owned_files import nameless_file
from rankgauge.io.row_checks import report_split_queries

MAX_DEPTH = 3
MEMORY_SHARE = 16  # rows take up to this share of the memory budget: grouping and ranking them take a multiple of it
FREED_BYTES = 30 << 20
RunGroup = tuple[int, Batch]  # the number of a run, and rows of whole queries of it
Report = Callable[[float], None]


class WholeQueries:
    """Batches that end anywhere become batches that end where a query ends."""

    def __init__(self) -> None:
        self._held: list[Batch] = []  # of one query, of which more may follow

    def push(self, rows: Batch) -> Iterator[Batch]:
        """The rows of queries that are complete, as far as that is known."""
        if rows.empty:
            yield replace(rows.slice(0, 0), empty=rows.empty)
            rows = replace(rows, empty=())
        if not len(rows):
            return
        if rows.is_whole and not self._held:
            yield rows
            return
        begins = rows.query_begins()
        if self._held and self._held[-1].query[0] == rows.query[0]:
            self._held.append(rows.slice(0, int(begins[1]) if len(begins) > 1 else len(rows)))
            begins = begins[1:]
        if len(begins):
            yield from self.finish()
            if begins[-1] > begins[0]:
                yield replace(rows.slice(int(begins[0]), int(begins[-1])), begins=begins[:-1] - begins[0])
            self._held = [rows.slice(int(begins[-1]), len(rows))]

    def finish(self) -> Iterator[Batch]:
        """The rows of the last query."""
        if self._held:
            held, self._held = self._held, []
            yield replace(concatenate_batches(held), begins=np.zeros(1, dtype=np.int64))


class Grouping:
    """The rows of all runs of a file while they are grouped: ``add`` all of them, then take them ``by_query``."""

    def __init__(self, faults: Faults, memory: int) -> None:
        self.faults, self.limit = faults, memory // MEMORY_SHARE
        self._rows: list[MarkedRows] = []
        self._size = 0
        self._spill = Spill()
        self._last: dict[int, bytes] = {}  # the query of the last row of each run
        self._has_ranks_only = False
        np.empty(FREED_BYTES, dtype=np.uint8)  # so that glibc keeps the memory of arrays (see core/arrays.py)

    def __enter__(self) -> Grouping:
        return self

    def __exit__(self, *_: object) -> None:
        self._spill.close()

    def add(self, run: int, rows: Batch) -> None:
        """Add the next rows of a run."""
        if not len(rows):
            return
        self._has_ranks_only = rows.has_ranks_only
        mark = rows.line * 2
        mark[rows.query_begins()] += 1
        mark[0] -= self._last.get(run) == rows.query[0]
        self._last[run] = rows.query[len(rows) - 1]
        ids = (rows.query, rows.doc) if rows.rank is None else (rows.query, rows.doc, rows.rank)
        marked = MarkedRows(mark, rows.value, np.full(len(rows), run) if run else None, ids)
        self._rows.append(marked)
        self._size += marked.size
        if self._size > self.limit:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._spill.write(concatenate_marked(self._rows))
        self._rows, self._size = [], 0

    def by_query(self, progress: Report) -> Iterator[RunGroup]:
        """The rows of whole queries; ``progress`` receives the share that was handed on."""
        if self._spill.is_empty:
            if self._rows:
                yield from self._group(concatenate_marked(self._rows))
            return
        self._flush()
        yield from self._partitions(self._spill, progress)

    def _partitions(self, spill: Spill, progress: Report) -> Iterator[RunGroup]:
        sizes = spill.sizes()
        for number, size in enumerate(sizes.tolist()):
            if size > self.limit and spill.depth < MAX_DEPTH and spill.is_mixed(number):
                with Spill(spill.depth + 1) as finer:
                    for segment in spill.segments[number]:
                        finer.write(spill.read([segment]))
                    yield from self._partitions(finer, lambda share: None)
            elif size:
                yield from self._group(spill.read(spill.segments[number]))
            progress(float(sizes[: number + 1].sum() / sizes.sum()))

    def _group(self, marked: MarkedRows) -> Iterator[RunGroup]:
        """The rows by run and query, with notes on queries that resume after others."""
        run = np.zeros(len(marked), dtype=np.int64) if marked.run is None else marked.run
        group, groups = number_ids(marked.query, run)
        order = order_by_group(group, groups)
        marked, group = marked.take(order), group[order]
        self._report_split(marked, group)
        for number in [0] if marked.run is None else np.unique(marked.run).tolist():
            yield number, self._rows_of(marked if marked.run is None else marked.take(marked.run == number))

    def _rows_of(self, marked: MarkedRows) -> Batch:
        query, doc, *rank = marked.ids
        return Batch(
            marked.mark >> 1,
            query,
            doc,
            marked.value,
            rank=rank[0] if rank else None,
            has_ranks_only=self._has_ranks_only,
        )

    def _report_split(self, marked: MarkedRows, group: Ints) -> None:
        is_first = np.diff(group, prepend=-1) != 0
        resumed = np.flatnonzero((marked.mark & 1).astype(bool) & ~is_first)
        resumed = resumed[np.diff(group[resumed], prepend=-1) != 0]  # the first one of each query
        resumed = resumed[np.argsort(marked.mark[resumed])]
        report_split_queries(self.faults, marked.mark[resumed] >> 1, lambda at: marked.query[int(resumed[at])])


# Rows that do not fit into memory, in one temporary file: by partition of their query, read partition by partition.
#
# The file has no name, so nothing of it is left when its process ends, in whatever way. A segment holds rows of one
# partition, column after column.

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
