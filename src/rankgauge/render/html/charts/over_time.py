"""Values over time, with change points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.render.document import Tone
from rankgauge.render.html.charts.drawing import (
    FULL_WIDTH,
    Scale,
    across,
    drawing,
    horizontal_grid,
    line,
    padded_range,
    plot_width,
    px,
    stretched,
    tag,
    text,
    text_width,
    value_column,
)

TIME_HEIGHT, TIME_TOP, TIME_BOTTOM = 170, 8, 24  # without labels of changes
TIME_TICKS = 5
LABEL_HEIGHT, LABEL_GAP = 16, 10  # of the label of a change, and pixels between two
MANY_POINTS = 25  # from which on dots are smaller


@dataclass(frozen=True)
class TimePoint:
    """One entry; ``low`` and ``high`` are None if there is no interval."""

    value: float | None
    low: float | None
    high: float | None
    description: str
    entry: int  # its place in the list of entries


@dataclass(frozen=True)
class TimeMark:
    """A change before the point with this index."""

    index: int
    label: str
    tone: Tone
    description: str


@dataclass(frozen=True)
class TimeSeries:
    """What a chart over time shows."""

    points: Sequence[TimePoint]
    marks: Sequence[TimeMark]
    days: tuple[str, str]  # of the first and the last point
    possible: tuple[float, float]  # values
    color: str  # a CSS class
    description: str


def time_chart(series: TimeSeries) -> Markup:
    """The points at equal distances, in their order."""
    points = series.points
    values = [end for point in points for end in (point.value, point.low, point.high)]
    x = Scale(0.0, float(len(points) - 1), 0, FULL_WIDTH)
    ends = padded_range(values, series.possible)
    left = value_column(Scale(*ends, 0, 1, tick_count=TIME_TICKS))
    labels, lines_above = _change_labels(series.marks, x, plot_width(left))
    top = TIME_TOP + LABEL_HEIGHT * lines_above
    height = TIME_HEIGHT + LABEL_HEIGHT * lines_above
    bottom = height - TIME_BOTTOM
    y = Scale(*ends, bottom, top, tick_count=TIME_TICKS)
    parts = [*horizontal_grid(y), text("0%", height - 5, series.days[0], "tick")]
    if len(points) > 1:
        parts.append(text("100%", height - 5, series.days[1], "tick", "end"))
    curve = stretched(height, tag("path", d=_path(points, x, y), class_="curve"))
    parts.append(tag("g", curve, *_dots(points, x, y), class_=series.color))
    for mark, label in zip(series.marks, labels, strict=True):
        at = x(mark.index - 0.5)
        parts.append(tag("g", tag("title", mark.description), line(at, 2, at, bottom, "front change"), label))
    return drawing(height, series.description, *parts, left=value_column(y), data_time="")


def _path(points: Sequence[TimePoint], x: Scale, y: Scale) -> str:
    """A line through all values; it is interrupted where there is none."""
    steps, command = [], "M"
    for index, point in enumerate(points):
        if point.value is None:
            command = "M"
            continue
        steps.append(f"{command}{px(x(index))} {px(y(point.value))}")
        command = "L"
    return "".join(steps)


def _dots(points: Sequence[TimePoint], x: Scale, y: Scale) -> Iterator[Markup]:
    radius = 2.5 if len(points) > MANY_POINTS else 3.5
    for index, point in enumerate(points):
        if point.value is None:
            continue
        shapes = [tag("title", point.description)]
        if point.low is not None and point.high is not None:
            shapes.append(line(x(index), y(point.low), x(index), y(point.high), "range"))
        shapes.append(tag("circle", cx=across(x(index)), cy=y(point.value), r=radius, class_="dot"))
        yield tag("g", *shapes, data_entry=str(point.entry))


def _change_labels(marks: Sequence[TimeMark], x: Scale, width: float) -> tuple[list[Markup], int]:
    """The labels of changes beside their lines, on as many lines of text as they need not to overlap."""
    labels, ends = [], list[float]()  # the end of the last label on each line of text, in pixels
    for mark in marks:
        at, is_left = x(mark.index - 0.5), x(mark.index - 0.5) > FULL_WIDTH / 2
        needed, pixels = text_width(mark.label), x(mark.index - 0.5) * width / FULL_WIDTH
        begin = pixels - 4 - needed if is_left else pixels + 4
        free = next((number for number, end in enumerate(ends) if end + LABEL_GAP <= begin), len(ends))
        ends[free : free + 1] = [begin + needed]
        label = text(
            across(at), 12 + LABEL_HEIGHT * free, mark.label, f"name halo {mark.tone}", "end" if is_left else None
        )
        labels.append(tag("svg", label, x=-4 if is_left else 4))
    return labels, len(ends)
