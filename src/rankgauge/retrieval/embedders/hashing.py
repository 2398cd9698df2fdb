"""Numbers from a word's bytes, the same on every machine and in every process."""

from __future__ import annotations

import hashlib
import re

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"\w+")


def words(text: str) -> list[bytes]:
    """The words of a text, lower case, as bytes."""
    return [word.encode("utf-8", "surrogatepass") for word in WORD.findall(text.lower())]


def number(word: bytes, salt: bytes) -> int:
    """64 bits of a word."""
    return int.from_bytes(hashlib.blake2b(word, digest_size=8, key=salt).digest(), "little")


def bits(word: bytes, count: int) -> NDArray[np.uint8]:
    """So many bits of a word, each 0 or 1; ``count`` is a multiple of 8."""
    stream = hashlib.shake_256(b"rankgauge vsa 1\n" + word).digest(count // 8)
    return np.unpackbits(np.frombuffer(stream, dtype=np.uint8), bitorder="little")
