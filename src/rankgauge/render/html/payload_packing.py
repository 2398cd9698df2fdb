"""Columns of numbers and ids as bytes after a JSON text, compressed: what ``unpack.js`` reads.

A column is in the JSON as an object with the key ``packed``, which says where its bytes are. The bytes of a number are
apart from one another: all lowest bytes, then all second ones, …, because similar bytes next to each other compress
well.
"""

from __future__ import annotations

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
ZLIB_HEADER, LAST_BLOCK = b"\x78\xda", b"\x03\x00"  # RFC 1950 and 1951: the strongest compression; an empty block
PAIR_BITS, ALPHABET = 13, 91  # two characters of this alphabet hold 13 bits
FIRST_CHARACTER, NO_MARKUP = ord("#"), {ord("<"): "~"}
FAST_LEVEL = 1
STRATEGIES = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY)


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
        """The length of the JSON text, that text and the columns: zlib, as characters."""
        parts = self._parts(data)
        checksum = zlib.adler32(b"".join(parts)).to_bytes(4, "big")
        return as_text(b"".join([ZLIB_HEADER, *map(_deflated, parts), LAST_BLOCK, checksum]))

    def estimated_size(self, data: dict[str, Any]) -> int:
        """About how many characters they will be; much faster."""
        return sum(len(zlib.compress(part, FAST_LEVEL)) for part in self._parts(data)) * 16 // PAIR_BITS

    def content(self, data: dict[str, Any]) -> bytes:
        """What is compressed: the same bytes with every version of zlib."""
        return b"".join(self._parts(data))

    def _parts(self, data: dict[str, Any]) -> list[bytes]:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
        return [len(text).to_bytes(LENGTH_BYTES, "little") + text, *self.parts]

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
    """Bytes as visible characters other than ``<``: each 13 bits are two of 91 characters, 8% shorter than base64.

    The first two characters are the number of bits that were added at the end.
    """
    bits = np.unpackbits(np.frombuffer(content, dtype=np.uint8))
    padding = -len(bits) % PAIR_BITS
    padded = np.concatenate([bits, np.zeros(padding, dtype=np.uint8)]).reshape(-1, PAIR_BITS)
    numbers = np.append(padding, padded @ (1 << np.arange(PAIR_BITS)[::-1]))
    pairs = np.column_stack(np.divmod(numbers, ALPHABET)) + FIRST_CHARACTER
    return pairs.astype(np.uint8).tobytes().decode("ascii").translate(NO_MARKUP)


def decompressed(text: str, max_bytes: int) -> bytes:
    """What ``Packer.compress`` made into characters; raises ``ValueError`` if it is something else, or longer."""
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(_from_text(text), max_bytes)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not stream.eof or stream.unused_data:
        raise ValueError("it does not end where it should")
    return content


def _from_text(text: str) -> bytes:
    """The bytes that ``as_text`` made into characters."""
    if not text.isascii() or len(text) < 2 or len(text) % 2:
        raise ValueError("other characters than those of packed data")
    digits = np.frombuffer(text.replace("~", "<").encode("ascii"), dtype=np.uint8).astype(np.int64) - FIRST_CHARACTER
    padding, *numbers = (digits.reshape(-1, 2) @ (ALPHABET, 1)).tolist()
    bits = (np.array(numbers, dtype=np.int64)[:, None] >> np.arange(PAIR_BITS)[::-1]) & 1
    content = np.packbits(bits.astype(np.uint8).ravel()[: PAIR_BITS * len(numbers) - padding]).tobytes()
    if as_text(content) != text:
        raise ValueError("other characters than those of packed data")
    return content


def _deflated(content: bytes) -> bytes:
    """Blocks for this content alone, by the strategy that makes them smallest; more blocks may follow."""
    out = []
    for strategy in STRATEGIES:
        compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, strategy)
        out.append(compressor.compress(content) + compressor.flush(zlib.Z_FULL_FLUSH))
    return min(out, key=len)


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
