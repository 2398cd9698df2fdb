"""Columns of numbers and ids as bytes after a JSON text, compressed: what ``unpack.js`` reads.

A column is in the JSON as an object with the key ``packed``, which says where its bytes are. The bytes of a number are
apart from one another: all lowest bytes, then all second ones, …, because similar bytes next to each other compress
well.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.ids import WORD_BYTES, Ids, Ints
from rankgauge.render.html.page_text import plain

MAX_LISTED_VALUES = 256  # of a column whose numbers are stored as places in a list
LARGEST_NUMBER = 2.0**53  # a larger whole number is not exact in a script
MAX_DIGITS = 15  # a longer number is not exact in a script
LENGTH_BYTES = 4  # of the length of the JSON text
FAST_LEVEL, BEST_LEVEL = 1, 9


class Packer:
    """The bytes of all columns, one after the other."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def numbers(self, values: Floats | Ints) -> dict[str, Any]:
        """Whole numbers; NaN for a missing one."""
        known = np.isfinite(values)
        whole = np.where(known, values, 0).astype(np.float64)
        if not np.abs(whole).max(initial=0.0) < LARGEST_NUMBER:
            return {"packed": [], "list": [number if math.isfinite(number) else None for number in values.tolist()]}
        least = float(whole[known].min()) if known.any() else 0.0
        codes = np.where(known, whole - least + 1, 0) if not known.all() else whole - least
        out: dict[str, Any] = {"least": int(least), "missing": not known.all()}
        if codes.max(initial=0.0) >= MAX_LISTED_VALUES:
            listed, places = np.unique(codes, return_inverse=True)
            if len(listed) <= MAX_LISTED_VALUES:
                out["values"], codes = listed.astype(np.int64).tolist(), places
        return {"packed": [self.size, len(codes), self._planes(codes.astype(np.uint64))], **out}

    def ids(self, ids: Ids) -> dict[str, Any]:
        """Ids as a reader sees them: what each shares with the one before, and the bytes that follow.

        If they are numbers after a common prefix, the steps from one number to the next.
        """
        if not ids.has_visible_ascii_only:
            ids = Ids.from_bytes([plain(name).encode("utf-8", "replace") for name in ids.to_text()])
        shared = shared_prefixes(ids)
        prefix = int(shared[1:].min(initial=0 if len(ids) < 2 else int(ids.length.min()) - 1))
        numbers = _numbers_after(ids, prefix)
        if numbers is not None:
            steps, digits = self.numbers(np.diff(numbers, prepend=0)), self.numbers(ids.length - prefix)
            return {"packed": [], "prefix": ids[0][:prefix].decode("utf-8"), "steps": steps, "digits": digits}
        rest = Ids(ids.buffer, ids.start + shared, ids.length - shared)
        text = rest.compact().buffer[: int(rest.length.sum())].tobytes()
        return {
            "shared": self.numbers(shared),
            "length": self.numbers(ids.length),
            "packed": [self._add(text), len(text), 1],
            "least": 0,
            "missing": False,
        }

    def compress(self, data: dict[str, Any]) -> str:
        """The length of the JSON text, that text and the columns: zlib, as base64."""
        return as_text(zlib.compress(self.content(data), BEST_LEVEL))

    def estimated_size(self, data: dict[str, Any]) -> int:
        """About how many characters they will be; much faster."""
        return len(zlib.compress(self.content(data), FAST_LEVEL)) * 4 // 3

    def content(self, data: dict[str, Any]) -> bytes:
        """What is compressed: the same bytes with every version of zlib."""
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
        return b"".join([len(text).to_bytes(LENGTH_BYTES, "little"), text, *self.parts])

    def _planes(self, codes: NDArray[np.uint64]) -> int:
        """Add the bytes of the numbers; the number of bytes that each needs."""
        width = max(1, math.ceil(int(codes.max(initial=0)).bit_length() / 8))
        little_endian = codes.astype("<u8").view(np.uint8).reshape(-1, 8)
        for byte in range(width):
            self._add(np.ascontiguousarray(little_endian[:, byte]).tobytes())
        return width

    def _add(self, content: bytes) -> int:
        """Add bytes; where they begin."""
        begin = self.size
        self.parts.append(content)
        self.size += len(content)
        return begin


def as_text(content: bytes) -> str:
    """Bytes as characters that HTML does not change."""
    return base64.b64encode(content).decode("ascii")


def decompressed(text: str, max_bytes: int) -> bytes:
    """What ``Packer.compress`` made into characters; raises ``ValueError`` if it is something else, or longer."""
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise ValueError("other characters than those of packed data") from None
    if as_text(content) != text:
        raise ValueError("other characters than those of packed data")
    stream = zlib.decompressobj()
    try:
        unpacked = stream.decompress(content, max_bytes)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not stream.eof or stream.unused_data:
        raise ValueError("it does not end where it should")
    return unpacked


def shared_prefixes(ids: Ids) -> Ints:
    """The number of bytes with which each id begins like the one before it."""
    shared = np.zeros(len(ids), dtype=np.int64)
    open_rows = np.arange(1, len(ids))
    j = 0
    while len(open_rows):
        differing = ids.words(j, open_rows) ^ ids.words(j, open_rows - 1)
        bytes_of = differing.astype("<u8").view(np.uint8).reshape(-1, WORD_BYTES) != 0
        same = differing == 0
        shared[open_rows] += np.where(same, WORD_BYTES, bytes_of.argmax(axis=1))
        open_rows = open_rows[same]
        open_rows = open_rows[np.minimum(ids.length[open_rows], ids.length[open_rows - 1]) > WORD_BYTES * (j + 1)]
        j += 1
    return np.minimum(shared, np.minimum(ids.length, np.roll(ids.length, 1))) if len(ids) else shared


def _numbers_after(ids: Ids, prefix: int) -> Ints | None:
    """The number that each id is after a prefix; None if one has another character, or too many digits."""
    digits = ids.length - prefix
    if not len(ids) or int(digits.min()) < 1 or int(digits.max()) > MAX_DIGITS:
        return None
    numbers = np.zeros(len(ids), dtype=np.int64)
    for place in range(int(digits.max())):
        rows = np.flatnonzero(place < digits)
        values = ids.buffer[ids.start[rows] + prefix + place].astype(np.int64) - ord("0")
        if ((values < 0) | (values > 9)).any():
            return None
        numbers[rows] = 10 * numbers[rows] + values
    return numbers
