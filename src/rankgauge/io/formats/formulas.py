"""Cells of CSV that a spreadsheet would run as a formula, made safe so that they read back as they were.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets a ``'`` before it: spreadsheets show
it and do not run it. A plain number stays as it is: it is no formula, and must stay a number. So that nothing is lost,
a text that begins with ``'`` and such a character gets one more, and reading removes one.
"""

from __future__ import annotations

import re

GUARD = "'"
FORMULA_STARTS = "=+-@\t\r"
GUARDABLE = re.compile(rf"{GUARD}*[{re.escape(FORMULA_STARTS)}]")
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?", re.ASCII)


def guard_formula(text: str) -> str:
    """A text that no spreadsheet runs."""
    return GUARD + text if GUARDABLE.match(text) and not NUMBER.fullmatch(text) else text


def guard_marked(text: str) -> str:
    """A text that reads back as it is, without making it safe: only one that looks guarded gets a guard."""
    return guard_formula(text) if text.startswith(GUARD) else text


def unguard_formula(text: str) -> str:
    """The inverse of ``guard_formula``."""
    is_guarded = text.startswith(GUARD) and GUARDABLE.match(text) and not NUMBER.fullmatch(text[1:])
    return text[1:] if is_guarded else text
