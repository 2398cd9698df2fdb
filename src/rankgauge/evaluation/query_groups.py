"""Values grouped by what is known of their queries: a category, a difficulty, a language."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Column, Floats
from rankgauge.errors import UsageError, nearest, shown
from rankgauge.evaluation.mean_intervals import interval_of
from rankgauge.measures.measure import Measure
from rankgauge.stats.results import Interval

if TYPE_CHECKING:
    from rankgauge.io.queries import Queries

MAX_GROUPS = 8  # a column of the queries with more values than this is not grouped by
NOT_GROUPED_BY = ("unit", "k")  # columns that have a meaning of their own
UNKNOWN = "(none)"


@dataclass(frozen=True)
class GroupSummary:
    """One measure over the queries of one group."""

    by: str
    label: str
    measure: str
    n: int
    mean: float | None
    median: float | None
    interval: Interval
    shown: str = ""  # the name of the measure as it is shown


def groups(columns: Mapping[str, Column], by: str | Sequence[str]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """The groups of a column, or of several together, by label; each with the queries it holds."""
    names = [by] if isinstance(by, str) else list(by)
    check_columns(names, columns)
    rows = list(zip(*(columns[name].tolist() for name in names), strict=True))
    labels = [" / ".join(map(_label, row)) for row in rows]
    queries_of: dict[str, list[int]] = {}
    for query, label in enumerate(labels):
        queries_of.setdefault(label, []).append(query)
    for label in sorted(queries_of):
        members = np.zeros(len(labels), dtype=bool)
        members[queries_of[label]] = True
        yield label, members


def check_columns(
    names: Iterable[str], columns: Collection[str], *, hint: str = "name a file that has it: --queries queries.jsonl"
) -> None:
    """Raise if the queries do not have a column to group by."""
    for name in names:
        if name not in columns:
            close = nearest(name, list(columns))
            raise UsageError(
                f"the queries have no column {shown(name)} (columns: {', '.join(columns) or 'none'})",
                hint=f"did you mean {close}?" if close else hint,
            )


def _label(value: Any) -> str:
    if value is None or value != value:
        return UNKNOWN
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def summary(
    group: tuple[str, str], measure: Measure, values: Floats, *, confidence: float, units: Column | None = None
) -> GroupSummary:
    """Count, mean, median and interval of a group's values; ``group`` is the column and the label."""
    kept = ~np.isnan(values)
    values, units = values[kept], None if units is None else units[kept]
    interval = interval_of(values, measure, confidence=confidence, units=units, aggregate="mean")
    mean = mean_of(values)
    median = float(np.median(values)) if len(values) else None
    return GroupSummary(*group, measure.name, len(values), mean, median, interval, measure.shown)


def mean_of(values: Floats) -> float | None:
    """The mean of a group's values, added one by one; None if there is none."""
    return float(np.cumsum(values)[-1]) / len(values) if len(values) else None


def groupable_columns(queries: Queries) -> tuple[str, ...]:
    """The columns of the queries that make a few groups of at least two queries."""
    columns = []
    for name, values in queries.columns.items():
        labels, sizes = np.unique([str(value) for value in values.values()], return_counts=True)
        if name not in NOT_GROUPED_BY and 2 <= len(labels) <= MAX_GROUPS and sizes.min() >= 2:
            columns.append(name)
    return tuple(columns)
