"""How numbers are written in every sentence, table, page and file for people: one function per kind of number.

Numbers for programs (JSON, CSV) are never formatted: they keep every digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

MINUS = "−"
MISSING = "–"  # a value that does not exist
USUAL_LEVELS = (0.01, 0.05, 0.1)
MOST_P_DIGITS = 9
SMALLEST_P = 0.001


def plural(count: int, noun: str, plural_noun: str | None = None) -> str:
    """``1 query``, ``1,200 queries``."""
    return f"{count:,} {noun if count == 1 else plural_noun or _plural_of(noun)}"


def _plural_of(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"


def number(value: float | None, digits: int = 4) -> str:
    """A value with a fixed number of decimals and a true minus sign; a dash if there is none."""
    return MISSING if value is None or value != value else f"{value:.{digits}f}".replace("-", MINUS)


def signed(value: float | None, digits: int = 3) -> str:
    """A difference: always with its sign."""
    return MISSING if value is None or value != value else f"{value:+.{digits}f}".replace("-", MINUS)


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
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"


def percent(share: float, digits: int | None = None) -> str:
    """``95%`` for 0.95; with ``digits``, a fixed number of decimals."""
    return f"{share * 100:g}%" if digits is None else f"{number(share * 100, digits)}%"


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
