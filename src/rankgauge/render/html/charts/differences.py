"""Per-query differences of two systems, sorted, and the scores of one system against those of the other.

The script redraws both charts for other systems and measures. The axes and their tick labels are decided here only;
the script gets them with the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from rankgauge.core.tables import Floats
from rankgauge.evaluation.scores import Scores
from rankgauge.measures.spec import Direction
from rankgauge.render.html.charts.lines import frame
from rankgauge.render.html.charts.scales import Scale, tick_label, ticks
from rankgauge.render.html.charts.svg import CHART_WIDTH, PlotArea, drawing, line, px, tag, text
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.text import shorten_middle

SCATTER_AREA = PlotArea(height=344, left=44, right=12, top=12, bottom_margin=46)
SCATTER_TICKS = 5
DENSE_POINTS = 200  # from this many points on they are drawn smaller
WATERFALL_HEIGHT = 200  # its width is that of the page
AXIS_NAME_CHARACTERS = 34


@dataclass(frozen=True)
class Axes:
    """The ends of the axes of one measure: of its values, and of differences, which is symmetric around zero."""

    low: float
    high: float
    gap: float

    def to_dict(self) -> dict[str, Any]:
        """For the script."""
        values = ticks(self.low, self.high, SCATTER_TICKS)
        return {
            "low": self.low,
            "high": self.high,
            "ticks": values,
            "labels": [tick_label(tick) for tick in values],
            "gap": self.gap,
            "gap_label": tick_label(self.gap),
        }


def axes_of(scores: Sequence[Scores], index: int) -> Axes:
    """The axes of the measure at an index, for all systems."""
    low, high = scores[0].measures[index].definition.range
    values = np.concatenate([run_scores.values[run_scores.averaged, index] for run_scores in scores])
    values = values[np.isfinite(values)]
    least, most = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    low = low if math.isfinite(low) else min(least, 0.0)
    high = high if math.isfinite(high) else max(most, low + 1.0)
    widest = max((float(np.nanmax(np.abs(gap), initial=0.0)) for gap in _gaps(scores, index)), default=0.0)
    # The smallest round number that no difference exceeds.
    gap = next((tick for tick in ticks(0.0, 2 * widest, 20) if tick >= widest - 1e-12 and tick > 0), 1.0)
    return Axes(low, high, gap)


def averaged_values(scores: Scores, index: int) -> Floats:
    """The values of the measure at an index; NaN for a query that is not averaged."""
    return np.where(scores.averaged, scores.values[:, index], np.nan)


def _gaps(scores: Sequence[Scores], index: int) -> list[Floats]:
    values = [averaged_values(run_scores, index) for run_scores in scores]
    return [first - second for n, first in enumerate(values) for second in values[:n]]


def waterfall(gaps: Floats, direction: Direction, axes: Axes, description: str) -> Markup:
    """The differences from the largest improvement to the largest decline, stretched to the width of the page."""
    sign = direction or 1
    gaps = gaps[~np.isnan(gaps)]
    gaps = gaps[np.argsort(-sign * gaps, kind="stable")]
    y = Scale(-axes.gap, axes.gap, WATERFALL_HEIGHT, 0)
    bars = {"better": sign * gaps > 0, "worse": sign * gaps < 0}
    shapes = [tag("path", d=bar_path(np.flatnonzero(bars[tone]).tolist(), gaps, y), class_=tone) for tone in bars]
    zero = tag("path", d=f"M0 {px(y(0))}H{max(len(gaps), 1)}", class_="zero", vector_effect="non-scaling-stroke")
    cursor = tag("rect", x=0, y=0, width=1, height=WATERFALL_HEIGHT, class_="cursor")
    return tag(
        "svg",
        *shapes,
        zero,
        cursor,
        viewBox=f"0 0 {max(len(gaps), 1)} {WATERFALL_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=description,
        class_=None if direction else "neutral",
    )


def bar_path(indices: Sequence[int], gaps: Floats, y: Scale) -> str:
    """One outline around adjacent bars, each one unit wide."""
    if not indices:
        return ""
    steps = "".join(f"V{px(y(float(gaps[index])))}H{index + 1}" for index in indices)
    return f"M{indices[0]} {px(y(0))}{steps}V{px(y(0))}Z"


def scatter(values: tuple[Floats, Floats], systems: tuple[PageSystem, PageSystem], axes: Axes, words: str) -> Markup:
    """One point per query: the first system on the horizontal axis, the second on the vertical one."""
    area = SCATTER_AREA
    x = Scale(axes.low, axes.high, area.left, CHART_WIDTH - area.right, tick_count=SCATTER_TICKS)
    y = Scale(axes.low, axes.high, area.bottom, area.top, tick_count=SCATTER_TICKS)
    first, second = values
    paired = ~np.isnan(first) & ~np.isnan(second)
    pairs = zip(first[paired].tolist(), second[paired].tolist(), strict=True)
    points = [f"M{px(x(a))} {px(y(b))}h0" for a, b in pairs]
    names = [shorten_middle(system.name, AXIS_NAME_CHARACTERS) for system in systems]
    density = " dense" if len(points) > DENSE_POINTS else ""
    shapes = [
        tag("g", *frame(x, y, "", area.bottom), class_="frame"),
        line(x.begin, y.begin, x.end, y.end, "diagonal"),
        tag("path", d="".join(dict.fromkeys(points)), class_=f"points {systems[1].color}{density}"),
        tag("circle", cx=-20, cy=-20, r=6, class_="cursor"),
        text((x.begin + x.end) / 2, area.bottom + 34, names[0], "axis horizontal", "middle"),
        tag(
            "text",
            names[1],
            x=0,
            y=0,
            class_="axis vertical",
            text_anchor="middle",
            transform=f"translate(10 {px((area.top + area.bottom) / 2)}) rotate(-90)",
        ),
    ]
    box = " ".join(px(edge) for edge in (x.begin, x.end, y.end, y.begin))
    return drawing(area.height, words, *shapes, data_box=box)
