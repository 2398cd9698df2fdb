"""Numbers from bytes, each of them correctly rounded; and the shortest text of a number.

The extension converts nearly all of them; Python converts the rest, and all of them without the extension.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled
from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ids, Ints

# Possessive (++, *+): what is matched is not given back, so that a million digits are looked at once.
DECIMAL = re.compile(rb"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)
Flags = NDArray[np.bool_]


def read(tokens: Ids) -> tuple[Floats, Ints]:
    """The value of each token, and the rows of those that are neither a decimal number nor infinity."""
    values, is_plain = parse_plain(tokens)
    bad_rows = []
    for row in np.flatnonzero(~is_plain).tolist():
        text = tokens[row]
        if DECIMAL.fullmatch(text) or INFINITE.fullmatch(text):
            values[row] = float(text)
        else:
            bad_rows.append(row)
    return values, np.array(bad_rows, dtype=np.int64)


def number_hint(text: bytes) -> str | None:
    """What may have gone wrong with a text that should be a number."""
    if b"," in text and DECIMAL.fullmatch(text.replace(b",", b".", 1)):
        return "a decimal comma? write a decimal point"
    if text.lower().lstrip(b"+-") == b"nan":
        return "NaN cannot be ordered: give the document a score or leave it out"
    return None


def parse_plain(tokens: Ids) -> tuple[Floats, Flags]:
    """The value of each token, and whether it is a plain decimal (if not, the value is meaningless).

    The extension reads nearly every decimal, with an exponent too.
    """
    if compiled.scanner is not None:
        numbers, statuses = compiled.scanner.decimals(tokens.parts)
        return np.frombuffer(numbers).copy(), np.frombuffer(statuses, dtype=np.uint8) == 0
    values = [float(text) if DECIMAL.fullmatch(text) else None for text in tokens]
    is_plain = np.array([value is not None for value in values], dtype=bool)
    return np.array([0.0 if value is None else value for value in values]), is_plain


def number_text(value: float) -> bytes:
    """The shortest text that reads back as the same number."""
    return str(int_if_exact(value)).encode("ascii")


def int_if_exact(value: float) -> float | int:
    """A whole number as an int, if that loses nothing."""
    is_whole = abs(value) < 2**53 and value == int(value) and (value != 0 or str(value) == "0.0")
    return int(value) if is_whole else value
