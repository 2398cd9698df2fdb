"""Quality against latency, and the systems that no other beats in both."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rankgauge.render.html.figures.lines import frame
from rankgauge.render.html.figures.scales import Scale, spread
from rankgauge.render.html.figures.svg import WIDTH, Figure, drawing, line, px, tag, text
from rankgauge.render.html.figures.systems import System
from rankgauge.render.html.text import number, short
from rankgauge.report.report import Report

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 44, 14, 16, 34, 260
SIGNS = 18
Point = tuple[System, float, float]  # milliseconds and quality


def quality_and_cost(report: Report, systems: Sequence[System]) -> Figure | None:
    """The picture on the first measure; None where no latency was measured."""
    measure = report.scores[0].measures[0]
    points: list[Point] = []
    for one, system in zip(report.scores, systems, strict=True):
        cost, value = report.costs.get(one.run), one[measure]
        if cost is not None and cost.p50 and value is not None:
            points.append((system, cost.p50, value))
    if not points:
        return None
    front = pareto(points, lower=measure.definition.better == "lower")
    names = ", ".join(system.name for system, _, _ in front)
    svg = _drawn(points, front, measure.name, measure.definition.range)
    return Figure("Quality and latency", svg, f"No system is both faster and better than: {names}.")


def pareto(points: Sequence[Point], *, lower: bool = False) -> list[Point]:
    """The points that no other beats in one of both without being worse in the other, fastest first."""
    sign = -1 if lower else 1
    front: list[Point] = []
    for point in sorted(points, key=lambda each: (each[1], -sign * each[2])):
        if not front or sign * point[2] > sign * front[-1][2]:
            front.append(point)
    return front


def _drawn(points: Sequence[Point], front: Sequence[Point], name: str, within: tuple[float, float]) -> Markup:
    bottom = HEIGHT - BOTTOM
    times = [time for _, time, _ in points]
    x = Scale(min(times) / 1.6, max(times) * 1.6, LEFT, WIDTH - RIGHT, log=True)
    y = Scale(*spread([value for _, _, value in points], within), bottom, TOP)
    parts = [*frame(x, y, "median latency in ms, one query at a time", bottom), text(0, 9, name, "axis")]
    steps = f"M{px(x(front[0][1]))} {px(bottom)}V{px(y(front[0][2]))}"
    steps += "".join(f"H{px(x(time))}V{px(y(value))}" for _, time, value in front[1:]) + f"H{px(x.end)}"
    parts.append(tag("path", tag("title", "Pareto front"), d=steps, class_="front"))
    said = []
    for system, time, value in points:
        words = f"{system.name}: {name} {number(value)} at {number(time)} ms"
        said.append(words)
        left = x(time) > (LEFT + WIDTH) / 2
        shapes = [tag("title", words), tag("circle", cx=x(time), cy=y(value), r=5, class_="dot")]
        shapes.append(
            text(
                x(time) + (-9 if left else 9),
                y(value) - 6,
                short(system.name, SIGNS),
                "name halo",
                "end" if left else None,
            )
        )
        parts.append(tag("g", *shapes, class_=system.colour))
    parts.append(line(x.begin, bottom, x.end, bottom, "grid"))
    return drawing(HEIGHT, "; ".join(said), *parts)
