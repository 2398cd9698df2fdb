"""Grids and tick labels: only as many as fit on the narrowest screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from markupsafe import Markup

from rankgauge.render.html.charts.labels import text_width
from rankgauge.render.html.charts.scales import Scale, log_ticks, tick_labels, ticks
from rankgauge.render.html.charts.svg import FULL_WIDTH, LabelColumn, across, line, text

TICK_GAP = 8  # pixels between two tick labels
MAX_TICKS = 6
TICK_DROP, AXIS_DROP = 17, 34  # from the end of the plot down to the tick labels, and to the name of the axis


def value_column(y: Scale) -> LabelColumn:
    """The tick labels of a vertical axis."""
    labels = tick_labels(y.ticks)
    width = max(map(text_width, labels), default=0) + 2
    parts = [text(width, y(tick) + 4, label, "tick", "end") for tick, label in zip(y.ticks, labels, strict=True)]
    return LabelColumn(width, parts)


def horizontal_grid(y: Scale) -> Iterator[Markup]:
    """A line across the plot for each tick of a vertical axis."""
    for tick in y.ticks:
        yield line(0, y(tick), FULL_WIDTH, y(tick), "grid")


def horizontal_axis(x: Scale, width: float, bottom: float, name: str = "") -> Iterator[Markup]:
    """The tick labels below a plot that has at least ``width`` pixels, and the name of the axis."""
    values = fitting_ticks(x, width)
    for tick, label in zip(values, tick_labels(values, log=x.log), strict=True):
        yield text(across(x(tick)), bottom + TICK_DROP, label, "tick", "middle")
    if name:
        yield text("50%", bottom + AXIS_DROP, name, "axis", "middle")


def fitting_ticks(x: Scale, width: float) -> list[float]:
    """As many round values as possible whose labels do not touch."""
    if x.log:
        candidates = [log_ticks(x.low, x.high, factors) for factors in ((1, 2, 5), (1, 3), (1,))]
    else:
        candidates = [ticks(x.low, x.high, count) for count in range(MAX_TICKS, 1, -1)]
    for values in candidates:
        if values and labels_fit(values, x, width):
            return values
    values = candidates[-1]
    while len(values) > 1 and not labels_fit(values, x, width):
        values = values[::2]
    return values


def labels_fit(values: Sequence[float], x: Scale, width: float) -> bool:
    """Whether the labels of these ticks do not touch on a plot that has ``width`` pixels."""
    centers = [x(value) * width / FULL_WIDTH for value in values]
    halves = [text_width(label) / 2 for label in tick_labels(values, log=x.log)]
    places = zip(centers, halves, strict=True)
    return all(b - a >= half + other + TICK_GAP for (a, half), (b, other) in pairwise(places))
