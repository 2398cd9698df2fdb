"""Text from data as the page shows it, and the values of measures. Templates escape HTML; these functions do not."""

from __future__ import annotations

from rankgauge.core.formatting import compact_number, span_of
from rankgauge.errors import printable
from rankgauge.measures.measure import Measure
from rankgauge.stats.results import Interval

JOINERS = "\u200c\u200d"  # not printable, but several languages need them inside words


def plain(text: str) -> str:
    """Text on one line; control characters and bytes that are not UTF-8 are escaped with a backslash."""
    if text.isprintable():
        return text
    text = " ".join(text.split())
    return "".join(character if character in JOINERS else printable(character, None) for character in text)


def plain_lines(text: str) -> str:
    """Text of several lines, each of them plain."""
    return "\n".join(map(plain, text.split("\n")))


def shorten_middle(text: str, limit: int) -> str:
    """At most ``limit`` characters of a name: the middle is left out, since names differ at their ends."""
    text = plain(text)
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 3
    return f"{text[: limit - 1 - tail]}…{text[-tail:] if tail else ''}"


def shorten_end(text: str, limit: int) -> str:
    """At most ``limit`` characters from the beginning of a text."""
    text = plain(text)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def measure_text(measure: Measure, value: float | None) -> str:
    """The value of a measure over all queries."""
    return compact_number(value, count=measure.definition.aggregate == "sum")


def interval_text(interval: Interval) -> str:
    """A confidence interval; empty if there is none."""
    return span_of(interval.low, interval.high, compact_number)
