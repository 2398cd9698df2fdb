"""Parquet and Arrow IPC: tables and batches, read and written. Only this file imports pyarrow (extra ``arrow``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.batch import Batch
from rankgauge.core.ids import PADDING, Ids, Ints
from rankgauge.errors import InputError, MissingExtraError, shown
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats.named_columns import Kind, Wanted, batch_from_columns, find_columns

STREAMED_ROWS = 4096  # Python objects in memory at once, if a file is streamed
PARQUET, FILE, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
MAGIC_BYTES = (PARQUET, FILE, STREAM)  # the first bytes of the files
OFFSET_TYPES = {"string": "<i4", "binary": "<i4", "large_string": "<i8", "large_binary": "<i8"}
MEMORY_WANTED = re.compile(r"of size ([0-9]{1,30})\b")
MOST_MEMORY = 1 << 44  # bytes
ColumnChoice = Callable[[Sequence[str]], Sequence[str]]
MAX_DECOMPRESSED_BYTES = 1 << 36  # by the metadata of the file


def library(what: str) -> Any:
    """pyarrow, or an error that says how to get it."""
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise MissingExtraError(f"{what} needs the library pyarrow", hint="pip install 'rankgauge[arrow]'") from None
    return pyarrow


def is_installed() -> bool:
    """Whether pyarrow is installed."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


@dataclass(frozen=True, eq=False)
class ArrowTable:
    """A pyarrow table. Messages refer to a row by its number from 1, as a line."""

    table: Any
    rows_before: int = 0  # in the batches before, of a table that comes in batches

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        names: list[str] = self.table.column_names
        return names

    @property
    def line(self) -> Ints:
        """The number of each row, from 1."""
        return np.arange(self.rows_before + 1, self.rows_before + self.table.num_rows + 1)

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids: text, bytes or whole numbers, which become their digits."""
        ids = ids_from_column(faults.source, name, self.table.column(name))
        empty_rows = np.flatnonzero(ids.length == 0)
        faults.add("empty-id", self.line[empty_rows], expected=f"a {what}", found="nothing")
        if len(ids.buffer) > PADDING and (ids.buffer[: len(ids.buffer) - PADDING] == 0).any():
            nul_rows = [row for row, value in enumerate(ids) if b"\0" in value]
            faults.add("nul", self.line[nul_rows], expected=f"a {what}", found=lambda at: shown(ids[nul_rows[at]]))
        return ids

    def texts(self, name: str) -> Ids:
        """A column of texts, possibly empty."""
        return texts_from_column(name, self.table.column(name))

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers."""
        pyarrow = library(what)
        column, types = self.table.column(name), pyarrow.types
        kind = column.type
        if types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if types.is_boolean(kind):
            column = column.cast(pyarrow.int8())
        elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind)):
            raise InputError.at(
                faults.source, None, f"expected numbers in column {shown(name)}, found {shown(str(kind))}"
            )
        if not types.is_float64(kind):
            column = column.cast(pyarrow.float64(), safe=False)
        values: Floats = np.array(column.to_numpy(zero_copy_only=False), dtype=np.float64)
        bad_rows = np.flatnonzero(np.isnan(values))
        is_null = column.is_null().to_numpy(zero_copy_only=False) if len(bad_rows) else ()
        faults.add(
            what,
            self.line[bad_rows],
            expected=f"a number as {what}",
            found=lambda at: "nothing" if is_null[bad_rows[at]] else "NaN",
        )
        return values


def texts_from_column(name: str, column: Any) -> Ids:
    """A column of texts, possibly empty. A whole float is its digits, as ranks from pandas are; any other is empty."""
    pyarrow = library("a column of texts")
    if pyarrow.types.is_floating(column.type):
        values: Floats = np.array(column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False))
        is_whole = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 2**53)
        column = pyarrow.array(np.where(is_whole, values, 0).astype(np.int64), mask=~is_whole)
    return ids_from_column(name, name, column)


def ids_from_column(source: str, name: str, column: Any) -> Ids:
    """The values of a column over one buffer, without a Python object for each; a null is empty."""
    pyarrow = library("a column of ids")
    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind):
        if isinstance(column, pyarrow.DictionaryArray):
            return _ids_from_dictionary(source, name, column)
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_integer(kind):
        column = column.cast(pyarrow.large_string())
    elif not (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_null(kind)
        or str(kind) in ("string_view", "binary_view")
    ):
        raise InputError.at(
            source,
            None,
            f"expected strings or whole numbers in column {shown(name)}, found {shown(str(kind))}",
            hint="write the ids as text",
        )
    if hasattr(column, "buffers") and not column.null_count and str(kind) in OFFSET_TYPES:
        return _ids_from_buffers(column, OFFSET_TYPES[str(kind)])
    column = column.cast(pyarrow.large_binary())
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if hasattr(array, "chunks"):
        array = pyarrow.concat_arrays(array.chunks) if array.num_chunks else pyarrow.array([], pyarrow.large_binary())
    return _ids_from_buffers(array.fill_null(b""), "<i8")


def _ids_from_buffers(array: Any, offset_type: str) -> Ids:
    """The values of an array without nulls."""
    _, offset_buffer, data = array.buffers()
    if not len(array):
        return Ids.from_bytes([])
    offsets = np.frombuffer(offset_buffer, dtype=offset_type)[array.offset : array.offset + len(array) + 1]
    offsets = offsets.astype(np.int64)
    body = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    body = body[int(offsets[0]) : int(offsets[-1])]
    start = offsets[:-1] - offsets[0]
    return Ids(np.concatenate([body, np.zeros(PADDING, dtype=np.uint8)]), start, np.diff(offsets))


def _ids_from_dictionary(source: str, name: str, column: Any) -> Ids:
    """The values of a dictionary, each of them in memory once; a null is empty."""
    values = ids_from_column(source, name, column.dictionary)
    # What pyarrow computes is imported only if it is needed: that takes longer than to read a million rows.
    indices = column.indices.fill_null(len(values)) if column.indices.null_count else column.indices
    indices = np.array(indices.to_numpy(zero_copy_only=False), dtype=np.int64)
    start, length = np.append(values.start, 0), np.append(values.length, 0)
    return Ids(values.buffer, start[indices], length[indices])


def table_of(source: str, data: bytes) -> Any:
    """The pyarrow table in a file's bytes, Parquet or IPC."""
    pyarrow = library(source)
    try:
        if data.startswith(PARQUET):
            file = open_parquet(pyarrow.BufferReader(data))
            check_size(source, file)
            table = file.read()
        elif data.startswith(FILE):
            table = pyarrow.ipc.open_file(pyarrow.BufferReader(data)).read_all()
        elif data.startswith(STREAM):
            table = pyarrow.ipc.open_stream(pyarrow.BufferReader(data)).read_all()
        else:
            raise InputError.at(source, None, "neither Parquet nor Arrow, by its first bytes")
        table.validate(full=True)
    except InputError:
        raise
    except Exception as error:  # pyarrow's errors are OSErrors, ValueErrors, KeyErrors and its own
        raise unreadable(source, error) from None
    check_unique_names(source, table.column_names)
    return table


def open_parquet(data: Any, **options: Any) -> Any:
    """A Parquet file of pyarrow."""
    from pyarrow import parquet

    return parquet.ParquetFile(data, **options)


def check_size(source: str, file: Any) -> None:
    """Raise if a Parquet file is larger than anybody's memory, by its metadata."""
    size = sum(file.metadata.row_group(group).total_byte_size for group in range(file.metadata.num_row_groups))
    if size > MAX_DECOMPRESSED_BYTES:
        raise InputError.at(source, None, f"claims to decompress to {size} bytes: this looks like a decompression bomb")


def unreadable(source: str, error: Exception) -> Exception:
    """The error for a file that pyarrow cannot read; a lack of memory stays what it is.

    A damaged file may ask for more memory than any machine has.
    """
    wanted = MEMORY_WANTED.search(str(error))
    if isinstance(error, MemoryError) and not (wanted and int(wanted[1]) > MOST_MEMORY):
        return error
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError.at(source, None, f"cannot be read as Parquet or Arrow: {shown(text, 120)}")


def check_unique_names(source: str, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    if len(set(names)) != len(names):
        raise InputError.at(source, None, "two columns have the same name")


def stream_rows(path: str, choose_columns: ColumnChoice) -> Iterator[dict[str, Any]]:
    """The rows of an uncompressed file, in batches; ``choose_columns`` selects columns from all their names."""
    for batch in _stream_batches(path, choose_columns):
        yield from batch.to_pylist()


def stream_vectors(path: str, choose_columns: ColumnChoice) -> Iterator[tuple[Ids, NDArray[Any]]]:
    """A column of ids and a column of lists of numbers, in batches; ``choose_columns`` names the two."""
    types, rows_before, width = library(path).types, 0, None
    for batch in _stream_batches(path, choose_columns):
        name, column = batch.schema.names[1], batch.column(1)
        is_list = (
            types.is_list(column.type) or types.is_large_list(column.type) or types.is_fixed_size_list(column.type)
        )
        kind = column.type.value_type if is_list else column.type
        if not is_list or not (types.is_floating(kind) or types.is_integer(kind)):
            raise InputError.at(
                path, None, f"expected lists of numbers in column {shown(name)}, found {shown(str(column.type))}"
            )
        lengths = np.array(column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
        width = width or (int(lengths[0]) if len(lengths) else None)
        bad_rows = np.flatnonzero((lengths != width) | (lengths == 0))
        if len(bad_rows):
            row, length = int(bad_rows[0]), int(lengths[bad_rows[0]])
            expected = f"{width} numbers" if width else "numbers"
            raise InputError.at(
                path, rows_before + row + 1, f"expected {expected} in column {shown(name)}, found {length}"
            )
        values = column.flatten()
        if values.null_count:
            raise InputError.at(path, None, f"expected numbers in column {shown(name)}, found a null")
        yield ids_from_column(path, batch.schema.names[0], batch.column(0)), values.to_numpy().reshape(-1, width or 0)
        rows_before += batch.num_rows


def _stream_batches(path: str, choose_columns: ColumnChoice) -> Iterator[Any]:
    """Parts of a file with the chosen columns, in their order."""
    pyarrow = library(path)
    try:
        with pyarrow.memory_map(path) as mapped:
            first = mapped.read_at(8, 0)
            if first.startswith(PARQUET):
                from pyarrow import parquet

                file = parquet.ParquetFile(mapped)
                names = file.schema_arrow.names
                columns = _chosen_columns(path, names, choose_columns)
                batches = file.iter_batches(STREAMED_ROWS, columns=columns)
            else:
                reader = pyarrow.ipc.open_file(mapped) if first.startswith(FILE) else pyarrow.ipc.open_stream(mapped)
                columns = _chosen_columns(path, reader.schema.names, choose_columns)
                is_file = first.startswith(FILE)
                all_batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
                batches = iter(all_batches)
            for batch in batches:
                chosen = batch.select(columns)
                chosen.validate(full=True)
                for begin in range(0, chosen.num_rows, STREAMED_ROWS):
                    yield chosen.slice(begin, STREAMED_ROWS)
    except InputError:
        raise
    except Exception as error:
        raise unreadable(path, error) from None


def _chosen_columns(path: str, names: Sequence[str], choose_columns: ColumnChoice) -> list[str]:
    check_unique_names(path, names)
    return list(dict.fromkeys(choose_columns(names)))


def write_parquet(parts: Iterator[Batch], kind: Kind, out: IO[bytes]) -> None:
    """Write rows as Parquet, each part as a row group. If an id is not UTF-8, there is one part only."""
    pyarrow = library("Parquet")
    from pyarrow import parquet as files

    _write_tables(pyarrow, parts, kind, lambda schema: files.ParquetWriter(out, schema))


def write_arrow(parts: Iterator[Batch], kind: Kind, out: IO[bytes]) -> None:
    """Write rows as an Arrow file, each part as a record batch. If an id is not UTF-8, there is one part only."""
    pyarrow = library("Arrow")
    _write_tables(pyarrow, parts, kind, lambda schema: pyarrow.ipc.new_file(out, schema))


def _write_tables(pyarrow: Any, parts: Iterator[Batch], kind: Kind, open_writer: Callable[[Any], Any]) -> None:
    table = _table_of(pyarrow, next(parts), kind)
    with open_writer(table.schema) as writer:
        writer.write_table(table)
        for rows in parts:
            writer.write_table(_table_of(pyarrow, rows, kind))


def _table_of(pyarrow: Any, rows: Batch, kind: Kind) -> Any:
    columns: dict[str, Any] = {"query_id": _texts(pyarrow, rows.query)}
    if rows.iters is not None:
        columns["iter"] = _texts(pyarrow, rows.iters)
    columns["doc_id"] = _texts(pyarrow, rows.doc)
    if rows.rank is not None:
        columns["rank"] = _texts(pyarrow, rows.rank)
    columns["relevance" if kind == "qrels" else "score"] = pyarrow.array(rows.value)
    if rows.tag is not None:
        columns["tag"] = _texts(pyarrow, rows.tag)
    return pyarrow.table(columns)


def _texts(pyarrow: Any, ids: Ids) -> Any:
    """A column of ids: text, or bytes if one of them is not UTF-8."""
    compact = ids.compact()
    size = int(compact.length.sum())
    offsets = np.concatenate([compact.start, [size]]).astype(np.int64)
    array = pyarrow.Array.from_buffers(
        pyarrow.large_binary(),
        len(ids),
        [None, pyarrow.py_buffer(offsets.tobytes()), pyarrow.py_buffer(compact.buffer[:size].tobytes())],
    )
    try:
        return array.cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        return array


# Parquet and Arrow IPC, read batch by batch: only the columns that matter, in the memory of one batch.

BATCH_ROWS = 1 << 17
BUFFER_BYTES = 1 << 20  # of each column, so that a column is never read at once
MAX_REPEATING_BYTES = 2  # per row
REPEATING_ROLES = ("query", "tag")  # whose values are read once each, and rows refer to them


def read_batches(stream: ByteStream, wanted: Wanted, faults: Faults) -> Iterator[Batch]:
    """The rows of a file, batch by batch."""
    yield from ArrowFile(stream, wanted).batches(faults)


def column_names(stream: ByteStream) -> list[str]:
    """The names of the columns of an open file. Reading it still starts at its beginning."""
    pyarrow = library(stream.path)
    file = stream.seekable_file
    data = pyarrow.BufferReader(stream.read()) if file is None else pyarrow.PythonFile(file, mode="r")
    try:
        data.seek(0)
        is_parquet = data.read(8).startswith(PARQUET)
        data.seek(0)
        names = (open_parquet(data).schema_arrow if is_parquet else _ipc_schema(data)).names
    except Exception as error:  # pyarrow's errors are OSErrors, ValueErrors, KeyErrors and its own
        raise unreadable(stream.path, error) from None
    finally:
        stream.rewind()
    return list(names)


def _ipc_schema(data: Any) -> Any:
    ipc = library("an Arrow file").ipc
    first = data.read(len(FILE))
    data.seek(0)
    return (ipc.open_file(data) if first == FILE else ipc.open_stream(data)).schema


def rows_of_batches(faults: Faults, batches: Iterable[Any], wanted: Wanted) -> Iterator[Batch]:
    """The rows in pyarrow record batches, each of which may end anywhere."""
    rows_before = 0
    for batch in batches:
        roles = table_roles(faults.source, batch.schema.names, wanted)
        yield batch_from_columns(faults, ArrowTable(batch, rows_before), wanted.kind, roles)
        rows_before += batch.num_rows


def table_roles(source: str, names: Sequence[str], wanted: Wanted) -> dict[str, str]:
    """Role → column for the columns that are needed."""
    check_unique_names(source, names)
    roles = find_columns(source, names, wanted.kind, wanted.columns)
    return {role: name for role, name in roles.items() if role != "iter" or wanted.is_kept or wanted.has_iters}


class ArrowFile:
    """An open Parquet or Arrow IPC file. ``constants`` are columns that have one value in all rows."""

    def __init__(self, stream: ByteStream, wanted: Wanted, constants: Mapping[str, str] | None = None) -> None:
        self.source, self._stream, self._constants = stream.path, stream, constants or {}
        self._kind = wanted.kind
        pyarrow = library(self.source)
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
            raise unreadable(self.source, error) from None
        all_names = [*names, *(name for name in self._constants if name not in names)]
        self.roles = table_roles(self.source, all_names, wanted)
        self._names = [name for name in dict.fromkeys(self.roles.values()) if name in names]

    def _open(self) -> Sequence[str]:
        """Open the file and return the names of its columns."""
        ipc = library(self.source).ipc
        if self._first.startswith(PARQUET):
            file = open_parquet(self._data)
            check_size(self.source, file)
            self._reader: Any = file
            names: list[str] = file.schema_arrow.names
            return names
        if not self._first.startswith((FILE, STREAM)):
            raise InputError.at(self.source, None, "neither Parquet nor Arrow, by its first bytes")
        is_file = self._first.startswith(FILE)
        self._reader = ipc.open_file(self._data) if is_file else ipc.open_stream(self._data)
        names = self._reader.schema.names
        return list(names)

    def batches(self, faults: Faults, rows_before: int = 0) -> Iterator[Batch]:
        """The rows, batch by batch; ``rows_before`` are those of files that came before this one."""
        try:
            for batch, share in self._record_batches():
                table = ArrowTable(self._with_constants(batch), rows_before + self.row_count)
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
            raise unreadable(self.source, error) from None

    def _with_constants(self, batch: Any) -> Any:
        """The batch with the columns that have one value."""
        pyarrow = library(self.source)
        for name in set(self.roles.values()) - set(self._names):
            indices = pyarrow.array([0], pyarrow.int32()).take(pyarrow.array([0] * batch.num_rows, pyarrow.int32()))
            column = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([self._constants[name]]))
            batch = batch.append_column(name, column)
        return batch

    def _record_batches(self) -> Iterator[tuple[Any, float]]:
        """The batches, and which share of the file was read after each."""
        if self._first.startswith(PARQUET):
            yield from self._parquet_batches()
            return
        is_file = self._first.startswith(FILE)
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
        file = open_parquet(
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
