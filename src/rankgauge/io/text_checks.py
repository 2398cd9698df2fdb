"""What must be true of any text file before its lines are read, and of a number in it."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled
from rankgauge.core.arrays import Floats
from rankgauge.core.ids import Ids, Ints
from rankgauge.errors import InputError
from rankgauge.io.faults import Faults

BOM = b"\xef\xbb\xbf"
CR_LINES = "carriage returns as line endings, expected newlines"
CR_HINT = "convert it: tr '\\r' '\\n'"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# The rest of the range represents bytes that are not UTF-8.
_LONE_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def has_lone_surrogate(text: str) -> bool:
    """Whether a text cannot be encoded."""
    return not text.isascii() and _LONE_SURROGATES.search(text) is not None


def replace_lone_surrogates(text: str) -> str:
    """A text that can be encoded: a lone surrogate, which JSON can contain, becomes the replacement character."""
    return text if text.isascii() else _LONE_SURROGATES.sub("\ufffd", text)


def check_text(faults: Faults, data: bytes, *, has_lines: bool = True) -> bytes:
    """Return a whole text without a byte order mark; raise if it is not text, or if its lines end in another way."""
    source = faults.source
    if not data:
        raise InputError.at(source, None, "file is empty")
    check_not_utf16(source, data)
    if b"\0" in data:
        offset = data.index(b"\0")
        line = data.count(b"\n", 0, offset) + 1
        raise InputError.at(source, line, f"NUL byte at offset {offset}: not a text file")
    if has_lines and b"\r" in data and b"\r" in data.strip() and b"\n" not in data.strip():
        raise InputError.at(source, None, CR_LINES, hint=CR_HINT)
    if data.startswith(BOM):
        add_bom_warning(faults)
        data = data[len(BOM) :]
    return data


def check_not_utf16(source: str, head: bytes) -> None:
    """Raise if a text begins as UTF-16."""
    if looks_like_utf16(head):
        raise InputError.at(source, None, "looks like UTF-16, expected UTF-8", hint="convert it: iconv -t utf-8")


def looks_like_utf16(head: bytes) -> bool:
    """Whether data begins with a byte order mark of UTF-16, or has a NUL in every other byte."""
    return head.startswith(UTF16_MARKS) or head[1:64:2].count(0) > 16 or head[0:64:2].count(0) > 16


def add_bom_warning(faults: Faults) -> None:
    """Add the warning that a byte order mark was skipped."""
    faults.add(
        "byte-order-mark",
        [1],
        expected="text",
        found="a byte order mark, skipped (trec_eval makes it part of the first query id)",
        severity="warning",
    )


# Numbers from bytes, each of them correctly rounded; and the shortest text of a number.
#
# The extension converts nearly all of them; Python converts the rest, and all of them
# without the extension.

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
