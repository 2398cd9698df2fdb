"""Rows with a mark and a span around it: means with intervals, and what a value could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.render.html.figures.scales import Scale, label, spread
from rankgauge.render.html.figures.svg import WIDTH, drawing, line, room, tag, text
from rankgauge.render.html.figures.systems import System
from rankgauge.render.html.text import short

RIGHT, ROW, TOP = 50, 24, 6
SIGNS = 15  # of a name that fit at the left


@dataclass(frozen=True)
class Row:
    """One system's mark; ``low`` and ``high`` are None where there is no span."""

    system: System
    value: float | None
    low: float | None
    high: float | None
    shown: str  # the value
    said: str  # all of it, as a sentence


def ranges(rows: Sequence[Row], within: tuple[float, float]) -> Markup:
    """The rows over one axis."""
    bottom = TOP + ROW * len(rows)
    low, high = spread([end for row in rows for end in (row.value, row.low, row.high)], within)
    left = room(short(row.system.name, SIGNS) for row in rows)
    x = Scale(low, high, left + 6, WIDTH - RIGHT - 6)
    parts = []
    for tick in x.ticks:
        parts += [
            line(x(tick), TOP, x(tick), bottom, "grid"),
            text(x(tick), bottom + 15, label(tick), "tick", "middle"),
        ]
    for place, row in enumerate(rows):
        parts.append(_row(row, x, TOP + ROW * (place + 0.5)))
    return drawing(bottom + 20, "; ".join(row.said for row in rows), *parts)


def _row(row: Row, x: Scale, y: float) -> Markup:
    name = short(row.system.name, SIGNS)
    parts = [tag("title", row.said), text(0, y + 4, name, "name")]
    if row.low is not None and row.high is not None:
        parts.append(line(x(row.low), y, x(row.high), y, "span"))
    if row.value is not None:
        parts.append(tag("circle", cx=x(row.value), cy=y, r=4.5, class_="dot"))
    parts.append(text(WIDTH, y + 4, row.shown, "figure", "end"))
    return tag("g", *parts, class_=row.system.colour)
