"""Values over time: one dot per entry with its interval, and a line where something changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.render.html.charts.scales import Scale, padded_range, tick_label
from rankgauge.render.html.charts.svg import CHART_WIDTH, PlotArea, drawing, line, px, tag, text
from rankgauge.render.html.direction import Tone

TIME_AREA = PlotArea(height=200, left=40, right=6, top=28, bottom_margin=22)
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
    area, points = TIME_AREA, series.points
    x = Scale(0.0, float(len(points) - 1), area.left + 6, CHART_WIDTH - area.right - 6)
    values = [end for point in points for end in (point.value, point.low, point.high)]
    y = Scale(*padded_range(values, series.possible), area.bottom, area.top)
    right = CHART_WIDTH - area.right
    parts = [line(area.left, y(tick), right, y(tick), "grid") for tick in y.ticks]
    parts += [text(area.left - 6, y(tick) + 4, tick_label(tick), "tick", "end") for tick in y.ticks]
    parts.append(text(area.left, area.height - 4, series.days[0], "tick"))
    if len(points) > 1:
        parts.append(text(right, area.height - 4, series.days[1], "tick", "end"))
    curve = tag("path", d=_path(points, x, y), class_="curve")
    parts.append(tag("g", curve, *_dots(points, x, y), class_=series.color))
    parts += [_mark(mark, place, x) for place, mark in enumerate(series.marks)]
    return drawing(area.height, series.description, *parts)


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
        shapes.append(tag("circle", cx=x(index), cy=y(point.value), r=radius, class_="dot"))
        yield tag("g", *shapes, data_entry=str(point.entry))


def _mark(mark: TimeMark, place: int, x: Scale) -> Markup:
    """A dashed line with its label; labels take turns on two lines, so that neighbors do not overlap."""
    at = x(mark.index - 0.5)
    height = 10 + 12 * (place % 2)
    is_left = at > CHART_WIDTH / 2
    label = text(at + (-4 if is_left else 4), height, mark.label, f"name halo {mark.tone}", "end" if is_left else None)
    dashes = line(at, 0, at, TIME_AREA.bottom, "front change")
    return tag("g", tag("title", mark.description), dashes, label)
