"""Numbers from bytes, many at once and exact; and the shortest text of a number.

The digits of a plain decimal (``12.3456``, ``-7``) are converted to a whole number eight at a time, by integer
arithmetic on words. If that number is below 2^53 and the decimals are few, one division gives the correctly rounded
double; longer ones are divided in extended precision if the machine has it, and the rare result that rounding twice
could change is left out. Everything else is converted by Python, one by one.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled
from rankgauge.core.arrays import Floats
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import WORD_BYTES, Ids, Ints, Words, words_of

CHUNK_ROWS = 1 << 15  # converted together, so that intermediate results stay in the cache
# Possessive (++, *+): what is matched is not given back, so that a million digits are looked at once.
DECIMAL = re.compile(rb"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
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
# The bytes of a word before a token that fills only its last n bytes.
_BEFORE = np.array([(1 << (8 * (WORD_BYTES - n))) - 1 for n in range(WORD_BYTES + 1)], dtype=np.uint64)
_EXTENDED = np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16


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
    values, is_plain = np.zeros(len(tokens)), np.zeros(len(tokens), dtype=bool)
    for first in range(0, len(tokens), CHUNK_ROWS):
        part = slice(first, first + CHUNK_ROWS)
        chunk = Ids(tokens.buffer, tokens.start[part], tokens.length[part])
        if not _same_decimals(chunk, values[part], is_plain[part]):
            _any_decimals(chunk, values[part], is_plain[part])
    return values, is_plain


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
    """Write '0' over the bytes before each number, whose digits are the last of its word."""
    if most - fewest > 1:
        before = _BEFORE[digits]
        word &= ~before
        word |= _ZEROS & before
        return
    # All have the same number of digits except for one: if that one is missing, its byte is overwritten too.
    word &= ~_BEFORE[most]
    word |= _ZEROS & _BEFORE[most]
    if most > fewest:
        missing = (digits == fewest).astype(np.uint64) << np.uint64(8 * (WORD_BYTES - most))
        word &= ~(missing * _BYTE)
        word |= missing * _ZERO


def _any_decimals(tokens: Ids, values: Floats, ok: Flags) -> None:
    """Any plain decimal of up to 24 characters."""
    end = tokens.start + tokens.length
    is_negative = tokens.buffer[tokens.start] == 0x2D
    size = tokens.length - is_negative
    is_plain = (size > 0) & (size <= 3 * WORD_BYTES) & (end >= 3 * WORD_BYTES)
    end, size = np.where(is_plain, end, 3 * WORD_BYTES), np.where(is_plain, size, 1)
    # The token is at the end of some words, the last one first; the bytes before it are read as '0'.
    count = 2 if int(size.max()) <= 2 * WORD_BYTES else 3
    view = words_of(tokens.buffer)
    words = []
    for index in range(count):
        outside = _BEFORE[np.clip(size - WORD_BYTES * index, 0, WORD_BYTES)]
        words.append((view[end - WORD_BYTES * (index + 1)] & ~outside) | (_ZEROS & outside))
    digits = _without_point(words)
    words, decimals = digits.words, digits.decimals
    number = _eight(words[1]) * _EIGHT_DIGITS + _eight(words[0])
    is_valid = is_plain & (size > digits.has_point) & _are_digits(*words) & (decimals < len(_POWERS))
    if count == 3:
        top = _eight(words[2])
        is_valid &= top < _TOP
        number += top * np.uint64(10**16)
    is_short = number < _EXACT
    power = _POWERS[np.minimum(decimals, len(_POWERS) - 1)]
    np.divide(number, power, out=values)
    is_valid &= is_short | _in_extended(number, power, is_valid & ~is_short, values)
    np.negative(values, out=values, where=is_negative)
    ok[:] = is_valid


def _in_extended(number: Words, power: Floats, chosen: Flags, values: Floats) -> Flags:
    """Divide long numbers in extended precision; return which results a second rounding cannot have changed."""
    is_safe = np.zeros(len(number), dtype=bool)
    rows = np.flatnonzero(chosen)
    if _EXTENDED and len(rows):
        quotient = number[rows].astype(np.longdouble) / power[rows].astype(np.longdouble)
        values[rows] = quotient
        # Converting to double drops eleven bits. Exactly half of their range would be rounded twice.
        dropped = quotient.view(np.uint64)[::2] & np.uint64(0x7FF)
        is_safe[rows] = dropped != 0x400
    return is_safe


@dataclass(frozen=True, eq=False)
class _Digits:
    """Words of digits without a point, the number of decimals of each number, and whether it had a point."""

    words: list[Words]
    decimals: Ints
    has_point: Flags


def _without_point(words: list[Words]) -> _Digits:
    """The words with the digits before the point moved over it."""
    decimals = np.zeros(len(words[0]), dtype=np.int64)
    has_point = np.zeros(len(words[0]), dtype=bool)
    shifted = []
    for index, word in enumerate(words):
        filler = words[index + 1] >> _LAST if index + 1 < len(words) else _ZERO
        # A second point stays where it is, and is not a digit.
        dot = np.where(has_point, _NOTHING, _lowest_dot(word))
        is_here = dot != 0
        before = (dot >> _SEVEN) - _ONE
        moved = (word & ~((dot << _ONE) - _ONE)) | ((word & before) << _EIGHT) | filler
        shifted.append(np.where(is_here, moved, np.where(has_point, (word << _EIGHT) | filler, word)))
        after = WORD_BYTES * index + 7 - (np.bitwise_count(before) >> 3).astype(np.int64)
        decimals = np.where(is_here, after, decimals)
        has_point |= is_here
    return _Digits(shifted, decimals, has_point)


def _lowest_dot(word: Words) -> Words:
    """The high bit of the lowest byte that is a point, or 0."""
    difference = word ^ _DOTS
    dots = (difference - _ONES) & ~difference & _HIGH
    return dots & (~dots + _ONE)


def _are_digits(*words: Words) -> Flags:
    """Whether all bytes of all words are digits."""
    wrong = words[0] + _OVER
    wrong |= words[0] - _ZEROS
    for word in words[1:]:
        wrong |= word + _OVER
        wrong |= word - _ZEROS
    wrong &= _HIGH
    are_digits: Flags = wrong == 0
    return are_digits


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


def number_text(value: float) -> bytes:
    """The shortest text that reads back as the same number."""
    return str(int_if_exact(value)).encode("ascii")


def int_if_exact(value: float) -> float | int:
    """A whole number as an int, if that loses nothing."""
    is_whole = abs(value) < 2**53 and value == int(value) and (value != 0 or str(value) == "0.0")
    return int(value) if is_whole else value
