"""Query by query: the difference of two systems, sorted, and the one against the other.

Both pictures are redrawn by the script for other systems and measures. Where an axis ends and what stands at its ticks
is said here, so that it is decided once.
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
from rankgauge.render.html.figures.lines import frame
from rankgauge.render.html.figures.scales import Scale, label, ticks
from rankgauge.render.html.figures.svg import WIDTH, drawing, line, px, tag, text
from rankgauge.render.html.text import short

LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 44, 12, 12, 46, 344
TICKS = 5
DENSE = 200  # points that are drawn smaller
TALL = 200  # of the sorted differences, whose width is that of the page
SIGNS = 34


@dataclass(frozen=True)
class Axes:
    """Where the axes of one measure end: those of its values, and that of differences, which is the same both ways."""

    low: float
    high: float
    gap: float

    def to_dict(self) -> dict[str, Any]:
        """For the script."""
        at = ticks(self.low, self.high, TICKS)
        return {
            "low": self.low,
            "high": self.high,
            "ticks": at,
            "labels": [label(tick) for tick in at],
            "gap": self.gap,
            "gap_label": label(self.gap),
        }


def axes_of(scores: Sequence[Scores], place: int) -> Axes:
    """The axes of one measure, for all systems."""
    low, high = scores[0].measures[place].definition.range
    known = np.concatenate([one.values[one.averaged, place] for one in scores])
    known = known[np.isfinite(known)]
    least, most = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    low = low if math.isfinite(low) else min(least, 0.0)
    high = high if math.isfinite(high) else max(most, low + 1.0)
    widest = max((float(np.nanmax(np.abs(gap), initial=0.0)) for gap in _gaps(scores, place)), default=0.0)
    # The smallest round number that no difference exceeds.
    gap = next((tick for tick in ticks(0.0, 2 * widest, 20) if tick >= widest - 1e-12 and tick > 0), 1.0)
    return Axes(low, high, gap)


def _gaps(scores: Sequence[Scores], place: int) -> list[Floats]:
    shown = [np.where(one.averaged, one.values[:, place], np.nan) for one in scores]
    return [one - other for n, one in enumerate(shown) for other in shown[:n]]


def waterfall(gaps: Floats, axes: Axes, words: str) -> Markup:
    """The differences from the largest gain to the largest loss. It is stretched to the width of the page."""
    gaps = np.sort(gaps[~np.isnan(gaps)])[::-1]
    y = Scale(-axes.gap, axes.gap, TALL, 0)
    bars = {"up": gaps > 0, "down": gaps < 0}
    shapes = [
        tag("path", d=bars_of(np.flatnonzero(chosen).tolist(), gaps, y), class_=name) for name, chosen in bars.items()
    ]
    zero = tag("path", d=f"M0 {px(y(0))}H{max(len(gaps), 1)}", class_="zero", vector_effect="non-scaling-stroke")
    cursor = tag("rect", x=0, y=0, width=1, height=TALL, class_="cursor")
    return tag(
        "svg",
        *shapes,
        zero,
        cursor,
        viewBox=f"0 0 {max(len(gaps), 1)} {TALL}",
        preserveAspectRatio="none",
        role="img",
        aria_label=words,
    )


def bars_of(places: Sequence[int], gaps: Floats, y: Scale) -> str:
    """One outline around neighbouring bars, each one wide."""
    if not places:
        return ""
    steps = "".join(f"V{px(y(float(gaps[place])))}H{place + 1}" for place in places)
    return f"M{places[0]} {px(y(0))}{steps}V{px(y(0))}Z"


def scatter(one: Floats, other: Floats, names: tuple[str, str], axes: Axes, colour: str, words: str) -> Markup:
    """A point a query: the baseline across, the system up; above the diagonal the system is higher."""
    bottom = HEIGHT - BOTTOM
    x = Scale(axes.low, axes.high, LEFT, WIDTH - RIGHT, about=TICKS)
    y = Scale(axes.low, axes.high, bottom, TOP, about=TICKS)
    kept = ~np.isnan(one) & ~np.isnan(other)
    places = [f"M{px(x(a))} {px(y(b))}h0" for a, b in zip(one[kept].tolist(), other[kept].tolist(), strict=True)]
    shapes = [
        tag("g", *frame(x, y, "", bottom), class_="frame"),
        line(x.begin, y.begin, x.end, y.end, "diagonal"),
        tag(
            "path",
            d="".join(dict.fromkeys(places)),
            class_=f"points {colour}" + (" dense" if len(places) > DENSE else ""),
        ),
        tag("circle", cx=-20, cy=-20, r=6, class_="cursor"),
        text((x.begin + x.end) / 2, bottom + 34, short(names[0], SIGNS), "axis across", "middle"),
        tag(
            "text",
            short(names[1], SIGNS),
            x=0,
            y=0,
            class_="axis up",
            text_anchor="middle",
            transform=f"translate(10 {px((TOP + bottom) / 2)}) rotate(-90)",
        ),
    ]
    box = " ".join(px(each) for each in (x.begin, x.end, y.end, y.begin))
    return drawing(HEIGHT, words, *shapes, data_box=box)


def shown_values(scores: Scores, place: int) -> Floats:
    """The values of one measure; NaN for a query that is not averaged."""
    return np.where(scores.averaged, scores.values[:, place], np.nan)
