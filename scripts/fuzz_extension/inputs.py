"""Bytes, ids, numbers and arrays that are odd in the places where code goes wrong."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

PADDING = 24
Bytes = NDArray[np.uint8]
Column = tuple[Any, NDArray[np.int64], NDArray[np.int64]]
DECIMAL = re.compile(rb"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
PLAIN_IDS = [
    b"1", b"2", b"10", b"q7", b"doc-123", b"doc-1234", b"doc-12345", b"doc-12345678901", b"doc-123456789012",
    b"x" * 23, b"x" * 24, b"x" * 25, b"x" * 63 + b"y", b"x" * 64, b"x" * 300, b"x" * 300 + b"y", b"~!@#$%^&*()",
]  # fmt: skip
ODD_IDS = [
    "é".encode(),
    "e\u0301".encode(),
    "\u00ad".encode(),
    "\u2060".encode(),
    b"\xff\xfe",
    b"\xe2\x80",
    b"\x01",
    b"\x7f",
]
NUMBERS = b"""
0 -0 0.0 -0.0 1 2 3 10 1.5 2.5 2.50 .5 5. +7 -1.25e-3 0.8123456835746765 1.00000001 17.046234 123456.7890123456 1e1 1E22
1e23 0.81234568357467651367 4.9e-324 3.5e38 3.5e39 9007199254740993 9007199254740992.5 16777217 16777216 1e-30 0e999
1e-400 00000000000000000000000000001 1.704623e+01 -1.704623E-01 12345678 123456789 1234567.8 12345678.9 1234567890123456
123456789012345.6 12345678901234567 18446744073709551615 18446744073709551616 1e27 1e28 1e-27 1e-28 1e308
2.2250738585072011e-308
""".split()
NOT_NUMBERS = [*b"inf -Infinity nan x . - + 1e 1e+ e1 0x10 1_0 1,5 --1 1..2 1.2.3 \xff \xd9\xa1".split(), b""]
PIECES = [
    b"\0", b"\t", b"\n", b"\r", b"\r\n", b" ", b'"', b'""', b"'", b",", b":", b";", b"\\", b"\\u", b"\\ud800",
    b"\\udc00", b"\\ud83d\\ude00", b"\\u0000", b"\\u00e9", b"{", b"}", b"[", b"]", b"[" * 70, b'{"a":' * 70, b"0",
    b"-", b".", b"e", b"E9", b"9" * 310, b"1e400", b"NaN", b"Infinity", b"true", b"null", b"\x7f", b"\x80", b"\xc2",
    b"\xc2\xa0", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff", b"a" * 70, b" " * 70, b"\n" * 70, b"1 " * 70, b'"' * 70,
]  # fmt: skip


def damage(rng: Random, data: bytes) -> bytes:
    """Bytes changed, inserted, removed or repeated, or the end cut off."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at, kind = rng.randrange(len(out) + 1), rng.randrange(6)
        if kind == 0 and at < len(out):
            out[at] = rng.randrange(256)
        elif kind == 1 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            out[at:at] = rng.choice(PIECES)
        elif kind == 3:
            del out[at : at + rng.randrange(1, 20)]
        elif kind == 4:
            out[at:at] = out[at : at + rng.randrange(1, 90)]
        elif kind == 5:
            del out[at:]
    return bytes(out)


def cuts(rng: Random, text: bytes) -> list[bytes]:
    """The text; if it is short, perhaps cut off everywhere."""
    if len(text) > 200 or rng.random() < 0.8:
        return [text]
    return [text[:end] for end in range(len(text) + 1)]


def padded(rng: Random, data: bytes) -> Any:
    """A text with any bytes behind it, which must not matter, in memory that ends with them."""
    behind = rng.choice((b"\0", b"\0", b"9", b" ", b"\n", b"\xff", b"x", b"1 ", b'"'))
    return buffer(rng, data + (behind * PADDING)[:PADDING])


def buffer(rng: Random, data: bytes) -> Any:
    """Bytes in one of the objects that have a buffer; most often an array, which is exactly as long."""
    array = np.frombuffer(data, dtype=np.uint8).copy()
    return rng.choice((array, array, array, data, bytearray(data), memoryview(data)))


def column(rng: Random, ids: list[bytes]) -> Column:
    """Ids as a text, starts and lengths; the texts may be in any order, apart or within one another."""
    length = np.array([len(id) for id in ids], dtype=np.int64)
    if rng.random() < 0.6:
        text, start = b"".join(ids), np.cumsum(length) - length
    else:
        places: dict[bytes, int] = {}
        text = b""
        for id in rng.sample(ids, len(ids)):
            if id not in places:
                places[id] = text.find(id) if rng.random() < 0.5 and id in text else len(text)
                text += b"" if places[id] < len(text) else id + b"?" * rng.choice((0, 0, 1, 8))
        start = np.array([places[id] for id in ids], dtype=np.int64)
    return padded(rng, text), start.astype(np.int64), length


def some_ids(rng: Random, count: int) -> list[bytes]:
    """Ids that are often alike, some of them empty or odd."""
    pool = rng.sample(PLAIN_IDS, rng.randrange(1, len(PLAIN_IDS)))
    if rng.random() < 0.3:
        pool += [*ODD_IDS, b""]
    pool += [b"d%d" % number for number in range(rng.choice((0, 5, 50)))]
    return [rng.choice(pool) for _ in range(count)]


def some_count(rng: Random) -> int:
    """How many rows there are: mostly few, sometimes none."""
    return rng.choice((0, 1, 1, 2, 3, 5, 8, 20, 60, 60, 200))


def some_number(rng: Random) -> bytes:
    """The text of a number."""
    kind = rng.randrange(6)
    if kind == 0:
        return b"%.*f" % (rng.randrange(9), rng.uniform(-1000, 1000))
    if kind == 1:
        return repr(rng.uniform(0, 30)).encode()
    if kind == 2:
        digits = bytes(rng.choices(b"0123456789", k=rng.randrange(1, 24)))
        at = rng.randrange(len(digits) + 1)
        exponent = b"e%+d" % rng.randrange(-40, 40) if rng.random() < 0.3 else b""
        return rng.choice((b"", b"", b"-", b"+")) + digits[:at] + b"." + digits[at:] + exponent
    return rng.choice(NUMBERS)
