"""Curves of several systems, each with its symbol and its name at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.core.formatting import compact_number
from rankgauge.render.html.charts.axes import horizontal_axis, horizontal_grid, value_column
from rankgauge.render.html.charts.labels import NAME_SPACING, plot_width, separate, system_column
from rankgauge.render.html.charts.scales import Scale, padded_range, tick_label
from rankgauge.render.html.charts.svg import FULL_WIDTH, PlotArea, across, drawing, px, stretched, symbol, tag
from rankgauge.render.html.page_systems import PageSystem

CURVE_AREA = PlotArea(height=224, top=8, bottom_margin=40)
MAX_SYMBOLS = 8  # on a curve


@dataclass(frozen=True)
class Curve:
    """The points of one system, from left to right."""

    system: PageSystem
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class CurveAxes:
    """What the axes of a chart of curves show."""

    measure: str
    possible: tuple[float, float]  # values of the measure
    horizontal: str
    ends: tuple[float, float]  # of the horizontal axis
    log: bool = False
    height: float = 0  # at least


def area_for(names: int, height: float = 0) -> PlotArea:
    """The usual area, or a higher one if there are more names than fit beside it."""
    margins = CURVE_AREA.top + CURVE_AREA.bottom_margin
    height = max(CURVE_AREA.height, height, margins + NAME_SPACING * (names - 1))
    return PlotArea(height, CURVE_AREA.top, CURVE_AREA.bottom_margin)


def lines(curves: Sequence[Curve], axes: CurveAxes) -> Markup:
    """The curves over one horizontal axis."""
    area = area_for(len(curves), axes.height)
    x = Scale(*axes.ends, 0, FULL_WIDTH, log=axes.log)
    values = padded_range([value for curve in curves for _, value in curve.points], axes.possible)
    y = Scale(*values, area.bottom, area.top, tick_count=7)
    ends = [(curve.system, y(curve.points[-1][1])) for curve in curves if curve.points]
    heights = separate([end for _, end in ends], area.top, area.bottom)
    left, right = value_column(y), system_column([system for system, _ in ends], heights)
    parts = [*horizontal_grid(y), *horizontal_axis(x, plot_width(left, right), area.bottom, axes.horizontal)]
    parts += [_curve(curve, x, y, axes.measure, area) for curve in reversed(curves)]  # the first is drawn on top
    description = "; ".join(describe(curve, axes.measure) for curve in curves)
    return drawing(area.height, description, *parts, left=left, right=right)


def _curve(curve: Curve, x: Scale, y: Scale, measure: str, area: PlotArea) -> Markup:
    path = "L".join(f"{px(x(a))} {px(y(b))}" for a, b in curve.points)
    shapes = [stretched(area.height, tag("path", d=f"M{path}" if path else "", class_="curve"))]
    step = math.ceil(len(curve.points) / MAX_SYMBOLS) or 1
    marked = curve.points[::-step][::-1]  # the last point is beside its name
    shapes += [symbol(curve.system.shape, across(x(a)), y(b)) for a, b in marked]
    return tag("g", tag("title", describe(curve, measure)), *shapes, class_=curve.system.color)


def describe(curve: Curve, measure: str) -> str:
    """A curve in words: where it begins and where it ends."""
    if not curve.points:
        return f"{curve.system.name}: no values"
    (a, first), (b, last) = curve.points[0], curve.points[-1]
    start, end = (f"{compact_number(value)} at {tick_label(at)}" for value, at in ((first, a), (last, b)))
    return f"{curve.system.name}: {measure} {start}, {end}"
