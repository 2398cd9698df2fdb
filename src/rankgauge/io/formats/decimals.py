"""Numbers out of bytes, many at once and exact.

The digits of a plain decimal (``12.3456``, ``-7``) are turned into a whole number eight at a time, by integer
arithmetic on words. Where that number is below 2^53 and the decimals are few, one division gives the correctly rounded
double; longer ones are divided in extended precision where the machine has it, and the rare result that two roundings
could spoil is left out. Whatever is not so plain goes to Python, one by one.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import WORD_BYTES, Ids, Ints, Words, words_of
from rankgauge.core.tables import Floats

CHUNK = 1 << 15  # rows at a time: what is computed on the way stays in the cache
DECIMAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)
Flags = NDArray[np.bool_]


def _repeat(byte: int) -> np.uint64:
    return np.uint64(int.from_bytes(bytes([byte] * WORD_BYTES), "little"))


_ZEROS, _DOTS, _ONES, _HIGH, _OVER = (_repeat(b) for b in (0x30, 0x2E, 0x01, 0x80, 0x46))
_NOTHING, _ONE, _SEVEN, _EIGHT, _ZERO, _LAST = (np.uint64(n) for n in (0, 1, 7, 8, 0x30, 56))
_POINT, _BYTE = np.uint64(0x2E), np.uint64(0xFF)
_SHORT, _HALF = np.uint64(16), np.uint64(32)
_TEN, _EIGHT_DIGITS = np.uint64(10), np.uint64(10**8)
_PAIRS = np.uint64(0x000000FF000000FF)
_EVEN, _ODD = np.uint64(0x000F424000000064), np.uint64(0x0000271000000001)
_EXACT = np.uint64(1 << 53)
_TOP = np.uint64(1843)  # as the first of three words it keeps the number below 2^64
_POWERS = np.array([10.0**n for n in range(23)])  # each of them exact
# The bytes of a word that lie before a token which fills only its last n bytes.
_BEFORE = np.array([(1 << (8 * (WORD_BYTES - n))) - 1 for n in range(WORD_BYTES + 1)], dtype=np.uint64)
_EXTENDED = np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16


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


def parse(tokens: Ids) -> tuple[Floats, Flags]:
    """The value of each token, and whether it is a plain decimal (where not, the value means nothing)."""
    values, ok = np.zeros(len(tokens)), np.zeros(len(tokens), dtype=bool)
    for first in range(0, len(tokens), CHUNK):
        part = slice(first, first + CHUNK)
        chunk = Ids(tokens.buffer, tokens.start[part], tokens.length[part])
        if not _same_decimals(chunk, values[part], ok[part]):
            _any_decimals(chunk, values[part], ok[part])
    return values, ok


def _same_decimals(tokens: Ids, values: Floats, ok: Flags) -> bool:
    """The usual file: every number has the same few decimals, and at most seven digits before the point."""
    places = tokens[0][::-1].find(b".")
    fewest, most = (int(length) - places - 1 for length in (tokens.length.min(), tokens.length.max()))
    if not 0 < places <= WORD_BYTES or fewest < 1 or most >= WORD_BYTES:
        return False
    view = words_of(tokens.buffer)
    at = tokens.start + tokens.length
    at -= WORD_BYTES + places  # of the word that ends with the point
    if int(at.min()) < 0:
        return False
    high = view[at]
    if ((high >> _LAST) != _POINT).any():
        return False
    high <<= _EIGHT
    _blank_out(high, tokens.length - (places + 1), fewest, most)
    at += places  # of the word that ends with the number
    low = view[at]
    low &= ~_BEFORE[places]
    if places < WORD_BYTES and most + places <= WORD_BYTES:
        # Both parts fit into one word: the digits before the point move up to those behind it.
        high >>= np.uint64(8 * places)
        low |= high
        if not _are_digits(low).all():
            return False
        number = _eight(low)
    else:
        low |= _ZEROS & _BEFORE[places]
        if not _are_digits(low, high).all():
            return False
        number = _eight(high) * np.uint64(10**places) + _eight(low)
        if int(number.max()) >= 1 << 53:
            return False
    np.divide(number, _POWERS[places], out=values)
    ok[:] = True
    return True


def _blank_out(word: Words, digits: Ints, fewest: int, most: int) -> None:
    """Write '0' over what stands before each number, whose digits are the last of its word."""
    if most - fewest > 1:
        before = _BEFORE[digits]
        word &= ~before
        word |= _ZEROS & before
        return
    # All the same but for one digit: where that is missing, whatever stands in its place is written over too.
    word &= ~_BEFORE[most]
    word |= _ZEROS & _BEFORE[most]
    if most > fewest:
        missing = (digits == fewest).astype(np.uint64) << np.uint64(8 * (WORD_BYTES - most))
        word &= ~(missing * _BYTE)
        word |= missing * _ZERO


def _any_decimals(tokens: Ids, values: Floats, ok: Flags) -> None:
    """Any plain decimal of up to 24 characters."""
    end = tokens.start + tokens.length
    negative = tokens.buffer[tokens.start] == 0x2D
    size = tokens.length - negative
    plain = (size > 0) & (size <= 3 * WORD_BYTES) & (end >= 3 * WORD_BYTES)
    end, size = np.where(plain, end, 3 * WORD_BYTES), np.where(plain, size, 1)
    # The token stands at the end of some words, the last one first; what lies before it is read as '0'.
    count = 2 if int(size.max()) <= 2 * WORD_BYTES else 3
    view = words_of(tokens.buffer)
    words = []
    for place in range(count):
        outside = _BEFORE[np.clip(size - WORD_BYTES * place, 0, WORD_BYTES)]
        words.append((view[end - WORD_BYTES * (place + 1)] & ~outside) | (_ZEROS & outside))
    words, decimals, has = _without_point(words)
    number = _eight(words[1]) * _EIGHT_DIGITS + _eight(words[0])
    good = plain & (size > has) & _are_digits(*words) & (decimals < len(_POWERS))
    if count == 3:
        top = _eight(words[2])
        good &= top < _TOP
        number += top * np.uint64(10**16)
    short = number < _EXACT
    power = _POWERS[np.minimum(decimals, len(_POWERS) - 1)]
    np.divide(number, power, out=values)
    good &= short | _in_extended(number, power, good & ~short, values)
    np.negative(values, out=values, where=negative)
    ok[:] = good


def _in_extended(number: Words, power: Floats, chosen: Flags, values: Floats) -> Flags:
    """Divide long numbers in extended precision; says which results a second rounding cannot have spoilt."""
    safe = np.zeros(len(number), dtype=bool)
    rows = np.flatnonzero(chosen)
    if _EXTENDED and len(rows):
        quotient = number[rows].astype(np.longdouble) / power[rows].astype(np.longdouble)
        values[rows] = quotient
        # Eleven bits are dropped on the way to a double. Exactly half of their range is what rounds twice.
        dropped = quotient.view(np.uint64)[::2] & np.uint64(0x7FF)
        safe[rows] = dropped != 0x400
    return safe


def _without_point(words: list[Words]) -> tuple[list[Words], Ints, Flags]:
    """The words with everything before the point moved over it; how many decimals; whether there was a point."""
    decimals = np.zeros(len(words[0]), dtype=np.int64)
    found = np.zeros(len(words[0]), dtype=bool)
    out = []
    for place, word in enumerate(words):
        filler = words[place + 1] >> _LAST if place + 1 < len(words) else _ZERO
        # A second point stays where it is, and is no digit.
        dot = np.where(found, _NOTHING, _lowest_dot(word))
        here = dot != 0
        before = (dot >> _SEVEN) - _ONE
        moved = (word & ~((dot << _ONE) - _ONE)) | ((word & before) << _EIGHT) | filler
        out.append(np.where(here, moved, np.where(found, (word << _EIGHT) | filler, word)))
        behind = WORD_BYTES * place + 7 - (np.bitwise_count(before) >> 3).astype(np.int64)
        decimals = np.where(here, behind, decimals)
        found |= here
    return out, decimals, found


def _lowest_dot(word: Words) -> Words:
    """The high bit of the lowest byte that is a point, or 0."""
    other = word ^ _DOTS
    dots = (other - _ONES) & ~other & _HIGH
    return dots & (~dots + _ONE)


def _are_digits(*words: Words) -> Flags:
    """Whether all bytes of all words are digits."""
    wrong = words[0] + _OVER
    wrong |= words[0] - _ZEROS
    for word in words[1:]:
        wrong |= word + _OVER
        wrong |= word - _ZEROS
    wrong &= _HIGH
    found: Flags = wrong == 0
    return found


def _eight(word: Words) -> Words:
    """Eight ASCII digits as a number."""
    digits = word - _ZEROS
    pairs = digits >> _EIGHT
    digits *= _TEN
    digits += pairs
    np.right_shift(digits, _SHORT, out=pairs)
    pairs &= _PAIRS
    pairs *= _ODD
    digits &= _PAIRS
    digits *= _EVEN
    digits += pairs
    digits >>= _HALF
    return digits
