"""A bag of words, hashed into a fixed number of dimensions. Needs only NumPy.

Each word adds the square root of its count to one dimension, with a sign; both come from a hash of its bytes (the
hashing trick, https://doi.org/10.1145/1553374.1553516: signs make collisions cancel on average).
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.tables import Floats
from rankgauge.errors import UsageError
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.base import hashed_identity
from rankgauge.retrieval.embedders.hashing import hash_word, split_words
from rankgauge.retrieval.engines.stopwords import ENGLISH_STOP_WORDS


class BagOfWords:
    """Words as dimensions, without a model or idf: a baseline for real embedders."""

    name = "bow"
    reads_texts = True

    def __init__(self, dimensions: int = 2048) -> None:
        if dimensions < 1:
            raise UsageError(f"a bag of words needs at least one dimension, found {dimensions}")
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
