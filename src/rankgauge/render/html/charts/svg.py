"""SVG elements. Presentation attributes and classes only: the page's policy blocks styles that stand in elements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from rankgauge.render.html.text import plain

WIDTH = 340
SIGN = 6.6  # how wide a sign of a name is, in the widest of the usual fonts


@dataclass(frozen=True)
class Figure:
    """A picture with its title; ``caption`` says how to read it."""

    title: str
    svg: Markup
    caption: str = ""


def tag(name: str, *children: str | Markup, **attributes: str | float | None) -> Markup:
    """An element. ``_`` in a name of an attribute is ``-``, one at its end nothing; None leaves an attribute out."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            shown = plain(value) if isinstance(value, str) else px(value)
            parts.append(f'{key.rstrip("_").replace("_", "-")}="{escape(shown)}"')
    inner = "".join(child if isinstance(child, Markup) else escape(plain(child)) for child in children)
    return Markup(f"<{' '.join(parts)}>{inner}</{name}>" if inner else f"<{' '.join(parts)}/>")


def px(value: float) -> str:
    """A coordinate: one decimal at most."""
    text = f"{value:.1f}"
    return text[:-2].replace("-0", "0", 1) if text.endswith(".0") else text


def text(
    x: float, y: float, words: str, class_: str = "", anchor: str | None = None, full: str | None = None
) -> Markup:
    """Words at a place; ``full`` is what they stand for where they were shortened."""
    title = [tag("title", full)] if full is not None and full != words else []
    return tag("text", words, *title, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def room(names: Iterable[str]) -> float:
    """How much room the longest of some names takes beside a picture."""
    return 8 + SIGN * max((len(name) for name in names), default=0)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return tag("path", d=f"M{px(x1)} {px(y1)}L{px(x2)} {px(y2)}", class_=class_)


def drawing(height: float, label: str, *children: Markup, **attributes: str | float | None) -> Markup:
    """A whole picture, with the sentence that stands for it where it cannot be seen."""
    return tag(
        "svg",
        *children,
        viewBox=f"0 0 {WIDTH} {px(height)}",
        role="img",
        aria_label=label,
        **attributes,
    )
