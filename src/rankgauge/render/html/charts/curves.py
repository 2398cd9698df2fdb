"""Measures over the cutoff, precision over recall, and quality over cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.core.formatting import compact_number, milliseconds, text_of
from rankgauge.core.hits import Hits
from rankgauge.core.qrels import Qrels
from rankgauge.evaluation.audit.audited_values import Values
from rankgauge.evaluation.run_answers import threshold_curve
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.families.precision_recall import ELEVEN_POINTS
from rankgauge.measures.measure import ONE_GRADE, Measure
from rankgauge.measures.names import parse_measure
from rankgauge.render.html.charts.drawing import (
    FULL_WIDTH,
    NAME_SPACING,
    Chart,
    PlotArea,
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
    tick_label,
    value_column,
)
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.report.report import Report

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


CHART_CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000)
CHART_FAMILIES = ("nDCG", "R", "P")
MAX_CUTOFF_CHARTS = 4


def cutoff_charts(
    qrels: Qrels, scores: Sequence[Scores], hits: Sequence[Hits], systems: Sequence[PageSystem]
) -> Iterator[Chart]:
    """One chart per family: nDCG, R and P, and that of the first measure if it has a cutoff."""
    for family in _families(scores[0]):
        if not family.definition.accepts(qrels.judgments):
            continue
        measure = family.frozen(qrels)
        uncut = measure.definition.parameters["cutoff"] is None  # whether the measure may have no cutoff
        title = f"{measure.but(cutoff=None).name if uncut else measure.definition.name}@k"
        yield cutoff_chart(measure, title, scores, hits, systems)


def cutoff_chart(
    measure: Measure,
    title: str,
    scores: Sequence[Scores],
    hits: Sequence[Hits],
    systems: Sequence[PageSystem],
    caption: str = "",
    height: float = 0,
) -> Chart:
    """One measure at each cutoff that the rankings reach."""
    deepest = max(int(run_hits.retrieved.max(initial=1)) for run_hits in hits)
    cutoffs = [k for k in CHART_CUTOFFS if k <= max(deepest, 2)]
    measures = [measure.but(cutoff=k) for k in cutoffs]
    curves = []
    for run_scores, run_hits, system in zip(scores, hits, systems, strict=True):
        values = [Values(at_k(run_hits), run_scores.averaged_for(at_k), "mean").over_queries for at_k in measures]
        curves.append(Curve(system, [(float(k), y) for k, y in zip(cutoffs, values, strict=True) if y is not None]))
    axes = CurveAxes(title, measure.definition.range, "k", (1.0, float(cutoffs[-1])), log=True, height=height)
    return Chart(title, lines(curves, axes), caption)


def _families(scores: Scores) -> list[Measure]:
    """For each family the first measure of the evaluation, or the family's default."""
    with_cutoff = [measure for measure in scores.measures if "cutoff" in measure.definition.parameters]
    first = [measure.definition.name for measure in with_cutoff[:1] if measure is scores.measures[0]]
    by_family = {measure.definition.name: measure for measure in reversed(with_cutoff)}
    names = dict.fromkeys([*first, *CHART_FAMILIES])
    return [by_family.get(name) or parse_measure(f"{name}@10") for name in names][:MAX_CUTOFF_CHARTS]


def recall_charts(scores: Sequence[Scores], hits: Sequence[Hits], systems: Sequence[PageSystem]) -> Iterator[Chart]:
    """The chart, at the relevance threshold of the first measure; none if documents have no single grade."""
    if any(run_hits.judgments not in ONE_GRADE for run_hits in hits):
        return
    rel = dict(scores[0].measures[0].parameters).get("rel")
    measures = [parse_measure(f"IPrec@{level:g}", compat=scores[0].conventions.compat) for level in ELEVEN_POINTS]
    measures = [measure.but(rel=rel) if isinstance(rel, (int, float)) else measure for measure in measures]
    curves = []
    for run_scores, run_hits, system in zip(scores, hits, systems, strict=True):
        averaged = run_scores.averaged_for(measures[0])
        precisions = [Values(measure(run_hits), averaged, "mean").over_queries for measure in measures]
        curves.append(Curve(system, [(x, y) for x, y in zip(ELEVEN_POINTS, precisions, strict=True) if y is not None]))
    drawn = lines(curves, CurveAxes("precision", (0.0, 1.0), "recall", (0.0, 1.0)))
    yield Chart("Precision-recall curve", drawn, "Interpolated: the highest precision at this recall or above.")


def threshold_charts(scores: Sequence[Scores], systems: Sequence[PageSystem], confidence: float) -> Iterator[Chart]:
    """Right answers against false answers over all thresholds of the highest score; none without such queries."""
    curves, captions, cutoff = list[Curve](), list[str](), 0
    for run, system in zip(scores, systems, strict=True):
        curve = threshold_curve(run, confidence)
        if curve is None:
            continue
        cutoff = curve.cutoff
        curves.append(Curve(system, [(row.false_answers, row.right_answers) for row in reversed(curve.thresholds)]))
        listed = ", ".join(
            f"{text_of(row.score, 'given', digits=3)} ({text_of(row.right_answers, 'share')} right, "
            f"{text_of(row.false_answers, 'share')} false)"
            for row in curve.sample(MAX_SYMBOLS)
        )
        captions.append(f"{system.name}: AUROC {text_of(curve.auroc, 'value')}; minimum score {listed}.")
    if curves:
        axes = CurveAxes("right answers", (0.0, 1.0), "false answers", (0.0, 1.0))
        yield Chart(f"Right answers @{cutoff} against false answers", lines(curves, axes), " ".join(captions))


# Quality against latency.

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
    return Chart(f"{measure.shown} and latency", _draw(points, front, measure), f"Pareto-optimal: {names}.")


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
        descriptions.append(f"{system.name}: {measure.shown} {compact_number(value)} at {milliseconds(time)}")
        shapes = [tag("title", descriptions[-1]), symbol(system.shape, across(x(time)), y(value))]
        parts.append(tag("g", *shapes, class_=system.color))
    return drawing(area.height, "; ".join(descriptions), *parts, left=left, right=right)
