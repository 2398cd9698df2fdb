"""Results in notebooks: as HTML, and as frames of pandas and polars, whose only importer is this file."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rankgauge.errors import MissingExtraError, printable

Columns = Mapping[str, Sequence[Any]]
LONGEST_CELL = 200


@dataclass(frozen=True)
class Table:
    """A small table for people: numbers stay numbers until they are shown."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""


class Scored(Protocol):
    """Scores as they are seen from here: the value of each measure for each query."""

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
        """Queries × measures, NaN where there is no value."""

    @property
    def averaged(self) -> Any:
        """Which of the queries count."""

    @property
    def columns(self) -> Mapping[str, Any]:
        """What else is known of each query."""

    @property
    def over_queries(self) -> Mapping[str, tuple[float | None, int]]:
        """The value of each measure over all queries, and of how many."""


class Tabular(ABC):
    """What shows as a table in a notebook and turns into a frame. A class says what is in both."""

    @abstractmethod
    def summary_table(self) -> Table:
        """The table that a notebook shows."""

    @abstractmethod
    def frame_columns(self) -> Columns:
        """The columns of the frame, all of the same length."""

    def _repr_html_(self) -> str:
        return html_table(self.summary_table())

    def to_pandas(self) -> Any:
        """As a pandas frame."""
        return pandas_frame(self.frame_columns())

    def to_polars(self) -> Any:
        """As a polars frame."""
        return polars_frame(self.frame_columns())


def score_table(scores: Scored) -> Table:
    """Each measure over all queries."""
    rows = [[name, value, n] for name, (value, n) in scores.over_queries.items()]
    return Table(["measure", "value", "n"], rows, f"{scores.run} on {scores.qrels}")


def score_columns(scores: Scored) -> Columns:
    """Queries, measures, and what else is known of each query; a query that does not count has no values."""
    out: dict[str, Sequence[Any]] = {"query": list(scores.queries)}
    for place, measure in enumerate(scores.measures):
        values = zip(scores.values[:, place].tolist(), scores.averaged.tolist(), strict=True)
        out[measure.name] = [value if counts and not math.isnan(value) else None for value, counts in values]
    for name, column in scores.columns.items():
        out.setdefault(name, column.tolist())
    return out


def html_table(table: Table) -> str:
    """A table without any style of its own; text from data is escaped."""
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    head = "".join(f"<th>{_text(title)}</th>" for title in table.head)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in table.rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def pandas_frame(columns: Columns) -> Any:
    """Columns as a pandas frame."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("to_pandas needs the library pandas", hint="pip install pandas") from None
    return pandas.DataFrame({name: list(values) for name, values in columns.items()})


def polars_frame(columns: Columns) -> Any:
    """Columns as a polars frame."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("to_polars needs the library polars", hint="pip install polars") from None
    # A column may begin with many nulls, or mix whole numbers and others: look at all of it.
    return polars.DataFrame({name: list(values) for name, values in columns.items()}, strict=False)


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else _text(str(value))


def _text(text: str) -> str:
    return html.escape(printable(text, LONGEST_CELL))
