"""What must be true of any text file before its lines are read."""

from __future__ import annotations

import re

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
