"""Rows with a dot and a range around it: means with intervals, and what a value could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.render.html.charts.scales import Scale, padded_range, tick_label
from rankgauge.render.html.charts.svg import CHART_WIDTH, NAME_CHARACTERS, drawing, line, name_width, tag, text
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.text import shorten_middle

RANGE_RIGHT, RANGE_ROW, RANGE_TOP = 50, 24, 6


@dataclass(frozen=True)
class RangeRow:
    """One system; ``low`` and ``high`` are None if there is no range."""

    system: PageSystem
    value: float | None
    low: float | None
    high: float | None
    value_text: str
    description: str  # the row as a sentence


def ranges(rows: Sequence[RangeRow], possible: tuple[float, float]) -> Markup:
    """The rows over one axis."""
    bottom = RANGE_TOP + RANGE_ROW * len(rows)
    low, high = padded_range([end for row in rows for end in (row.value, row.low, row.high)], possible)
    left = name_width(shorten_middle(row.system.name, NAME_CHARACTERS) for row in rows)
    x = Scale(low, high, left + 6, CHART_WIDTH - RANGE_RIGHT - 6)
    parts = []
    for tick in x.ticks:
        parts += [
            line(x(tick), RANGE_TOP, x(tick), bottom, "grid"),
            text(x(tick), bottom + 15, tick_label(tick), "tick", "middle"),
        ]
    for index, row in enumerate(rows):
        parts.append(_row(row, x, RANGE_TOP + RANGE_ROW * (index + 0.5)))
    return drawing(bottom + 20, "; ".join(row.description for row in rows), *parts)


def _row(row: RangeRow, x: Scale, y: float) -> Markup:
    name = shorten_middle(row.system.name, NAME_CHARACTERS)
    parts = [tag("title", row.description), text(0, y + 4, name, "name")]
    if row.low is not None and row.high is not None:
        parts.append(line(x(row.low), y, x(row.high), y, "range"))
    if row.value is not None:
        parts.append(tag("circle", cx=x(row.value), cy=y, r=4.5, class_="dot"))
    parts.append(text(CHART_WIDTH, y + 4, row.value_text, "value", "end"))
    return tag("g", *parts, class_=row.system.color)
