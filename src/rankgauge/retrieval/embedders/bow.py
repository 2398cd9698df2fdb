"""A bag of words, hashed into a fixed number of dimensions. Needs nothing but NumPy.

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
from rankgauge.retrieval.embedders.hashing import number, words
from rankgauge.retrieval.engines.stopwords import ENGLISH


class BagOfWords:
    """Words as dimensions. No model, no idf: a floor to compare real embedders with."""

    name = "bow"
    reads_texts = True

    def __init__(self, dimensions: int = 2048) -> None:
        if dimensions < 1:
            raise UsageError(f"a bag of words needs at least one dimension, found {dimensions}")
        self.dimensions = dimensions
        self._skipped = {word.encode() for word in ENGLISH}
        self._places: dict[bytes, tuple[int, float]] = {}

    def identity(self) -> Identity:
        """The dimensions, and the version of the hash."""
        return {"embedder": self.name, "version": 1, "dimensions": self.dimensions}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[np.float64]:
        """A row for each text."""
        out: Floats = np.zeros((len(texts), self.dimensions))
        for row, text in zip(out, texts, strict=True):
            for word, count in Counter(words(text)).items():
                if word not in self._skipped:
                    place, sign = self._place(word)
                    row[place] += sign * math.sqrt(count)
        return out

    def _place(self, word: bytes) -> tuple[int, float]:
        if word not in self._places:
            made = number(word, b"rankgauge bow 1")
            self._places[word] = ((made >> 1) % self.dimensions, 1.0 if made & 1 else -1.0)
        return self._places[word]
