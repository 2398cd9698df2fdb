"""Words hashed into vectors: embedders that need only NumPy.

With hashed words, each word adds the square root of its count to one dimension, with a sign; both come from a hash of
its bytes (the hashing trick, https://doi.org/10.1145/1553374.1553516). Different words may share a dimension: their
signs make such collisions cancel on average, but two texts without a common word can have a cosine other than 0.

In a vector symbolic architecture, a word is a hyperdimensional vector of ±1 drawn from SHAKE-256 of its bytes, so that
any two are nearly orthogonal. *Bundling* is addition: a text is the sum of its words. *Binding* of neighbors is the
componentwise product of the first word's vector, rotated by one position, with the second's; it resembles neither, nor
the same pair in reverse. Bound pairs are added with half weight. All sums are of integers and halves, hence exact.
Kanerva, https://doi.org/10.1007/s12559-009-9009-8.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.errors import UsageError
from rankgauge.retrieval.embedders.embedder import hashed_identity
from rankgauge.retrieval.language import ENGLISH_STOP_WORDS
from rankgauge.retrieval.retriever import Identity


class HashedWords:
    """Words hashed to dimensions, without a model or idf: a baseline for real embedders."""

    name = "hashed"
    reads_texts = True

    def __init__(self, dimensions: int = 2048) -> None:
        if dimensions < 1:
            raise UsageError(f"hashed words need at least one dimension, found {dimensions}")
        self.dimensions = dimensions
        self._stop_words = {word.encode() for word in ENGLISH_STOP_WORDS}
        self._dimension_and_sign: dict[bytes, tuple[int, float]] = {}

    def identity(self) -> Identity:
        """The number of dimensions, and the version of the hash."""
        return hashed_identity("embedder", self.name, version=1, dimensions=self.dimensions)

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[np.float64]:
        """One row per text."""
        out: Floats = np.zeros((len(texts), self.dimensions))
        for row, text in zip(out, texts, strict=True):
            for word, count in Counter(split_words(text)).items():
                if word not in self._stop_words:
                    dimension, sign = self._place_word(word)
                    row[dimension] += sign * math.sqrt(count)
        return out

    def _place_word(self, word: bytes) -> tuple[int, float]:
        if word not in self._dimension_and_sign:
            bits = hash_word(word, b"rankgauge bow 1")
            self._dimension_and_sign[word] = ((bits >> 1) % self.dimensions, 1.0 if bits & 1 else -1.0)
        return self._dimension_and_sign[word]


CACHED_WORDS = 1 << 15  # words whose vectors are kept


class HyperdimensionalEmbedder:
    """The weighted sum of words and of pairs of neighbors."""

    name = "vsa"
    reads_texts = True

    def __init__(self, dimensions: int = 2048, pairs: float = 0.5) -> None:
        if dimensions < 8 or dimensions % 8:
            raise UsageError(f"dimensions must be a multiple of 8, found {dimensions}")
        if not 0 <= pairs <= 1:
            raise UsageError(f"the weight of pairs must be from 0 to 1, found {pairs:g}")
        self.dimensions, self.pairs = dimensions, pairs
        self._stop_words = {word.encode() for word in ENGLISH_STOP_WORDS}
        self._vectors: dict[bytes, NDArray[np.int8]] = {}

    def identity(self) -> Identity:
        """The number of dimensions, the weight of pairs, and the version of the random vectors."""
        return hashed_identity("embedder", self.name, version=1, dimensions=self.dimensions, pairs=self.pairs)

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[np.float64]:
        """One row per text."""
        out: Floats = np.zeros((len(texts), self.dimensions))
        for row, text in enumerate(texts):
            words = [word for word in split_words(text) if word not in self._stop_words]
            if words:
                word_vectors = np.stack([self._word_vector(word) for word in words])
                out[row] = word_vectors.sum(axis=0, dtype=np.int64)
                bound_pairs = np.roll(word_vectors[:-1], 1, axis=1) * word_vectors[1:]
                out[row] += self.pairs * bound_pairs.sum(axis=0, dtype=np.int64)
        return out

    def _word_vector(self, word: bytes) -> NDArray[np.int8]:
        if word not in self._vectors:
            if len(self._vectors) >= CACHED_WORDS:
                self._vectors.clear()
            self._vectors[word] = random_bits(word, self.dimensions).astype(np.int8) * 2 - 1
        return self._vectors[word]


# Numbers from a word's bytes, the same on every machine and in every process.

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
