"""A difference with its confidence interval around zero, small enough for a row of a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rankgauge.comparison.result import Difference
from rankgauge.render.html.charts.scales import Scale
from rankgauge.render.html.charts.svg import FULL_WIDTH, across, line, tag

FOREST_WIDTH, FOREST_HEIGHT = 120, 20
FOREST_MARGIN = FULL_WIDTH / 20


def largest_distance(rows: Sequence[Difference]) -> float:
    """The largest distance from zero of the differences and of the ends of their intervals."""
    ends = [row.difference for row in rows] + [end for row in rows for end in (row.interval.low, row.interval.high)]
    return max((abs(end) for end in ends if end is not None and abs(end) != float("inf")), default=0.0) or 1.0


def forest(row: Difference, limit: float, color: str) -> Markup:
    """The drawing for one row. It is hidden from screen readers because its numbers are in the same row."""
    x, middle = Scale(-limit, limit, FOREST_MARGIN, FULL_WIDTH - FOREST_MARGIN), FOREST_HEIGHT / 2
    parts = [line(x(0), 1, x(0), FOREST_HEIGHT - 1, "zero")]
    if row.interval.low is not None and row.interval.high is not None:
        parts.append(line(x(row.interval.low), middle, x(row.interval.high), middle, "range"))
    if row.difference is not None:
        parts.append(tag("circle", cx=across(x(row.difference)), cy=middle, r=3.5, class_="dot"))
    return tag(
        "svg",
        *parts,
        width=FOREST_WIDTH,
        height=FOREST_HEIGHT,
        class_=color,
        aria_hidden="true",
    )
