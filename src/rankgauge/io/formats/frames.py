"""pandas, polars and pyarrow frames, through narwhals (extra ``frames``), whose only importer is this file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, InputTypeError, MissingExtraError, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats import arrow
from rankgauge.io.formats.columns import rows_of
from rankgauge.io.formats.jsonl import Records, number_of
from rankgauge.io.formats.names import Columns
from rankgauge.io.rows import qrels_of, run_of

MARKS = ("__arrow_c_stream__", "__dataframe__", "__narwhals_dataframe__", "__narwhals_lazyframe__")


def is_frame(given: object) -> bool:
    """Whether something is a data frame, told without importing any library."""
    return any(hasattr(given, mark) for mark in MARKS) or _lazy(given)


def _lazy(given: object) -> bool:
    return type(given).__name__ == "LazyFrame" and hasattr(given, "collect")


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame as a table. Rows are named in messages by their number from 1, as a line."""

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
        if arrow.installed():
            table = arrow.library("a frame").table({name: self._arrow(name)})
            return arrow.ArrowTable(table).ids(faults, name, what)
        return self._listed(name).ids(faults, name, what)

    def texts(self, name: str) -> Ids:
        """A column of texts, perhaps empty."""
        if arrow.installed():
            return arrow.ids_of(name, name, self._arrow(name))
        return self._listed(name).texts(name)

    def numbers(self, faults: Faults, name: str, what: str) -> Floats:
        """A column of numbers."""
        column = self.frame[name]
        if column.dtype.is_numeric() and column.null_count() == 0:
            values = np.array(column.to_numpy(), dtype=np.float64)
        else:
            found = [number_of(value) for value in column.to_list()]
            values = np.array([np.nan if number is None else number for number in found], dtype=np.float64)
        bad = np.flatnonzero(np.isnan(values))
        faults.add(
            what,
            bad + 1,
            expected=f"a number as {what}",
            found=lambda at: shown(repr(column[int(bad[at])])),
        )
        return values

    def _arrow(self, name: str) -> Any:
        try:
            return self.frame[name].to_arrow()
        except Exception as error:  # a column of mixed Python objects, told by each library in its own way
            raise InputTypeError(
                f"column {shown(name)} holds more than texts or whole numbers: {shown(str(error))}"
            ) from None

    def _listed(self, name: str) -> Records:
        return Records(self.line, [{name: value} for value in self.frame[name].to_list()])


def qrels_from_frame(
    frame: Any, *, columns: Columns | None = None, name: str = "qrels", by_subtopic: bool = False
) -> Qrels:
    """Judgments from a pandas, polars or pyarrow frame; columns are known by name, or said with ``columns``."""
    faults = Faults(name)
    return qrels_of(rows_of(faults, _table(frame, name), "qrels", columns), name=name, by_subtopic=by_subtopic)


def run_from_frame(
    frame: Any, *, columns: Columns | None = None, name: str = "run", on_duplicate: OnDuplicate = "error"
) -> Run:
    """A run from a pandas, polars or pyarrow frame; without scores, ranks make the order."""
    faults = Faults(name)
    return run_of(rows_of(faults, _table(frame, name), "run", columns), name=name, on_duplicate=on_duplicate)


def _table(frame: Any, name: str) -> Frame:
    try:
        import narwhals
    except ImportError:
        raise MissingExtraError(
            "a data frame needs the library narwhals", hint="pip install 'rankgauge[frames]'"
        ) from None
    try:
        found: Any = narwhals.from_native(frame.collect() if _lazy(frame) else frame, eager_only=True)
    except TypeError:
        raise InputTypeError(f"expected a pandas, polars or pyarrow frame, found {type(frame).__name__}") from None
    except Exception as error:
        raise InputError(f"{name}: {shown(str(error), 120)}") from None
    return Frame(found)
