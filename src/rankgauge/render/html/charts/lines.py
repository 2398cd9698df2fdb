"""Curves of several systems, each with its name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.core.formatting import compact_number
from rankgauge.render.html.charts.scales import Scale, tick_label
from rankgauge.render.html.charts.svg import (
    CHART_WIDTH,
    NAME_CHARACTERS,
    PlotArea,
    drawing,
    line,
    name_width,
    px,
    tag,
    text,
)
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.text import shorten_middle

CURVE_AREA = PlotArea(height=220, left=34, right=0, top=8, bottom_margin=34)
NAME_SPACING = 13  # between two names, one below the other


@dataclass(frozen=True)
class Curve:
    """The points of one system, from left to right."""

    system: PageSystem
    points: Sequence[tuple[float, float]]


def frame(x: Scale, y: Scale, horizontal: str, bottom: float) -> list[Markup]:
    """Grid, ticks and the label of the horizontal axis."""
    parts = [line(x.begin, y(tick), x.end, y(tick), "grid") for tick in y.ticks]
    parts += [text(x.begin - 6, y(tick) + 4, tick_label(tick), "tick", "end") for tick in y.ticks]
    parts += [text(x(tick), bottom + 15, tick_label(tick), "tick", "middle") for tick in x.ticks]
    parts.append(text((x.begin + x.end) / 2, bottom + 30, horizontal, "axis", "middle"))
    return parts


def lines(curves: Sequence[Curve], measure: str, horizontal: str, x: tuple[float, float], *, log: bool) -> Markup:
    """The curves over one horizontal axis; the vertical one begins at 0."""
    area = CURVE_AREA
    highest = max([y for curve in curves for _, y in curve.points], default=1.0) or 1.0
    right = CHART_WIDTH - name_width(shorten_middle(curve.system.name, NAME_CHARACTERS) for curve in curves)
    across = Scale(*x, area.left, right, log=log)
    up = Scale(0.0, highest, area.bottom, area.top, tick_count=5)
    parts = frame(across, up, horizontal, area.bottom)
    for curve in reversed(curves):  # the first, usually the baseline, is drawn on top
        path = "L".join(f"{px(across(a))} {px(up(b))}" for a, b in curve.points)
        dots = "".join(f"M{px(across(a))} {px(up(b))}h0" for a, b in curve.points)
        shapes = [tag("path", d=f"M{path}", class_="curve"), tag("path", d=dots, class_="dots")]
        parts.append(tag("g", tag("title", describe(curve, measure)), *shapes, class_=curve.system.color))
    ends = [(curve, up(curve.points[-1][1])) for curve in curves if curve.points]
    for (curve, _), y in zip(ends, separate([end for _, end in ends], area.top, area.bottom), strict=True):
        name = shorten_middle(curve.system.name, NAME_CHARACTERS)
        words = text(right + 7, y + 4, name, "name", full=curve.system.name)
        parts.append(tag("g", words, class_=curve.system.color))
    return drawing(area.height, "; ".join(describe(curve, measure) for curve in curves), *parts)


def describe(curve: Curve, measure: str) -> str:
    """A curve in words: where it begins and where it ends."""
    if not curve.points:
        return f"{curve.system.name}: no values"
    (a, first), (b, last) = curve.points[0], curve.points[-1]
    start, end = (f"{compact_number(value)} at {tick_label(at)}" for value, at in ((first, a), (last, b)))
    return f"{curve.system.name}: {measure} {start}, {end}"


def separate(positions: Sequence[float], top: float, bottom: float) -> list[float]:
    """The positions moved as little as possible, so that names written there do not overlap."""
    order = sorted(range(len(positions)), key=lambda n: (positions[n], n))
    separated = list(positions)
    last = top - NAME_SPACING
    for n in order:
        last = separated[n] = max(separated[n], last + NAME_SPACING)
    limit = bottom + NAME_SPACING
    for n in reversed(order):
        limit = separated[n] = min(separated[n], limit - NAME_SPACING)
    return separated
