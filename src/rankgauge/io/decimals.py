"""Numbers out of bytes, many at once and exact.

A plain decimal of at most sixteen characters (``12.3456``, ``-7``) is turned into digits eight at a time by integer
arithmetic on words; its digits make a whole number below 2^53 and its point a power of ten below 10^22, so that one
division gives the correctly rounded double. Whatever is not so plain goes to Python, one by one.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Ints, Words
from rankgauge.core.tables import Floats

LONGEST = 16
DECIMAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)


def _repeat(byte: int) -> np.uint64:
    return np.uint64(int.from_bytes(bytes([byte] * 8), "little"))


_ZEROS, _DOTS, _ONES, _HIGH, _OVER = (_repeat(b) for b in (0x30, 0x2E, 0x01, 0x80, 0x46))
_ZERO, _ONE, _SEVEN, _EIGHT, _LAST = (np.uint64(n) for n in (0x30, 1, 7, 8, 56))
_TEN, _EIGHT_DIGITS = np.uint64(10), np.uint64(10**8)
_SHORT, _HALF = np.uint64(16), np.uint64(32)
_PAIRS = np.uint64(0x000000FF000000FF)
_EVEN, _ODD = np.uint64(0x000F424000000064), np.uint64(0x0000271000000001)
_EXACT = np.uint64(1 << 53)
_POWERS = np.array([10.0**n for n in range(LONGEST)])
# The bytes of a word that lie before a token which fills only its last n bytes.
_BEFORE = np.array([(1 << (8 * (8 - n))) - 1 for n in range(9)], dtype=np.uint64)


def read(tokens: Ids) -> tuple[Floats, Ints]:
    """The value of each token, and the rows of those that are no decimal number (nor infinity)."""
    values, plain = parse(tokens)
    bad = []
    for row in np.flatnonzero(~plain).tolist():
        text = tokens[row]
        if DECIMAL.fullmatch(text) or INFINITE.fullmatch(text):
            values[row] = float(text)
        else:
            bad.append(row)
    return values, np.array(bad, dtype=np.int64)


def parse(tokens: Ids) -> tuple[Floats, NDArray[np.bool_]]:
    """The value of each token, and whether it is a plain decimal (where not, the value means nothing)."""
    buffer, end = tokens.buffer, tokens.start + tokens.length
    negative = buffer[tokens.start] == 0x2D
    size = tokens.length - negative
    plain = (size > 0) & (size <= LONGEST) & (end >= LONGEST)
    if not plain.all():
        end, size = np.where(plain, end, LONGEST), np.where(plain, size, 1)
    # The token stands at the end of two words; what lies before it there is read as '0'.
    view: Words = np.ndarray((len(buffer) - 7,), dtype="<u8", buffer=buffer, strides=(1,))
    low = _only(view[end - 8], _BEFORE[np.minimum(size, 8)])
    high = _only(view[end - 16], _BEFORE[np.maximum(size - 8, 0)])
    decimals = np.zeros(len(end), dtype=np.int64)
    late = _dot(low)
    early = np.where(late, np.uint64(0), _dot(high))  # a second point stays, and is no digit
    if late.any():
        has, moved, places = _without(low, late, high >> _LAST)
        low = np.where(has, moved, low)
        high = np.where(has, (high << _EIGHT) | _ZERO, high)
        decimals = np.where(has, places, 0)
        size = size - has
    if early.any():
        has, moved, places = _without(high, early, _ZERO)
        high = np.where(has, moved, high)
        decimals = np.where(has, places + 8, decimals)
        size = size - has
    number = _eight(high) * _EIGHT_DIGITS + _eight(low)
    ok = plain & (size > 0) & (decimals < LONGEST) & (number < _EXACT) & _digits(low) & _digits(high)
    value = number.astype(np.float64) / _POWERS[np.minimum(decimals, LONGEST - 1)]
    np.negative(value, out=value, where=negative)
    return value, ok


def _only(word: Words, outside: Words) -> Words:
    return (word & ~outside) | (_ZEROS & outside)


def _dot(word: Words) -> Words:
    """The high bit of the lowest byte that is a point, or 0."""
    other = word ^ _DOTS
    found = (other - _ONES) & ~other & _HIGH
    return found & (~found + _ONE)


def _without(word: Words, dot: Words, filler: Words | np.uint64) -> tuple[NDArray[np.bool_], Words, Ints]:
    """The word with its bytes before the point moved over it, and how many places stand behind the point."""
    before = (dot >> _SEVEN) - _ONE
    moved = (word & ~((dot << _ONE) - _ONE)) | ((word & before) << _EIGHT) | filler
    return dot != 0, moved, 7 - (np.bitwise_count(before) >> 3).astype(np.int64)


def _digits(word: Words) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (((word + _OVER) | (word - _ZEROS)) & _HIGH) == 0
    return found


def _eight(word: Words) -> Words:
    """Eight ASCII digits as a number."""
    digits = word - _ZEROS
    digits = digits * _TEN + (digits >> _EIGHT)
    return ((digits & _PAIRS) * _EVEN + ((digits >> _SHORT) & _PAIRS) * _ODD) >> _HALF
