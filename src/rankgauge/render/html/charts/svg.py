"""SVG elements, and the parts of a chart. Presentation attributes and classes only: the policy blocks inline styles.

A chart is a row of up to three drawings: a column of labels, the plot, another column. Only the plot is as wide as
the card allows, so that text keeps its size: positions across it are shares of its width, from 0 to ``FULL_WIDTH``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from rankgauge.render.html.text import plain

FULL_WIDTH = 1000  # what the width of a plot counts as
CARD_WIDTH = 296  # pixels that a chart has on a screen of 360: labels must fit there
PLOT_MARGIN = 16  # pixels at the sides of a plot, for halves of labels; as in the style sheet


@dataclass(frozen=True)
class KeyEntry:
    """One line of a chart's key: a symbol and what it means."""

    symbol: Markup
    label: str


@dataclass(frozen=True)
class Chart:
    """A drawing with its title; ``caption`` tells how to read it."""

    title: str
    drawing: Markup
    caption: str = ""
    key: Sequence[KeyEntry] = ()


@dataclass(frozen=True)
class PlotArea:
    """The height of a drawing, and the margins above and below what is plotted in it."""

    height: float
    top: float
    bottom_margin: float

    @property
    def bottom(self) -> float:
        """The lower end of the vertical axis."""
        return self.height - self.bottom_margin


@dataclass(frozen=True)
class LabelColumn:
    """Labels beside a plot, in a column that is this many pixels wide."""

    width: float = 0
    parts: Sequence[Markup] = ()


NO_LABELS = LabelColumn()


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


def across(position: float) -> str:
    """A position across a plot as a percentage."""
    return f"{px(100 * position / FULL_WIDTH)}%"


def text(
    x: float | str, y: float, words: str, class_: str = "", anchor: str | None = None, full: str | None = None
) -> Markup:
    """Words at a position; ``full`` is the text before it was shortened, shown as a tooltip."""
    title = [tag("title", full)] if full is not None and full != words else []
    return tag("text", words, *title, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line in a plot."""
    return tag("line", x1=across(x1), y1=y1, x2=across(x2), y2=y2, class_=class_)


def symbol(shape: str, x: float | str = 0, y: float = 0) -> Markup:
    """One of the shapes that the page defines, such as that of a system."""
    return tag("use", href=f"#{shape}", x=x, y=y)


def stretched(height: float, *paths: Markup) -> Markup:
    """Paths that are as wide as the plot; the widths of their strokes do not change."""
    box = f"0 0 {FULL_WIDTH} {px(height)}"
    return tag("svg", *paths, viewBox=box, preserveAspectRatio="none", width="100%", height=height, class_="stretched")


def drawing(
    height: float,
    description: str,
    *plot: Markup,
    left: LabelColumn = NO_LABELS,
    right: LabelColumn = NO_LABELS,
    **attributes: str | float | None,
) -> Markup:
    """A complete chart, with a description for people who cannot see it."""
    parts = [
        tag("svg", *column.parts, width=column.width, height=height, aria_hidden="true") if column.width else Markup("")
        for column in (left, right)
    ]
    parts.insert(1, tag("svg", *plot, class_="plot", height=height, aria_hidden="true"))
    return tag("div", *parts, class_="chart", role="img", aria_label=description, **attributes)
