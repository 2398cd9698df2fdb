"""Values grouped by what is known of their queries: a category, a difficulty, a language."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.tables import Column, Floats
from rankgauge.errors import UsageError, nearest
from rankgauge.measures.spec import Aggregate, Measure
from rankgauge.stats.results import Alternative, Interval

UNKNOWN = "(none)"


@dataclass(frozen=True)
class Slice:
    """One measure over the queries of one group."""

    by: str
    label: str
    measure: str
    n: int
    mean: float | None
    median: float | None
    interval: Interval


def groups(columns: Mapping[str, Column], by: str | Sequence[str]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """The groups of a column, or of several together, by label; each with the queries it holds."""
    names = [by] if isinstance(by, str) else list(by)
    for name in names:
        if name not in columns:
            close = nearest(name, list(columns))
            known = ", ".join(columns) or "none"
            raise UsageError(
                f"the queries have no column '{name}' (columns: {known})",
                hint=f"did you mean {close}?" if close else "name a file that has it: --topics queries.jsonl",
            )
    rows = list(zip(*(columns[name].tolist() for name in names), strict=True))
    labels = [" / ".join(map(_label, row)) for row in rows]
    for label in sorted(set(labels)):
        yield label, np.array([other == label for other in labels], dtype=bool)


def _label(value: Any) -> str:
    if value is None or value != value:
        return UNKNOWN
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def summary(
    by: str,
    label: str,
    measure: Measure,
    values: Floats,
    *,
    confidence: float,
    units: Column | None = None,
) -> Slice:
    """Count, mean, median and interval of a group's values."""
    kept = ~np.isnan(values)
    values, units = values[kept], None if units is None else units[kept]
    interval = interval_of(values, "mean", confidence=confidence, units=units, inside=measure.definition.range)
    mean = float(np.cumsum(values)[-1]) / len(values) if len(values) else None
    median = float(np.median(values)) if len(values) else None
    return Slice(by, label, measure.name, len(values), mean, median, interval)


def interval_of(
    values: Floats,
    how: Aggregate,
    *,
    confidence: float,
    units: Column | None = None,
    alternative: Alternative = "two-sided",
    inside: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """The interval that suits the values; one of a mean is cut where no mean can be."""
    from rankgauge.stats.intervals import geometric_mean_interval, mean_interval

    kept = ~np.isnan(values)
    values, units = values[kept], None if units is None else units[kept]
    if how == "sum":
        return Interval(None, None, confidence, "none", len(values), "a count is no mean")
    if how == "gmean":
        found = geometric_mean_interval(values, confidence=confidence, units=units, alternative=alternative)
    else:
        binary = units is None and len(values) > 1 and set(np.unique(values).tolist()) <= {0.0, 1.0}
        method: Literal["wilson", "t"] = "wilson" if binary else "t"
        found = mean_interval(values, method=method, confidence=confidence, units=units, alternative=alternative)
    if found.low is None or found.high is None:
        return found
    # The open end of a one-sided interval stays open.
    low = found.low if alternative == "less" else max(found.low, inside[0])
    high = found.high if alternative == "greater" else min(found.high, inside[1])
    return replace(found, low=low, high=high)
