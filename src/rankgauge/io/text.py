"""What must hold of any text file before its lines are looked at."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import InputError
from rankgauge.io.checks.faults import Faults

BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


_LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # halves of a pair; the rest of the range stands for odd bytes


def sound(text: str) -> str:
    """A text that can be written again: half a character, which JSON can hold, becomes the sign for a lost one."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def checked(faults: Faults, data: bytes) -> bytes:
    """The text without a byte order mark; raises where it is no text."""
    source = faults.source
    if not data:
        raise InputError.at(source, None, "file is empty")
    if looks_like_utf16(data):
        raise InputError.at(source, None, "looks like UTF-16, expected UTF-8", hint="convert it: iconv -t utf-8")
    if b"\0" in data:
        at = data.index(b"\0")
        raise InputError.at(source, data.count(b"\n", 0, at) + 1, f"NUL byte at offset {at}: not a text file")
    if b"\r" in data.strip() and b"\n" not in data.strip():
        raise InputError.at(
            source, None, "carriage-return line ends, expected newlines", hint="convert it: tr '\\r' '\\n'"
        )
    if data.startswith(BOM):
        note_bom(faults)
        data = data[len(BOM) :]
    return data


def refuse_nul(faults: Faults, data: NDArray[np.uint8], lines: int) -> None:
    """Raise where a later part of a file, behind so many lines, holds a NUL byte."""
    at = np.flatnonzero(data == 0)
    if len(at):
        line = lines + int((data[: at[0]] == 0x0A).sum()) + 1
        raise InputError.at(faults.source, line, "NUL byte: not a text file")


def looks_like_utf16(head: bytes) -> bool:
    """A byte order mark of UTF-16, or every other byte a NUL."""
    return head.startswith(UTF16) or head[1:64:2].count(0) > 16 or head[0:64:2].count(0) > 16


def note_bom(faults: Faults) -> None:
    """Say that a byte order mark was skipped."""
    faults.add(
        "byte-order-mark",
        [1],
        expected="text",
        found="a byte order mark, skipped (trec_eval makes it part of the first query id)",
        severity="warning",
    )
