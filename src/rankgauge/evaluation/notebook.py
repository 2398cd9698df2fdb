"""Results in notebooks: HTML tables, and pandas and polars data frames, which only this file imports."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import number
from rankgauge.errors import MissingExtraError, printable

Columns = Mapping[str, Sequence[Any]]
MAX_CELL_CHARACTERS = 200


@dataclass(frozen=True)
class NotebookTable:
    """A small table for people; numbers are rounded only when they are shown."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""


class Scored(Protocol):
    """The part of ``Scores`` that this file needs: the value of each measure for each query."""

    @property
    def run(self) -> str:
        """The name of the run."""

    @property
    def qrels(self) -> str:
        """The name of the judgments."""

    @property
    def queries(self) -> Sequence[str]:
        """The queries."""

    @property
    def measures(self) -> Sequence[Any]:
        """The measures, each with a name."""

    @property
    def values(self) -> Any:
        """Queries × measures, NaN if there is no value."""

    @property
    def averaged(self) -> Any:
        """Which of the queries are averaged."""

    @property
    def columns(self) -> Mapping[str, Any]:
        """Other columns of the queries."""

    @property
    def over_queries(self) -> Mapping[str, tuple[float | None, int]]:
        """The value of each measure over all queries, and the number of queries."""


class Tabular(ABC):
    """A result that a notebook shows as a table and that can be converted into a data frame."""

    @abstractmethod
    def summary_table(self) -> NotebookTable:
        """The table that a notebook shows."""

    @abstractmethod
    def frame_columns(self) -> Columns:
        """The columns of the data frame, all of the same length."""

    def _repr_html_(self) -> str:
        return html_table(self.summary_table())

    def to_pandas(self) -> Any:
        """Convert to a pandas data frame."""
        return pandas_frame(self.frame_columns())

    def to_polars(self) -> Any:
        """Convert to a polars data frame."""
        return polars_frame(self.frame_columns())


def score_table(scores: Scored) -> NotebookTable:
    """Each measure over all queries."""
    rows = [[name, value, n] for name, (value, n) in scores.over_queries.items()]
    return NotebookTable(["measure", "value", "n"], rows, f"{scores.run} on {scores.qrels}")


def score_columns(scores: Scored) -> Columns:
    """One column for the queries, for each measure and for each other column; no values for queries not averaged."""
    columns: dict[str, Sequence[Any]] = {"query": list(scores.queries)}
    for index, measure in enumerate(scores.measures):
        values = zip(scores.values[:, index].tolist(), scores.averaged.tolist(), strict=True)
        columns[measure.name] = [value if averaged and not math.isnan(value) else None for value, averaged in values]
    for name, column in scores.columns.items():
        columns.setdefault(name, column.tolist())
    return columns


def html_table(table: NotebookTable) -> str:
    """Render a table without styles; text from data is escaped."""
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    head = "".join(f"<th>{_text(title)}</th>" for title in table.head)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in table.rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def pandas_frame(columns: Columns) -> Any:
    """Make a pandas data frame."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("to_pandas requires pandas", hint="pip install pandas") from None
    return pandas.DataFrame({name: list(values) for name, values in columns.items()})


def polars_frame(columns: Columns) -> Any:
    """Make a polars data frame."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("to_polars requires polars", hint="pip install polars") from None
    # A column may begin with many nulls, or mix integers and floats: infer its type from all rows.
    return polars.DataFrame({name: list(values) for name, values in columns.items()}, strict=False)


def _cell(value: object) -> str:
    return number(value) if value is None or isinstance(value, float) else _text(str(value))


def _text(text: str) -> str:
    import html  # here, because evaluations on a command line should start fast

    return html.escape(printable(text, MAX_CELL_CHARACTERS))
