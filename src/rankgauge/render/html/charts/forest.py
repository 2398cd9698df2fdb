"""A difference with its interval around zero, small enough for a row of a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rankgauge.comparison.result import Difference
from rankgauge.render.html.figures.scales import Scale
from rankgauge.render.html.figures.svg import line, tag

WIDTH, HEIGHT, MARGIN = 120, 20, 6


def reach(rows: Sequence[Difference]) -> float:
    """How far from zero the intervals of some differences go."""
    ends = [row.difference for row in rows] + [end for row in rows for end in (row.interval.low, row.interval.high)]
    return max((abs(end) for end in ends if end is not None and abs(end) != float("inf")), default=0.0) or 1.0


def forest(row: Difference, most: float, colour: str) -> Markup:
    """The mark of one row. The numbers stand beside it, so that it need not be read out."""
    x, middle = Scale(-most, most, MARGIN, WIDTH - MARGIN), HEIGHT / 2
    parts = [line(x(0), 1, x(0), HEIGHT - 1, "zero")]
    if row.interval.low is not None and row.interval.high is not None:
        parts.append(line(x(row.interval.low), middle, x(row.interval.high), middle, "span"))
    if row.difference is not None:
        parts.append(tag("circle", cx=x(row.difference), cy=middle, r=3.5, class_="dot"))
    return tag(
        "svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT, class_=colour, aria_hidden="true"
    )
