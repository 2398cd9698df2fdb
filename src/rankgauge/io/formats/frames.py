"""pandas, polars and pyarrow frames, through narwhals (extra ``frames``), and lazy tables of duckdb and polars.

Only this file imports narwhals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ids, Ints
from rankgauge.errors import InputError, InputTypeError, MissingExtraError, shown
from rankgauge.io.faults import Faults
from rankgauge.io.formats import arrow
from rankgauge.io.formats.arrow import BATCH_ROWS
from rankgauge.io.formats.json_text import Records, number_from_json

FRAME_ATTRIBUTES = ("__arrow_c_stream__", "__dataframe__", "__narwhals_dataframe__", "__narwhals_lazyframe__")


def is_frame(value: object) -> bool:
    """Whether a value is a data frame, detected without importing any library."""
    return any(hasattr(value, name) for name in FRAME_ATTRIBUTES) or _is_lazy(value)


def _is_lazy(value: object) -> bool:
    return type(value).__name__ == "LazyFrame" and hasattr(value, "collect")


@dataclass(frozen=True, eq=False)
class FrameTable:
    """A frame as a table. Messages refer to a row by its number from 1, as a line."""

    frame: Any

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        names: list[str] = self.frame.columns
        return names

    @property
    def line(self) -> Ints:
        """The number of each row, from 1."""
        return np.arange(1, len(self.frame) + 1)

    def ids(self, faults: Faults, name: str, what: str) -> Ids:
        """A column of ids: text or whole numbers, which become their digits."""
        if arrow.is_installed():
            table = arrow.library("a frame").table({name: self._to_arrow(name)})
            return arrow.ArrowTable(table).ids(faults, name, what)
        return self._to_records(name).ids(faults, name, what)

    def texts(self, name: str) -> Ids:
        """A column of texts, possibly empty."""
        if arrow.is_installed():
            return arrow.texts_from_column(name, self._to_arrow(name))
        return self._to_records(name).texts(name)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers."""
        column = self.frame[name]
        if column.dtype.is_numeric() and column.null_count() == 0:
            values = np.array(column.to_numpy(), dtype=np.float64)
        else:
            numbers = [number_from_json(value) for value in column.to_list()]
            values = np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
        bad_rows = np.flatnonzero(np.isnan(values))
        faults.add(
            what,
            bad_rows + 1,
            expected=f"a number as {what}",
            found=lambda at: shown(repr(column[int(bad_rows[at])])),
        )
        return values

    def _to_arrow(self, name: str) -> Any:
        try:
            return self.frame[name].to_arrow()
        except Exception as error:  # a column of mixed Python objects, reported differently by each library
            raise InputTypeError(
                f"expected strings or whole numbers in column {shown(name)}, found other values: {shown(str(error))}"
            ) from None

    def _to_records(self, name: str) -> Records:
        return Records(self.line, [{name: value} for value in self.frame[name].to_list()])


def frame_columns(frame: Any) -> dict[str, list[Any]]:
    """The columns of a frame as lists."""
    table = frame_table(frame, "frame")
    return {name: table.frame[name].to_list() for name in table.names}


def frame_table(frame: Any, name: str) -> FrameTable:
    """A frame of any library as a table; ``name`` is for messages."""
    try:
        import narwhals
    except ModuleNotFoundError:
        raise MissingExtraError(
            "a data frame needs the library narwhals", hint="pip install 'rankgauge[frames]'"
        ) from None
    if is_lazy_table(frame) and not _is_lazy(frame):
        frame = arrow.library("a relation of duckdb").table(frame)
    try:
        native: Any = narwhals.from_native(frame.collect() if _is_lazy(frame) else frame, eager_only=True)
    except TypeError:
        raise InputTypeError(f"expected a pandas, polars or pyarrow frame, found {type(frame).__name__}") from None
    except MemoryError:
        raise
    except Exception as error:
        raise InputError(f"{name}: {shown(str(error), 120)}") from None
    return FrameTable(native)


# Tables of other engines that can give their rows batch by batch: duckdb's relations and polars' LazyFrames.
#
# Neither library is imported: a caller who has such an object has the library.


def is_lazy_table(value: object) -> bool:
    """Whether a value is a relation of duckdb, or a LazyFrame of a polars that can give batches."""
    name = type(value).__name__
    return name == "DuckDBPyRelation" or (name == "LazyFrame" and hasattr(value, "collect_batches"))


def record_batches(table: Any) -> Iterator[Any]:
    """The rows as pyarrow record batches; the table is computed again on each call."""
    if hasattr(table, "collect_batches"):
        for frame in table.collect_batches(chunk_size=BATCH_ROWS):
            yield from frame.to_arrow().to_batches()
        return
    read = table.to_arrow_reader if hasattr(table, "to_arrow_reader") else table.fetch_record_batch
    yield from read(BATCH_ROWS)
