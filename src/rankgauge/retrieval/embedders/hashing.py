"""Numbers from a word's bytes, the same on every machine and in every process."""

from __future__ import annotations

import hashlib
import re

import numpy as np
from numpy.typing import NDArray

HASHED_WORD_PATTERN = re.compile(r"\w+")


def split_words(text: str) -> list[bytes]:
    """The words of a text, lowercase, as bytes."""
    return [word.encode("utf-8", "surrogatepass") for word in HASHED_WORD_PATTERN.findall(text.lower())]


def hash_word(word: bytes, salt: bytes) -> int:
    """A 64-bit hash of a word."""
    return int.from_bytes(hashlib.blake2b(word, digest_size=8, key=salt).digest(), "little")


def random_bits(word: bytes, count: int) -> NDArray[np.uint8]:
    """``count`` pseudorandom bits that depend only on the word, each 0 or 1; ``count`` is a multiple of 8."""
    stream = hashlib.shake_256(b"rankgauge vsa 1\n" + word).digest(count // 8)
    return np.unpackbits(np.frombuffer(stream, dtype=np.uint8), bitorder="little")
