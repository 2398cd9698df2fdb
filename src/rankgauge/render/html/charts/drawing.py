"""SVG elements, scales, axes and labels: what every chart is drawn with."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from rankgauge.core.formatting import MINUS, given, text_of
from rankgauge.render.html.page_systems import PageSystem
from rankgauge.render.html.page_text import plain, shorten_middle

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


@dataclass(frozen=True)
class Scale:
    """Values from ``low`` to ``high`` at positions from ``begin`` to ``end``, linear or logarithmic."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False
    tick_count: int = 4  # approximately

    def __call__(self, value: float) -> float:
        """The position of a value; a value outside is put at the border."""
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        scaled = math.log(value) if self.log else value
        share = 0.5 if high == low else (min(max(scaled, low), high) - low) / (high - low)
        return self.begin + share * (self.end - self.begin)

    @property
    def ticks(self) -> list[float]:
        """Round values for a linear axis."""
        return ticks(self.low, self.high, self.tick_count)


def ticks(low: float, high: float, count: int) -> list[float]:
    """About ``count`` round values in a range: multiples of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    step = tick_step(low, high, count)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(multiple * step, 12) for multiple in range(first, last + 1)]


def tick_step(low: float, high: float, count: int) -> float:
    """1, 2 or 5 times a power of ten, so that about ``count`` of it make the range."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)


def log_ticks(low: float, high: float, factors: Sequence[int] = (1, 2, 5)) -> list[float]:
    """These multiples of each power of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    candidates = [round(factor * 10.0**power, 12) for power in powers for factor in factors]
    return [value for value in candidates if low * 0.999 <= value <= high * 1.001]


def covering_ticks(values: Iterable[float], count: int) -> list[float]:
    """About ``count`` round values, the first of which is not above any value and the last not below any."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    if high - low < 1e-9:
        low, high = min(low, 0.0), max(high, 0.0)
        high = high if high - low > 1e-9 else low + 1.0
    step = tick_step(low, high, count)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(multiple * step, 12) for multiple in range(first, last + 1)]


def padded_range(values: Iterable[float | None], possible: tuple[float, float]) -> tuple[float, float]:
    """From the lowest to the highest value with some padding, but not beyond the possible values."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        return (0.0, 1.0)
    low, high = min(finite), max(finite)
    padding = 0.08 * (high - low) or 0.05 * abs(high) or 0.05
    return max(low - padding, min(possible[0], low)), min(high + padding, max(possible[1], high))


def tick_label(value: float) -> str:
    """A tick as text, without digits that carry no information."""
    return text_of(value, "count") if abs(value) >= 1_000 else given(value).replace("-", MINUS)


def tick_labels(values: Sequence[float], *, log: bool = False) -> list[str]:
    """The ticks of one axis: all with the same number of decimals, unless it is logarithmic."""
    labels = [tick_label(value) for value in values]
    decimals = max((len(label.partition(".")[2]) for label in labels), default=0)
    if log or not decimals or any("e" in label for label in labels):
        return labels
    return [f"{value:.{decimals}f}".replace("-", MINUS) for value in values]


TICK_GAP = 8  # pixels between two tick labels
MAX_TICKS = 6
TICK_DROP, AXIS_DROP = 17, 34  # from the end of the plot down to the tick labels, and to the name of the axis


def value_column(y: Scale) -> LabelColumn:
    """The tick labels of a vertical axis."""
    labels = tick_labels(y.ticks)
    width = max(map(text_width, labels), default=0) + 2
    parts = [text(width, y(tick) + 4, label, "tick", "end") for tick, label in zip(y.ticks, labels, strict=True)]
    return LabelColumn(width, parts)


def horizontal_grid(y: Scale) -> Iterator[Markup]:
    """A line across the plot for each tick of a vertical axis."""
    for tick in y.ticks:
        yield line(0, y(tick), FULL_WIDTH, y(tick), "grid")


def horizontal_axis(x: Scale, width: float, bottom: float, name: str = "") -> Iterator[Markup]:
    """The tick labels below a plot that has at least ``width`` pixels, and the name of the axis."""
    values = fitting_ticks(x, width)
    for tick, label in zip(values, tick_labels(values, log=x.log), strict=True):
        yield text(across(x(tick)), bottom + TICK_DROP, label, "tick", "middle")
    if name:
        yield text("50%", bottom + AXIS_DROP, name, "axis", "middle")


def fitting_ticks(x: Scale, width: float) -> list[float]:
    """As many round values as possible whose labels do not touch."""
    if x.log:
        candidates = [log_ticks(x.low, x.high, factors) for factors in ((1, 2, 5), (1, 3), (1,))]
    else:
        candidates = [ticks(x.low, x.high, count) for count in range(MAX_TICKS, 1, -1)]
    for values in candidates:
        if values and labels_fit(values, x, width):
            return values
    values = candidates[-1]
    while len(values) > 1 and not labels_fit(values, x, width):
        values = values[::2]
    return values


def labels_fit(values: Sequence[float], x: Scale, width: float) -> bool:
    """Whether the labels of these ticks do not touch on a plot that has ``width`` pixels."""
    centers = [x(value) * width / FULL_WIDTH for value in values]
    halves = [text_width(label) / 2 for label in tick_labels(values, log=x.log)]
    places = zip(centers, halves, strict=True)
    return all(b - a >= half + other + TICK_GAP for (a, half), (b, other) in pairwise(places))


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
