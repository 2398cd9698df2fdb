"""Two values for each query: aligned by position if both are lists, by query id if both are mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from rankgauge.comparison.significance import PairedColumns, difference_range, family_tests
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.core.arrays import Column, Floats
from rankgauge.core.formatting import percent, plural, span
from rankgauge.errors import InputError, InputTypeError, MeasureError, shown
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure
from rankgauge.stats.joint_tests import UNBOUNDED
from rankgauge.stats.results import Interval

First = TypeVar("First")
Second = TypeVar("Second")
QueryValues = Mapping[str, First] | Sequence[First]
PIPELINE_MEASURE = "nDCG@10"
SHOWN_QUERIES = 3


def by_query(values: QueryValues[First], name: str) -> dict[str, First]:
    """One value per query; the queries of a list are numbered, padded to sort in order. ``name`` is for errors."""
    if isinstance(values, Mapping):
        return dict(values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise InputTypeError(f"{name} must be a list or a mapping from query to value, found {type(values).__name__}")
    width = len(str(len(values)))
    return {str(number).zfill(width): value for number, value in enumerate(values, 1)}


def align_queries(
    first: QueryValues[First], second: QueryValues[Second], names: tuple[str, str]
) -> tuple[dict[str, First], dict[str, Second]]:
    """Both values of the same queries; a query that only one of them has is an error."""
    if isinstance(first, Mapping) != isinstance(second, Mapping):
        raise InputTypeError(f"{names[0]} and {names[1]} must be both lists or both mappings")
    first_values, second_values = by_query(first, names[0]), by_query(second, names[1])
    if not isinstance(first, Mapping) and len(first_values) != len(second_values):
        raise InputError(
            f"{names[0]} has {plural(len(first_values), 'query')}, {names[1]} has {plural(len(second_values), 'query')}"
        )
    for complete, incomplete, name in (
        (first_values, second_values, names[1]),
        (second_values, first_values, names[0]),
    ):
        missing = [query for query in complete if query not in incomplete]
        if missing:
            sample = ", ".join(map(shown, missing[:SHOWN_QUERIES]))
            raise InputError(f"{name} lacks {len(missing)} of the queries: {sample}")
    return first_values, {query: second_values[query] for query in first_values}


def paired_interval(
    system_values: Floats, baseline_values: Floats, measure: str | Measure, units: Column | None = None
) -> Interval:
    """The interval of the mean difference, system − baseline.

    If the values can be those of the measure, the ends stay in the range that a difference of the measure can have.
    """
    matching = _matching_measure(measure, system_values, baseline_values)
    limits = UNBOUNDED if matching is None else difference_range(matching)
    columns = PairedColumns(system_values[:, np.newaxis], baseline_values[:, np.newaxis], (limits,), units)
    return family_tests(columns, Statistics())[0].interval


def _matching_measure(measure: str | Measure, *columns: Floats) -> Measure | None:
    """The measure of a name, unless the name is not a measure's or the values are outside its range."""
    try:
        parsed = parse_measure(measure)
    except MeasureError:
        return None
    low, high = parsed.definition.range
    return parsed if all(bool(np.all((column >= low) & (column <= high))) for column in columns) else None


def interval_text(interval: Interval, digits: int) -> str:
    """`` (95% CI −0.0100 to +0.0300)``; nothing if there is no interval."""
    ends = span(interval.low, interval.high, digits, sign=True)
    return f" ({percent(interval.confidence)} CI {ends})" if ends else ""
