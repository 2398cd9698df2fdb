"""A number in a cell of a table or a row of a log, for values that are measures: what is one, and what is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankgauge.errors import InputError, shown

EMPTY = frozenset(("", "nan", "null", "none", "na", "n/a"))


def cell_number(value: Any) -> float | None:
    """A number, infinite if it is too large; NaN if there is none, None if it is something else."""
    if value is None:
        return math.nan
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.casefold() in EMPTY:
        return math.nan
    if text.casefold() in ("true", "false"):
        return float(text.casefold() == "true")
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def number_error(source: str, line: int | None, name: str, value: Any) -> InputError:
    """The error for a value that is no finite number."""
    hint = "write 1.5 for 1,5" if isinstance(value, str) and "," in value else None
    what = "a number" if cell_number(value) is None else "a finite number"
    return InputError.at(source, line, f"{name}: expected {what}, found {shown(str(value))}", hint=hint)
