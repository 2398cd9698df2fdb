"""Quality against latency, and the Pareto-optimal systems."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rankgauge.core.formatting import compact_number
from rankgauge.measures.spec import Measure
from rankgauge.render.html.charts.lines import frame
from rankgauge.render.html.charts.scales import Scale, padded_range
from rankgauge.render.html.charts.svg import CHART_WIDTH, Chart, PlotArea, drawing, line, px, tag, text
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.text import shorten_middle
from rankgauge.report.report import Report

COST_AREA = PlotArea(height=260, left=44, right=14, top=16, bottom_margin=34)
POINT_NAME_CHARACTERS = 18
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
    return Chart("Quality and latency", _draw(points, front, measure), f"Pareto-optimal: {names}.")


def pareto_front(points: Sequence[LatencyPoint], *, lower_is_better: bool = False) -> list[LatencyPoint]:
    """The points that no other point beats in one respect without being worse in the other, fastest first."""
    sign = -1 if lower_is_better else 1
    front: list[LatencyPoint] = []
    for point in sorted(points, key=lambda point: (point[1], -sign * point[2])):
        if not front or sign * point[2] > sign * front[-1][2]:
            front.append(point)
    return front


def _draw(points: Sequence[LatencyPoint], front: Sequence[LatencyPoint], measure: Measure) -> Markup:
    area, name = COST_AREA, measure.name
    times = [time for _, time, _ in points]
    x = Scale(min(times) / 1.6, max(times) * 1.6, area.left, CHART_WIDTH - area.right, log=True)
    y = Scale(*padded_range([value for _, _, value in points], measure.definition.range), area.bottom, area.top)
    parts = [*frame(x, y, "median latency in ms, one query at a time", area.bottom), text(0, 9, name, "axis")]
    steps = f"M{px(x(front[0][1]))} {px(area.bottom)}V{px(y(front[0][2]))}"
    steps += "".join(f"H{px(x(time))}V{px(y(value))}" for _, time, value in front[1:]) + f"H{px(x.end)}"
    parts.append(tag("path", tag("title", "Pareto front"), d=steps, class_="front"))
    descriptions = []
    for system, time, value in points:
        descriptions.append(f"{system.name}: {name} {compact_number(value)} at {compact_number(time)} ms")
        left = x(time) > (area.left + CHART_WIDTH) / 2
        position, anchor = (x(time) - 9, "end") if left else (x(time) + 9, None)
        shapes = [tag("title", descriptions[-1]), tag("circle", cx=x(time), cy=y(value), r=5, class_="dot")]
        label = shorten_middle(system.name, POINT_NAME_CHARACTERS)
        shapes.append(text(position, y(value) - 6, label, "name halo", anchor))
        parts.append(tag("g", *shapes, class_=system.color))
    parts.append(line(x.begin, area.bottom, x.end, area.bottom, "grid"))
    return drawing(area.height, "; ".join(descriptions), *parts)
