"""How numbers are written in every sentence, table, page and file for people: one function per kind of number.

Numbers for programs (JSON, CSV) are never formatted: they keep every digit.
"""

from __future__ import annotations

from collections.abc import Iterable

MINUS = "−"
MISSING = "–"  # a value that does not exist
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


def percent(share: float, digits: int | None = None) -> str:
    """``95%`` for 0.95; with ``digits``, a fixed number of decimals."""
    return f"{share * 100:g}%" if digits is None else f"{number(share * 100, digits)}%"


def p_value(p: float | None) -> str:
    """A p value in a table: three decimals, never 0."""
    if p is None:
        return MISSING
    return f"< {SMALLEST_P}" if p < SMALLEST_P else f"{p:.3f}"


def p_equals(p: float | None) -> str:
    """A p value in a sentence: ``p = 0.023``, ``p < 0.001``."""
    if p is None:
        return "p unknown"
    return f"p {p_value(p)}" if p < SMALLEST_P else f"p = {p_value(p)}"


def span(low: float | None, high: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """An interval: ``0.012 to 0.050``; a bound if one end is open, nothing if both are."""
    write = signed if sign else number
    if low is None and high is None:
        return ""
    if low is None:
        return f"at most {write(high, digits)}"
    if high is None:
        return f"at least {write(low, digits)}"
    return f"{write(low, digits)} to {write(high, digits)}"


def listing(names: Iterable[str], limit: int = 3) -> str:
    """The first names, and an ellipsis if there are more."""
    known = list(names)
    return ", ".join(known[:limit]) + (", …" if len(known) > limit else "")
