"""Curves of several systems, each with its name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rankgauge.render.html.figures.scales import Scale, label
from rankgauge.render.html.figures.svg import WIDTH, drawing, line, px, room, tag, text
from rankgauge.render.html.figures.systems import System
from rankgauge.render.html.text import number, short

LEFT, TOP, BOTTOM, HEIGHT = 34, 8, 34, 220
APART = 13  # of two names, one below the other
SIGNS = 15  # of a name that fit at the right


@dataclass(frozen=True)
class Curve:
    """One system's points, from left to right."""

    system: System
    points: Sequence[tuple[float, float]]


def frame(x: Scale, y: Scale, horizontal: str, bottom: float) -> list[Markup]:
    """Grid, ticks and the words below."""
    parts = [line(x.begin, y(tick), x.end, y(tick), "grid") for tick in y.ticks]
    parts += [text(x.begin - 6, y(tick) + 4, label(tick), "tick", "end") for tick in y.ticks]
    parts += [text(x(tick), bottom + 15, label(tick), "tick", "middle") for tick in x.ticks]
    parts.append(text((x.begin + x.end) / 2, bottom + 30, horizontal, "axis", "middle"))
    return parts


def lines(curves: Sequence[Curve], what: str, horizontal: str, x: tuple[float, float], *, log: bool) -> Markup:
    """The curves over one axis; the other begins at 0."""
    bottom = HEIGHT - BOTTOM
    top = max([y for curve in curves for _, y in curve.points], default=1.0) or 1.0
    right = WIDTH - room(short(curve.system.name, SIGNS) for curve in curves)
    across = Scale(*x, LEFT, right, log=log)
    up = Scale(0.0, top, bottom, TOP, about=5)
    parts = frame(across, up, horizontal, bottom)
    for curve in reversed(curves):  # the first, the baseline mostly, lies on top of nothing
        path = "L".join(f"{px(across(a))} {px(up(b))}" for a, b in curve.points)
        dots = "".join(f"M{px(across(a))} {px(up(b))}h0" for a, b in curve.points)
        shapes = [tag("path", d=f"M{path}", class_="curve"), tag("path", d=dots, class_="dots")]
        parts.append(tag("g", tag("title", said(curve, what)), *shapes, class_=curve.system.colour))
    ended = [(curve, up(curve.points[-1][1])) for curve in curves if curve.points]
    for (curve, _), y in zip(ended, apart([at for _, at in ended], TOP, bottom), strict=True):
        name = short(curve.system.name, SIGNS)
        words = text(right + 7, y + 4, name, "name", full=curve.system.name)
        parts.append(tag("g", words, class_=curve.system.colour))
    return drawing(HEIGHT, "; ".join(said(curve, what) for curve in curves), *parts)


def said(curve: Curve, what: str) -> str:
    """A curve in words: where it begins and where it ends."""
    if not curve.points:
        return f"{curve.system.name}: nothing"
    (a, first), (b, last) = curve.points[0], curve.points[-1]
    return f"{curve.system.name}: {what} {number(first)} at {label(a)}, {number(last)} at {label(b)}"


def apart(places: Sequence[float], top: float, bottom: float) -> list[float]:
    """The same places moved as little as may be, so that what is written there does not overlap."""
    order = sorted(range(len(places)), key=lambda n: (places[n], n))
    out = list(places)
    last = top - APART
    for n in order:
        last = out[n] = max(out[n], last + APART)
    limit = bottom + APART
    for n in reversed(order):
        limit = out[n] = min(out[n], limit - APART)
    return out
