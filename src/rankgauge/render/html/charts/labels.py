"""The labels of charts: how wide they are, names that fit, columns of names."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from markupsafe import Markup

from rankgauge.render.html.charts.svg import CARD_WIDTH, PLOT_MARGIN, KeyEntry, LabelColumn, symbol, tag, text
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.text import plain, shorten_middle

LABEL_SIZE = 12  # pixels; as in the style sheet
NAME_WIDTH = 104  # pixels of a system's name that fit beside a chart
NAME_SPACING = 15  # between two names, one below the other
SYMBOL_X, NAME_X = 8, 19  # of a symbol and of the name after it

# Widths in the widest of the usual fonts, in shares of the font's size.
CHARACTER_WIDTHS = {"ijl.,:;|!'": 0.37, "frt()[]{}-/ ": 0.44, "mwMW@%": 1.0, "…": 1.0}
WIDTHS = {character: width for characters, width in CHARACTER_WIDTHS.items() for character in characters}
UPPER_WIDTH, OTHER_WIDTH = 0.78, 0.64


def text_width(words: str) -> float:
    """About how many pixels a label takes; not less than it does."""
    return LABEL_SIZE * sum(map(_character_width, words))


def _character_width(character: str) -> float:
    if character in WIDTHS:
        return WIDTHS[character]
    if unicodedata.east_asian_width(character) in "WF" or ord(character) > 0xFFFF:
        return 1.05
    return UPPER_WIDTH if character.isupper() or not character.isascii() else OTHER_WIDTH


def fitted(name: str, width: float = NAME_WIDTH) -> str:
    """A name that takes at most ``width`` pixels: the middle is left out if it is too long."""
    name = plain(name)
    shortened, limit = name, len(name)
    while text_width(shortened) > width and limit > 1:
        limit -= 1
        shortened = shorten_middle(name, limit)
    return shortened


def system_label(system: PageSystem, y: float, x: float = 0) -> Markup:
    """The symbol and the name of a system."""
    name = text(x + NAME_X, y + 4, fitted(system.name), full=system.name)
    return tag("g", symbol(system.shape, x + SYMBOL_X, y), name, class_=system.color)


def system_column(systems: Sequence[PageSystem], positions: Sequence[float]) -> LabelColumn:
    """The systems, each at its height."""
    widest = max((text_width(fitted(system.name)) for system in systems), default=0)
    return LabelColumn(NAME_X + widest, [system_label(one, y) for one, y in zip(systems, positions, strict=True)])


def system_key(systems: Sequence[PageSystem]) -> list[KeyEntry]:
    """The key of a chart in which systems have symbols only."""
    return [
        KeyEntry(
            tag("svg", tag("use", href=f"#{one.shape}"), class_=f"swatch {one.color}", aria_hidden="true"), one.name
        )
        for one in systems
    ]


def plot_width(*columns: LabelColumn) -> float:
    """The pixels that a plot has between its columns on the narrowest screen."""
    return CARD_WIDTH - 2 * PLOT_MARGIN - sum(column.width for column in columns)


def separate(positions: Sequence[float], top: float, bottom: float) -> list[float]:
    """The positions moved as little as possible, so that names written there do not overlap."""
    order = sorted(range(len(positions)), key=lambda n: (positions[n], n))
    separated = list(positions)
    last = top - NAME_SPACING
    for n in order:
        last = separated[n] = max(separated[n], last + NAME_SPACING)
    limit = bottom + NAME_SPACING
    for n in reversed(order):
        limit = separated[n] = min(separated[n], limit - NAME_SPACING)
    return separated
