"""SVG elements. Presentation attributes and classes only: the page's policy blocks inline styles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from rankgauge.render.html.text import plain

CHART_WIDTH = 340
CHARACTER_WIDTH = 6.6  # of a name, in the widest of the usual fonts
NAME_CHARACTERS = 15  # of a system's name that fit beside a chart


@dataclass(frozen=True)
class Chart:
    """A drawing with its title; ``caption`` tells how to read it."""

    title: str
    svg: Markup
    caption: str = ""


@dataclass(frozen=True)
class PlotArea:
    """The height of a drawing, and the margins around what is plotted in it."""

    height: float
    left: float
    right: float
    top: float
    bottom_margin: float

    @property
    def bottom(self) -> float:
        """The lower end of the vertical axis."""
        return self.height - self.bottom_margin


def tag(name: str, *children: str | Markup, **attributes: str | float | None) -> Markup:
    """An element. ``_`` in an attribute's name becomes ``-``, one at its end is dropped; None omits the attribute."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            content = plain(value) if isinstance(value, str) else px(value)
            parts.append(f'{key.rstrip("_").replace("_", "-")}="{escape(content)}"')
    inner = "".join(child if isinstance(child, Markup) else escape(plain(child)) for child in children)
    return Markup(f"<{' '.join(parts)}>{inner}</{name}>" if inner else f"<{' '.join(parts)}/>")


def px(value: float) -> str:
    """A coordinate: at most one decimal."""
    digits = f"{value:.1f}"
    return digits[:-2].replace("-0", "0", 1) if digits.endswith(".0") else digits


def text(
    x: float, y: float, words: str, class_: str = "", anchor: str | None = None, full: str | None = None
) -> Markup:
    """Words at a position; ``full`` is the text before it was shortened, shown as a tooltip."""
    title = [tag("title", full)] if full is not None and full != words else []
    return tag("text", words, *title, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def name_width(names: Iterable[str]) -> float:
    """The width that the longest name takes beside a chart."""
    return 8 + CHARACTER_WIDTH * max((len(name) for name in names), default=0)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return tag("path", d=f"M{px(x1)} {px(y1)}L{px(x2)} {px(y2)}", class_=class_)


def drawing(height: float, description: str, *children: Markup, **attributes: str | float | None) -> Markup:
    """A complete drawing, with a description for people who cannot see it."""
    return tag(
        "svg",
        *children,
        viewBox=f"0 0 {CHART_WIDTH} {px(height)}",
        role="img",
        aria_label=description,
        **attributes,
    )
