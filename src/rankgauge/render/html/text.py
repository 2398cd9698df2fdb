"""Text from data and numbers, as the page shows them. What HTML would obey is escaped by the template, not here."""

from __future__ import annotations

import math

from rankgauge.errors import printable
from rankgauge.measures.spec import Measure
from rankgauge.stats.results import Interval

NONE = "–"
JOINERS = "\u200c\u200d"  # they are not printable, and words of several languages are not written without them


def plain(text: str) -> str:
    """Text on one line; control characters, and bytes that are no UTF-8, are written with a backslash."""
    if text.isprintable():
        return text
    text = " ".join(text.split())
    return "".join(sign if sign in JOINERS else printable(sign, None) for sign in text)


def short(text: str, signs: int) -> str:
    """Text of at most so many signs: its middle is left out, since names differ at their ends."""
    text = plain(text)
    if len(text) <= signs:
        return text
    tail = (signs - 1) // 3
    return f"{text[: signs - 1 - tail]}…{text[-tail:] if tail else ''}"


def cut(text: str, signs: int) -> str:
    """A text's beginning."""
    text = plain(text)
    return text if len(text) <= signs else text[: signs - 1].rstrip() + "…"


def number(value: float | None, *, whole: bool = False) -> str:
    """Three decimals, fewer for large values, none for a count; a dash where there is no value."""
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    return f"{value:,.{0 if whole or size >= 10_000 else 1 if size >= 100 else 3}f}".replace("-", "−")


def value_of(measure: Measure, value: float | None) -> str:
    """The value of a measure over all queries."""
    return number(value, whole=measure.definition.aggregate == "sum")


def between(interval: Interval) -> str:
    """An interval; nothing where there is none."""
    if interval.low is None or interval.high is None:
        return ""
    return f"{number(interval.low)} to {number(interval.high)}"


def percent(confidence: float) -> str:
    """A level as a share of a hundred."""
    return f"{confidence * 100:g} %"


def many(count: int, one: str, more: str | None = None) -> str:
    """A number of things."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def size_of(count: int | None) -> str:
    """A number of bytes."""
    if count is None:
        return NONE
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def block(text: str) -> str:
    """Text of several lines."""
    return "\n".join(map(plain, text.split("\n")))
