"""Parquet and Arrow IPC, in and out. The only file that imports pyarrow (extra ``arrow``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.ids import PADDING, Ids, Ints
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, MissingExtraError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.columns import rows_of
from rankgauge.io.formats.names import Columns, Kind
from rankgauge.io.rows import Rows

BATCH = 4096  # rows held as Python objects at once, where a file is streamed
PARQUET, FILE, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
LARGEST = 1 << 36  # bytes that a file may say it unpacks to


def library(what: str) -> Any:
    """pyarrow, or an error that says how to get it."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(f"{what} needs the library pyarrow", hint="pip install 'rankgauge[arrow]'") from None
    return pyarrow


def installed() -> bool:
    """Whether pyarrow is here."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


@dataclass(frozen=True, eq=False)
class ArrowTable:
    """A pyarrow table. Rows are named in messages by their number from 1, as a line."""

    table: Any

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        names: list[str] = self.table.column_names
        return names

    @property
    def line(self) -> Ints:
        """The number of each row, from 1."""
        return np.arange(1, self.table.num_rows + 1)

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids: text, bytes or whole numbers, which become their digits."""
        ids = ids_of(faults.source, name, self.table.column(name))
        missing = np.flatnonzero(ids.length == 0)
        faults.add("empty-id", missing + 1, expected=f"a {what}", found="nothing")
        if len(ids.buffer) > PADDING and (ids.buffer[: len(ids.buffer) - PADDING] == 0).any():
            bad = [row for row, value in enumerate(ids) if b"\0" in value]
            faults.add("nul", [row + 1 for row in bad], expected=f"a {what}", found=lambda at: shown(ids[bad[at]]))
        return ids

    def texts(self, name: str) -> Ids:
        """A column of texts, perhaps empty."""
        return ids_of(name, name, self.table.column(name))

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
        column = column.cast(pyarrow.float64(), safe=False)
        values: Floats = np.array(column.to_numpy(), dtype=np.float64)
        bad = np.flatnonzero(np.isnan(values))
        empty = column.is_null().to_numpy()
        faults.add(
            what,
            bad + 1,
            expected=f"a number as {what}",
            found=lambda at: "nothing" if empty[bad[at]] else "NaN",
        )
        return values


def ids_of(source: str, name: str, column: Any) -> Ids:
    """A column's values over one buffer, without a Python object for each; a null is empty."""
    pyarrow = library("a column of ids")
    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind):
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
            f"expected texts or whole numbers in column {shown(name)}, found {shown(str(kind))}",
            hint="write the ids as text",
        )
    column = column.cast(pyarrow.large_binary())
    array = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if hasattr(array, "chunks"):
        array = pyarrow.concat_arrays(array.chunks) if array.num_chunks else pyarrow.array([], pyarrow.large_binary())
    array = array.fill_null(b"")
    _, where, data = array.buffers()
    if not len(array):
        return Ids.from_bytes([])
    offsets = np.frombuffer(where, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    body = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    body = body[int(offsets[0]) : int(offsets[-1])]
    start = offsets[:-1] - offsets[0]
    return Ids(np.concatenate([body, np.zeros(PADDING, dtype=np.uint8)]), start, np.diff(offsets))


def parquet_rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """Judgments or results in Parquet."""
    return rows_of(faults, ArrowTable(table_of(faults.source, data)), kind, columns)


def ipc_rows(faults: Faults, data: bytes, kind: Kind, columns: Columns | None = None) -> Rows:
    """Judgments or results in Arrow's IPC (Feather 2), file or stream."""
    return rows_of(faults, ArrowTable(table_of(faults.source, data)), kind, columns)


def table_of(source: str, data: bytes) -> Any:
    """The pyarrow table in a file's bytes, Parquet or IPC."""
    pyarrow = library(source)
    try:
        if data.startswith(PARQUET):
            from pyarrow import parquet

            file = parquet.ParquetFile(pyarrow.BufferReader(data))
            size = sum(file.metadata.row_group(at).total_byte_size for at in range(file.metadata.num_row_groups))
            if size > LARGEST:
                raise InputError.at(source, None, f"says that it unpacks to {size} bytes: this looks like a bomb")
            table = file.read()
        elif data.startswith(FILE):
            table = pyarrow.ipc.open_file(pyarrow.BufferReader(data)).read_all()
        elif data.startswith(STREAM):
            table = pyarrow.ipc.open_stream(pyarrow.BufferReader(data)).read_all()
        else:
            raise InputError.at(source, None, "neither Parquet nor Arrow: its first bytes say otherwise")
        table.validate(full=True)
    except InputError:
        raise
    except Exception as error:  # pyarrow's errors are OSErrors, ValueErrors, KeyErrors and its own
        raise _unreadable(source, error) from None
    _each_once(source, table.column_names)
    return table


def _unreadable(source: str, error: Exception) -> InputError:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError.at(source, None, f"cannot be read as Parquet or Arrow: {shown(text, 120)}")


def _each_once(source: str, names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise InputError.at(source, None, "two columns have the same name")


def streamed(path: str, chosen: Callable[[Sequence[str]], Sequence[str]]) -> Iterator[dict[str, Any]]:
    """The rows of a file that is not packed, a batch at a time; ``chosen`` picks columns from all their names."""
    pyarrow = library(path)
    try:
        with pyarrow.memory_map(path) as mapped:
            first = mapped.read_at(8, 0)
            if first.startswith(PARQUET):
                from pyarrow import parquet

                file = parquet.ParquetFile(mapped)
                names = file.schema_arrow.names
                batches = file.iter_batches(BATCH, columns=_chosen(path, names, chosen))
            else:
                reader = pyarrow.ipc.open_file(mapped) if first.startswith(FILE) else pyarrow.ipc.open_stream(mapped)
                wanted = _chosen(path, reader.schema.names, chosen)
                found = map(reader.get_batch, range(reader.num_record_batches)) if first.startswith(FILE) else reader
                batches = (batch.select(wanted) for batch in found)
            for batch in batches:
                batch.validate(full=True)
                for begin in range(0, batch.num_rows, BATCH):
                    yield from batch.slice(begin, BATCH).to_pylist()
    except InputError:
        raise
    except Exception as error:
        raise _unreadable(path, error) from None


def _chosen(path: str, names: Sequence[str], chosen: Callable[[Sequence[str]], Sequence[str]]) -> list[str]:
    _each_once(path, names)
    return list(dict.fromkeys(chosen(names)))


def write(rows: Rows, kind: Kind, *, parquet: bool) -> Callable[[Any], None]:
    """What writes rows into an open file."""
    pyarrow = library("Parquet" if parquet else "Arrow")
    named: dict[str, Any] = {"query_id": _texts(pyarrow, rows.query)}
    if rows.iters is not None:
        named["iter"] = _texts(pyarrow, rows.iters)
    named["doc_id"] = _texts(pyarrow, rows.doc)
    if rows.rank is not None:
        named["rank"] = _texts(pyarrow, rows.rank)
    named["relevance" if kind == "qrels" else "score"] = pyarrow.array(rows.value)
    if rows.tag is not None:
        named["tag"] = _texts(pyarrow, rows.tag)
    table = pyarrow.table(named)

    def into(out: Any) -> None:
        if parquet:
            from pyarrow import parquet as files

            files.write_table(table, out)
        else:
            with pyarrow.ipc.new_file(out, table.schema) as writer:
                writer.write_table(table)

    return into


def _texts(pyarrow: Any, ids: Ids) -> Any:
    """A column of ids: text, or bytes where one of them is no UTF-8."""
    packed = ids.compact()
    size = int(packed.length.sum())
    offsets = np.concatenate([packed.start, [size]]).astype(np.int64)
    array = pyarrow.Array.from_buffers(
        pyarrow.large_binary(),
        len(ids),
        [None, pyarrow.py_buffer(offsets.tobytes()), pyarrow.py_buffer(packed.buffer[:size].tobytes())],
    )
    try:
        return array.cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        return array
