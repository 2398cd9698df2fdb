"""Quality against latency."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rankgauge.core.formatting import compact_number, milliseconds
from rankgauge.measures.measure import Measure
from rankgauge.render.html.charts.curves import area_for
from rankgauge.render.html.charts.drawing import (
    FULL_WIDTH,
    Chart,
    Scale,
    across,
    drawing,
    horizontal_axis,
    horizontal_grid,
    padded_range,
    plot_width,
    px,
    separate,
    stretched,
    symbol,
    system_column,
    tag,
    value_column,
)
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.report.report import Report

LatencyPoint = tuple[PageSystem, float, float]  # a system, its latency in milliseconds, its quality


def cost_chart(report: Report, systems: Sequence[PageSystem]) -> Chart | None:
    """The chart for the first measure; None if no latency was measured."""
    measure = report.scores[0].measures[0]
    points: list[LatencyPoint] = []
    for scores, system in zip(report.scores, systems, strict=True):
        cost, value = report.costs.get(scores.run), scores[measure]
        if cost is not None and cost.p50 and value is not None:
            points.append((system, cost.p50, value))
    if not points:
        return None
    front = pareto_front(points, lower_is_better=measure.definition.direction < 0)
    names = ", ".join(system.name for system, _, _ in front)
    return Chart(f"{measure.name} and latency", _draw(points, front, measure), f"Pareto-optimal: {names}.")


def pareto_front(points: Sequence[LatencyPoint], *, lower_is_better: bool = False) -> list[LatencyPoint]:
    """The points that no other point beats in one respect without being worse in the other, fastest first."""
    sign = -1 if lower_is_better else 1
    front: list[LatencyPoint] = []
    for point in sorted(points, key=lambda point: (point[1], -sign * point[2])):
        if not front or sign * point[2] > sign * front[-1][2]:
            front.append(point)
    return front


def _draw(points: Sequence[LatencyPoint], front: Sequence[LatencyPoint], measure: Measure) -> Markup:
    area = area_for(len(points))
    times = [time for _, time, _ in points]
    x = Scale(min(times) / 1.3, max(times) * 1.3, 0, FULL_WIDTH, log=True)
    y = Scale(*padded_range([value for _, _, value in points], measure.definition.range), area.bottom, area.top)
    heights = separate([y(value) for _, _, value in points], area.top, area.bottom)
    left, right = value_column(y), system_column([system for system, _, _ in points], heights)
    axis = horizontal_axis(x, plot_width(left, right), area.bottom, "median latency, ms")
    steps = f"M{px(x(front[0][1]))} {px(area.bottom)}V{px(y(front[0][2]))}"
    steps += "".join(f"H{px(x(time))}V{px(y(value))}" for _, time, value in front[1:]) + f"H{FULL_WIDTH}"
    path = tag("path", tag("title", "Pareto front"), d=steps, class_="front")
    parts = [*horizontal_grid(y), *axis, stretched(area.height, path)]
    descriptions = []
    for system, time, value in points:
        descriptions.append(f"{system.name}: {measure.name} {compact_number(value)} at {milliseconds(time)}")
        shapes = [tag("title", descriptions[-1]), symbol(system.shape, across(x(time)), y(value))]
        parts.append(tag("g", *shapes, class_=system.color))
    return drawing(area.height, "; ".join(descriptions), *parts, left=left, right=right)
