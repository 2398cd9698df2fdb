"""Parquet and Arrow IPC, read batch by batch: only the columns that matter, in the memory of one batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rankgauge.core.batch import Batch
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import arrow
from rankgauge.io.formats.columns import batch_from_columns
from rankgauge.io.formats.names import Wanted, find_columns

BATCH_ROWS = 1 << 17
BUFFER_BYTES = 1 << 20  # of each column, so that a column is never read at once
MAX_REPEATING_BYTES = 2  # per row
REPEATING_ROLES = ("query", "tag")  # whose values are read once each, and rows refer to them


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """The rows of a file, batch by batch."""
    yield from ArrowFile(stream, wanted).batches(faults)


def rows_of_batches(faults: Faults, batches: Iterable[Any], wanted: Wanted) -> Iterator[Batch]:
    """The rows in pyarrow record batches, each of which may end anywhere."""
    rows_before = 0
    for batch in batches:
        roles = table_roles(faults.source, batch.schema.names, wanted)
        yield batch_from_columns(faults, arrow.ArrowTable(batch, rows_before), wanted.kind, roles)
        rows_before += batch.num_rows


def table_roles(source: str, names: Sequence[str], wanted: Wanted) -> dict[str, str]:
    """Role → column for the columns that are needed."""
    arrow.check_unique_names(source, names)
    roles = find_columns(source, names, wanted.kind, wanted.columns)
    return {role: name for role, name in roles.items() if role != "iter" or wanted.is_kept or wanted.has_iters}


class ArrowFile:
    """An open Parquet or Arrow IPC file. ``constants`` are columns that have one value in all rows."""

    def __init__(self, stream: ByteStream, wanted: Wanted, constants: Mapping[str, str] | None = None) -> None:
        self.source, self._stream, self._constants = stream.path, stream, constants or {}
        self._kind = wanted.kind
        pyarrow = arrow.library(self.source)
        self.row_count = 0  # of the batches so far
        file = stream.seekable_file
        self._is_whole = file is None  # in memory, because it is compressed
        self._data = pyarrow.BufferReader(stream.read()) if file is None else pyarrow.PythonFile(file, mode="r")
        try:
            self._data.seek(0)
            self._first = self._data.read(8)
            self._data.seek(0)
            self._size = self._data.size()
            names = self._open()
        except InputError:
            raise
        except Exception as error:  # pyarrow's errors are OSErrors, ValueErrors, KeyErrors and its own
            raise arrow.unreadable(self.source, error) from None
        all_names = [*names, *(name for name in self._constants if name not in names)]
        self.roles = table_roles(self.source, all_names, wanted)
        self._names = [name for name in dict.fromkeys(self.roles.values()) if name in names]

    def _open(self) -> Sequence[str]:
        """Open the file and return the names of its columns."""
        ipc = arrow.library(self.source).ipc
        if self._first.startswith(arrow.PARQUET):
            file = arrow.open_parquet(self._data)
            arrow.check_size(self.source, file)
            self._reader: Any = file
            names: list[str] = file.schema_arrow.names
            return names
        if not self._first.startswith((arrow.FILE, arrow.STREAM)):
            raise InputError.at(self.source, None, "neither Parquet nor Arrow, by its first bytes")
        is_file = self._first.startswith(arrow.FILE)
        self._reader = ipc.open_file(self._data) if is_file else ipc.open_stream(self._data)
        names = self._reader.schema.names
        return list(names)

    def batches(self, faults: Faults, rows_before: int = 0) -> Iterator[Batch]:
        """The rows, batch by batch; ``rows_before`` are those of files that came before this one."""
        try:
            for batch, share in self._record_batches():
                table = arrow.ArrowTable(self._with_constants(batch), rows_before + self.row_count)
                rows = batch_from_columns(faults, table, self._kind, self.roles)
                self.row_count += batch.num_rows
                self._stream.bytes_read = int(share * self._size)
                yield rows
            if not self._is_whole and self._stream.sha256 is not None:
                self._stream.rewind()
                self._stream.read_to_end()  # for the hash
        except InputError:
            raise
        except Exception as error:  # as above
            raise arrow.unreadable(self.source, error) from None

    def _with_constants(self, batch: Any) -> Any:
        """The batch with the columns that have one value."""
        pyarrow = arrow.library(self.source)
        for name in set(self.roles.values()) - set(self._names):
            indices = pyarrow.array([0], pyarrow.int32()).take(pyarrow.array([0] * batch.num_rows, pyarrow.int32()))
            column = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([self._constants[name]]))
            batch = batch.append_column(name, column)
        return batch

    def _record_batches(self) -> Iterator[tuple[Any, float]]:
        """The batches, and which share of the file was read after each."""
        if self._first.startswith(arrow.PARQUET):
            yield from self._parquet_batches()
            return
        is_file = self._first.startswith(arrow.FILE)
        every = map(self._reader.get_batch, range(self._reader.num_record_batches)) if is_file else self._reader
        for batch in every:
            batch.validate(full=True)
            chosen = batch.select(self._names)
            for begin in range(0, batch.num_rows, BATCH_ROWS):
                yield chosen.slice(begin, BATCH_ROWS), self._data.tell() / self._size

    def _repeats(self, name: str) -> bool:
        """Whether a column takes so little space that most rows must repeat the value of another."""
        metadata = self._reader.metadata
        if not metadata.num_row_groups:
            return False
        group = metadata.row_group(0)
        columns = [column for column in map(group.column, range(group.num_columns)) if column.path_in_schema == name]
        return bool(columns) and columns[0].total_uncompressed_size < MAX_REPEATING_BYTES * columns[0].num_values

    def _parquet_batches(self) -> Iterator[tuple[Any, float]]:
        names = {self.roles[role] for role in REPEATING_ROLES if self.roles.get(role) in self._names}
        repeating = [name for name in names if self._repeats(name)]
        file = arrow.open_parquet(
            self._data,
            read_dictionary=repeating,
            metadata=self._reader.metadata,
            buffer_size=BUFFER_BYTES,
            pre_buffer=False,  # otherwise everything that was read stays in memory
        )
        rows = 0
        for batch in file.iter_batches(BATCH_ROWS, columns=self._names, use_threads=False):
            batch.validate(full=True)
            rows += batch.num_rows
            yield batch, rows / max(1, file.metadata.num_rows)
