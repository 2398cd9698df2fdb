"""How numbers are written in every sentence, table, page and file for people: one form for each kind of number.

``text_of`` has the forms; the other functions are those that sentences need by name. Numbers for programs (JSON, CSV)
are never formatted: they keep every digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Literal

NumberKind = Literal[
    "value",
    "difference",
    "ratio",
    "p",
    "share",
    "count",
    "milliseconds",
    "seconds",
    "bytes",
    "score",
    "given",
    "compact",
    "amount",
]
MINUS = "−"
MISSING = "–"  # a value that does not exist
USUAL_LEVELS = (0.01, 0.05, 0.1)
MOST_P_DIGITS = 9
SMALLEST_P = 0.001
LARGE_RATIO = 1e6  # from here on decimals mean nothing
TIME_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
BYTE_UNITS = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def text_of(value: float | None, kind: NumberKind, *, digits: int | None = None) -> str:
    """A number as text; a dash if there is none. ``digits`` are the decimals, which else depend on the kind.

    A value of a measure has four decimals, a difference its sign and three, a ratio ``×`` and three, a share at most
    one (of its percentage), a count none. Times have three digits, at most three of them decimals, and seconds their
    unit; a score has six digits; an amount of tokens or money is whole from 100 on, and has four digits below it; a
    number that somebody gave, such as a grade or a level, is as short as it was given.
    """
    if value is None or value != value:
        return MISSING
    match kind:
        case "value" if math.isinf(value):
            return "∞" if value > 0 else f"{MINUS}∞"
        case "value":
            return f"{value:.{4 if digits is None else digits}f}".replace("-", MINUS)
        case "difference":
            return f"{value:+.{3 if digits is None else digits}f}".replace("-", MINUS)
        case "count":
            return f"{value:,.0f}".replace("-", MINUS)
        case "p":
            return p_value(value)
        case "share":
            return f"{round(value * 100, 1 if digits is None else digits):g}%".replace("-", MINUS)
        case "milliseconds":
            return _time(value)
        case "seconds":
            return f"{_time(value)} s"
        case "bytes":
            return byte_size(int(value))
        case "compact":
            return compact_number(value)
        case "amount":
            return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
        case "ratio":
            return "×∞" if math.isinf(value) else f"×{value:.3f}" if value < LARGE_RATIO else f"×{value:.1e}"
        case _:
            return f"{value:.{digits or 6}g}"


def _time(value: float) -> str:
    """``1,234``, ``41.2``, ``8.25``, ``0.123``."""
    size = abs(value)
    digits = 0 if size >= 99.95 or not size else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
    return f"{value:,.{digits}f}".replace("-", MINUS)


def plural(count: int, noun: str, plural_noun: str | None = None) -> str:
    """``1 query``, ``1,200 queries``."""
    return f"{count:,} {noun if count == 1 else plural_noun or _plural_of(noun)}"


def _plural_of(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"


def number(value: float | None, digits: int = 4) -> str:
    """A value with a fixed number of decimals and a true minus sign; a dash if there is none."""
    return text_of(value, "value", digits=digits)


def signed(value: float | None, digits: int = 3) -> str:
    """A difference: always with its sign."""
    return text_of(value, "difference", digits=digits)


def compact_number(value: float | None, *, count: bool = False) -> str:
    """A value of any size in little space: three decimals, fewer if it is large, none for a count."""
    if value is None or value != value:
        return MISSING
    size = abs(value)
    if math.isinf(size):
        return "∞" if value > 0 else f"{MINUS}∞"
    digits = 0 if count or size >= 10_000 else 1 if size >= 100 else 3
    return f"{value:,.{digits}f}".replace("-", MINUS)


def byte_size(count: int | None) -> str:
    """``1.5 MB`` for 1,500,000 bytes."""
    if count is None:
        return MISSING
    for unit, size in BYTE_UNITS:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def percent(level: float) -> str:
    """A level that somebody gave, in full: ``95%`` for 0.95. A share that was measured is ``text_of(…, "share")``."""
    return f"{level * 100:g}%"


def milliseconds(value: float | None) -> str:
    """A time in a sentence: ``41.2 ms``."""
    return f"{text_of(value, 'milliseconds')} ms"


def duration(seconds: float) -> str:
    """A time in words, in its largest whole unit: ``less than a minute``, ``3 hours``, ``2 days``."""
    for unit, size in TIME_UNITS:
        if seconds >= size:
            return plural(int(seconds // size), unit)
    return "less than a minute"


def given(value: float) -> str:
    """A number that somebody gave, such as a grade, a margin or a level: as short as it was given."""
    return text_of(value, "given")


def p_value(p: float | None) -> str:
    """A p value in a table: three decimals, never 0; more if it would look like a usual level that it is not."""
    if p is None:
        return MISSING
    digits = 3
    while digits < MOST_P_DIGITS and p not in USUAL_LEVELS and round(p, digits) in USUAL_LEVELS:
        digits += 1
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:.{digits}f}"


def p_equals(p: float | None) -> str:
    """A p value in a sentence: ``p = 0.023``, ``p < 0.001``."""
    if p is None:
        return "p unknown"
    return f"p {p_value(p)}" if p < SMALLEST_P else f"p = {p_value(p)}"


def span(low: float | None, high: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """An interval: ``0.012 to 0.050``; a bound if one end is open, nothing if both are."""
    return span_of(low, high, lambda end: (signed if sign else number)(end, digits))


def span_of(low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """An interval, each end as ``write`` writes it; a bound if one end is open, nothing if both are."""
    if low is None or high is None:
        return f"at least {write(low)}" if low is not None else f"at most {write(high)}" if high is not None else ""
    return f"{write(low)} to {write(high)}"


def listing(names: Iterable[str], limit: int = 3) -> str:
    """The first names, and an ellipsis if there are more."""
    all_names = list(names)
    return ", ".join(all_names[:limit]) + (", …" if len(all_names) > limit else "")


DAY, HOUR, MINUTE = 86_400, 3_600, 60


def short_duration(seconds: float) -> str:
    """Seconds as people say them: 12 s, 3 min, 2 h 5 min."""
    whole = max(round(seconds), 1)
    if whole < 2 * MINUTE:
        return f"{whole} s"
    if whole < 2 * HOUR:
        return f"{round(whole / MINUTE)} min"
    if whole < 2 * DAY:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"
    return f"{round(whole / DAY)} days"
