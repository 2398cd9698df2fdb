"""Per-query differences of two systems, sorted, and the scores of one system against those of the other.

The script redraws both charts for other systems and measures. The axes and their tick labels are decided here only;
the script gets them with the data.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from rankgauge.core.arrays import Floats
from rankgauge.core.formatting import plural
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.measure import Direction
from rankgauge.render.html.charts.drawing import (
    AXIS_DROP,
    FULL_WIDTH,
    TICK_DROP,
    LabelColumn,
    PlotArea,
    Scale,
    across,
    covering_ticks,
    drawing,
    fitted,
    labels_fit,
    line,
    plot_width,
    px,
    stretched,
    tag,
    text,
    tick_labels,
    ticks,
)
from rankgauge.render.html.page_systems import PageSystem

SCATTER_AREA = PlotArea(height=332, top=8, bottom_margin=42)
SCATTER_LEFT = 54  # pixels for the tick labels and the name of the vertical axis
SCATTER_TICKS = 5
AXIS_NAME_WIDTH = 210
WATERFALL_AREA = PlotArea(height=315, top=8, bottom_margin=25)
GAP_LEFT, GAP_TICKS = 40, 8  # pixels for the tick labels of differences, and about how many of them there are
# The script has the same numbers.
DENSE_POINTS = 200  # from this many points on they are drawn in cells
CELL_WIDTH, CELL_HEIGHT = 20, 6
POINT_SIZES = (1, 2, 4, 10, 30)  # from this many queries on a point is drawn larger, or a cell darker


@dataclass(frozen=True)
class Axes:
    """The ticks of one measure from end to end: of its values, and of differences, symmetric around zero."""

    ticks: Sequence[float]
    gap_ticks: Sequence[float]
    gap: float  # no difference is larger

    @property
    def low(self) -> float:
        """The least value on the axes."""
        return self.ticks[0]

    @property
    def high(self) -> float:
        """The greatest value on the axes."""
        return self.ticks[-1]

    def gap_ticks_for(self, gaps: Floats) -> Sequence[float]:
        """Those of the ticks that the differences of one pair need."""
        low, high = float(np.min(gaps, initial=0.0)), float(np.max(gaps, initial=0.0))
        begin = max(index for index, tick in enumerate(self.gap_ticks) if tick <= low + 1e-9)
        end = min(index for index, tick in enumerate(self.gap_ticks) if tick >= high - 1e-9)
        return self.gap_ticks if begin == end else self.gap_ticks[begin : end + 1]

    def to_dict(self) -> dict[str, Any]:
        """For the script."""
        return {
            "low": self.low,
            "high": self.high,
            "ticks": self.ticks,
            "labels": tick_labels(self.ticks),
            "gap": self.gap,
            "gap_ticks": self.gap_ticks,
            "gap_labels": gap_labels(self.gap_ticks),
        }


def axes_of(scores: Sequence[Scores], index: int) -> Axes:
    """The axes of the measure at an index, as long as the values of all systems need."""
    values = np.concatenate([run_scores.values[run_scores.averaged, index] for run_scores in scores])
    finite = values[np.isfinite(values)]
    extremes = [float(finite.min()), float(finite.max())] if len(finite) else []
    widest = max((float(np.nanmax(np.abs(gap), initial=0.0)) for gap in _gaps(scores, index)), default=0.0)
    # The smallest round number that no difference exceeds.
    gap = next((tick for tick in ticks(0.0, 2 * widest, 20) if tick >= widest - 1e-12 and tick > 0), 1.0)
    return Axes(_scatter_ticks(extremes), covering_ticks([-gap, gap], GAP_TICKS), gap)


def _scatter_ticks(values: Sequence[float]) -> list[float]:
    """As many as fit on the horizontal axis."""
    width = plot_width(LabelColumn(SCATTER_LEFT))
    choices = [covering_ticks(values, count) for count in range(SCATTER_TICKS, 1, -1)]
    scales = [Scale(choice[0], choice[-1], 0, FULL_WIDTH) for choice in choices]
    fitting = (choice for choice, x in zip(choices, scales, strict=True) if labels_fit(choice, x, width))
    return next(fitting, choices[-1])


def averaged_values(scores: Scores, index: int) -> Floats:
    """The values of the measure at an index; NaN for a query that is not averaged."""
    return np.where(scores.averaged, scores.values[:, index], np.nan)


def _gaps(scores: Sequence[Scores], index: int) -> list[Floats]:
    values = [averaged_values(run_scores, index) for run_scores in scores]
    return [first - second for n, first in enumerate(values) for second in values[:n]]


def waterfall(gaps: Floats, direction: Direction, axes: Axes, description: str) -> Markup:
    """The differences from the largest improvement to the largest decline, as wide as the page allows."""
    area, sign = WATERFALL_AREA, direction or 1
    gaps = gaps[~np.isnan(gaps)]
    gaps = gaps[np.argsort(-sign * gaps, kind="stable")]
    values = axes.gap_ticks_for(gaps)
    y = Scale(values[0], values[-1], area.bottom, area.top)
    bars = {"better": sign * gaps > 0, "worse": sign * gaps < 0}
    shapes = [tag("path", d=bar_path(np.flatnonzero(bars[tone]).tolist(), gaps, y), class_=tone) for tone in bars]
    count = max(len(gaps), 1)
    cursor = tag("rect", x=0, y=area.top, width=1, height=area.bottom - area.top, class_="cursor")
    box = f"0 0 {count} {px(area.height)}"
    inner = tag(
        "svg", *shapes, cursor, viewBox=box, preserveAspectRatio="none", width="100%", height=area.height, class_="bars"
    )
    parts = [
        tag("g", *_waterfall_frame(values, y), class_="frame"),
        inner,
        line(0, y(0), FULL_WIDTH, y(0), "zero"),
        text("50%", area.bottom + TICK_DROP, plural(len(gaps), "query"), "axis horizontal", "middle"),
    ]
    box = f"{px(area.top)} {px(area.bottom)}"
    tone = None if direction else "neutral"
    return tag("div", drawing(area.height, description, *parts, left=LabelColumn(GAP_LEFT), data_box=box), class_=tone)


def _waterfall_frame(values: Sequence[float], y: Scale) -> Iterator[Markup]:
    for tick, label in zip(values, gap_labels(values), strict=True):
        yield line(0, y(tick), FULL_WIDTH, y(tick), "grid")
        yield text(-6, y(tick) + 4, label, "tick", "end")


def gap_labels(values: Sequence[float]) -> list[str]:
    """The ticks of differences, with signs."""
    labels = tick_labels(values)
    return [f"+{label}" if tick > 0 else label for tick, label in zip(values, labels, strict=True)]


def bar_path(indices: Sequence[int], gaps: Floats, y: Scale) -> str:
    """One outline around adjacent bars, each one unit wide; neighbors of the same height are one bar.

    If there are many bars, their heights are whole pixels.
    """
    if not indices:
        return ""
    digits = 0 if len(gaps) > DENSE_POINTS else 1
    heights = [px(round(y(float(gaps[index])), digits)) for index in indices]
    ends = zip(indices, heights, [*heights[1:], ""], strict=True)
    steps = "".join(f"V{height}H{index + 1}" for index, height, following in ends if height != following)
    return f"M{indices[0]} {px(y(0))}{steps}V{px(y(0))}Z"


def scatter(values: tuple[Floats, Floats], systems: tuple[PageSystem, PageSystem], axes: Axes, words: str) -> Markup:
    """One point per query: the first system on the horizontal axis, the second on the vertical one."""
    area = SCATTER_AREA
    x = Scale(axes.low, axes.high, 0, FULL_WIDTH)
    y = Scale(axes.low, axes.high, area.bottom, area.top)
    first, second = values
    paired = ~np.isnan(first) & ~np.isnan(second)
    pairs = [(x(a), y(b)) for a, b in zip(first[paired].tolist(), second[paired].tolist(), strict=True)]
    paths = [tag("path", d=path, class_=f"n{size}") for size, path in enumerate(point_paths(pairs))]
    names = [fitted(system.name, AXIS_NAME_WIDTH) for system in systems]
    density = " dense" if len(pairs) > DENSE_POINTS else ""
    middle = (area.top + area.bottom) / 2
    turned = f"translate(12 {px(middle)}) rotate(-90)"
    vertical = tag("text", names[1], x=0, y=0, class_="axis vertical", text_anchor="middle", transform=turned)
    parts = [
        tag("g", *_scatter_frame(axes, x, y, area.bottom), class_="frame"),
        line(0, area.bottom, FULL_WIDTH, area.top, "diagonal"),
        tag("g", stretched(area.height, *paths), class_=f"points {systems[1].color}{density}"),
        text("50%", area.bottom + AXIS_DROP, names[0], "axis horizontal", "middle"),
    ]
    left, box = LabelColumn(SCATTER_LEFT, [vertical]), f"{px(area.top)} {px(area.bottom)}"
    return drawing(area.height, words, *parts, left=left, data_box=box)


def _scatter_frame(axes: Axes, x: Scale, y: Scale, bottom: float) -> Iterator[Markup]:
    for tick, label in zip(axes.ticks, tick_labels(axes.ticks), strict=True):
        yield line(0, y(tick), FULL_WIDTH, y(tick), "grid")
        yield text(-6, y(tick) + 4, label, "tick", "end")
        yield text(across(x(tick)), bottom + TICK_DROP, label, "tick", "middle")


def points_text(count: int) -> str:
    """What the points of a scatter are, for its caption."""
    if count > DENSE_POINTS:
        return "the stronger the color, the more queries"
    return "each point is a query, a larger one several"


def point_paths(points: Sequence[tuple[float, float]]) -> list[str]:
    """The points as paths, one for each size: one query, a few at the same place, many.

    If there are many points, the plot is divided into cells, and each cell with points is a short line that fills it.
    """
    paths = [""] * len(POINT_SIZES)
    if len(points) <= DENSE_POINTS:
        for (x, y), count in Counter(points).items():
            paths[_size(count)] += f"M{px(x)} {px(y)}h0"
        return paths
    last = FULL_WIDTH // CELL_WIDTH - 1
    cells = Counter((int(y // CELL_HEIGHT), int(min(x // CELL_WIDTH, last))) for x, y in points)
    for (row, column), count in sorted(cells.items()):
        paths[_size(count)] += f"M{px(column * CELL_WIDTH)} {px((row + 0.5) * CELL_HEIGHT)}h{px(CELL_WIDTH)}"
    return paths


def _size(count: int) -> int:
    return bisect_right(POINT_SIZES, count) - 1
