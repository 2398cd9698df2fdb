"""Rows with a value and a range around it: means with confidence intervals, and scenarios.

A scenario says what a value would be under an assumption. It is drawn as a dotted bracket, never like an interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from rankgauge.render.html.charts.axes import fitting_ticks, horizontal_axis
from rankgauge.render.html.charts.labels import plot_width, system_column, text_width
from rankgauge.render.html.charts.scales import Scale, padded_range
from rankgauge.render.html.charts.svg import FULL_WIDTH, KeyEntry, LabelColumn, across, drawing, line, symbol, tag, text
from rankgauge.render.html.page_systems import PageSystem

RANGE_ROW, SCENARIO_ROW, RANGE_TOP, RANGE_BOTTOM = 26, 76, 4, 22
KEY_HEIGHT = 30
SCENARIOS_HEIGHT = 168  # of a chart of scenarios, which is beside one of curves, if a row is not too high then
RangeForm = Literal["interval", "scenario"]


@dataclass(frozen=True)
class RangeRow:
    """One system; ``low`` and ``high`` are None if there is no range."""

    system: PageSystem
    value: float | None
    low: float | None
    high: float | None
    value_text: str
    description: str  # the row as a sentence


def ranges(rows: Sequence[RangeRow], possible: tuple[float, float], form: RangeForm = "interval") -> Markup:
    """The rows over one axis."""
    row_height = RANGE_ROW if form == "interval" else scenario_row(len(rows))
    bottom = RANGE_TOP + row_height * len(rows)
    heights = [RANGE_TOP + row_height * (index + 0.5) for index in range(len(rows))]
    ends = padded_range([end for row in rows for end in (row.value, row.low, row.high)], possible)
    x = Scale(*ends, 0, FULL_WIDTH)
    width = max((text_width(row.value_text) for row in rows), default=0)
    values = [text(width, y + 4, row.value_text, "value", "end") for row, y in zip(rows, heights, strict=True)]
    left, right = system_column([row.system for row in rows], heights), LabelColumn(width, values)
    space = plot_width(left, right)
    parts = [line(x(tick), RANGE_TOP, x(tick), bottom, "grid") for tick in fitting_ticks(x, space)]
    parts += horizontal_axis(x, space, bottom)
    parts += [_row(row, x, y, form) for row, y in zip(rows, heights, strict=True)]
    description = "; ".join(row.description for row in rows)
    return drawing(bottom + RANGE_BOTTOM, description, *parts, left=left, right=right)


def scenario_row(rows: int) -> float:
    """The height of a row of scenarios: more if there are few rows."""
    return min(max(SCENARIOS_HEIGHT / max(rows, 1), RANGE_ROW), SCENARIO_ROW)


def scenarios_height(rows: int) -> float:
    """The height of a chart of scenarios with its key."""
    return RANGE_TOP + scenario_row(rows) * rows + RANGE_BOTTOM + KEY_HEIGHT


def scenario_key(label: str) -> KeyEntry:
    """The key of a chart of scenarios."""
    parts = [symbol("bracket-low", 3, 6), symbol("bracket-high", 33, 6), tag("path", d="M3 6H33", class_="scenario")]
    return KeyEntry(tag("svg", *parts, viewBox="0 0 36 12", class_="key-range c0", aria_hidden="true"), label)


def _row(row: RangeRow, x: Scale, y: float, form: RangeForm) -> Markup:
    parts = [tag("title", row.description)]
    if row.low is not None and row.high is not None:
        parts += _range(x(row.low), x(row.high), y, form)
    if row.value is not None:
        parts.append(symbol(row.system.shape, across(x(row.value)), y))
    return tag("g", *parts, class_=row.system.color)


def _range(low: float, high: float, y: float, form: RangeForm) -> Iterator[Markup]:
    if form == "interval":
        yield line(low, y, high, y, "range")
        return
    yield line(low, y, high, y, "scenario")
    yield symbol("bracket-low", across(low), y)
    yield symbol("bracket-high", across(high), y)
