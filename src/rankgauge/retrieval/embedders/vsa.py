"""Hyperdimensional vectors (a vector symbolic architecture). Needs nothing but NumPy.

A word is a vector of ±1 drawn from SHAKE-256 of its bytes, so that any two are nearly orthogonal. *Bundling* is
addition: a text is the sum of its words. *Binding* of neighbours is the product, component by component, of the first
word's vector rotated by one place with the second's, which is unlike either and unlike the pair turned round; bound
pairs are added with half weight. All sums are of whole numbers and halves, hence exact. Kanerva,
https://doi.org/10.1007/s12559-009-9009-8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.tables import Floats
from rankgauge.errors import UsageError
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.hashing import bits, words
from rankgauge.retrieval.engines.stopwords import ENGLISH

REMEMBERED = 1 << 15  # words whose vectors are kept


class Hyperdimensional:
    """Words and pairs of neighbours, superposed."""

    name = "vsa"
    reads_texts = True

    def __init__(self, dimensions: int = 2048, pairs: float = 0.5) -> None:
        if dimensions < 8 or dimensions % 8:
            raise UsageError(f"dimensions must be a multiple of 8, found {dimensions}")
        if not 0 <= pairs <= 1:
            raise UsageError(f"the weight of pairs must be from 0 to 1, found {pairs:g}")
        self.dimensions, self.pairs = dimensions, pairs
        self._skipped = {word.encode() for word in ENGLISH}
        self._vectors: dict[bytes, NDArray[np.int8]] = {}

    def identity(self) -> Identity:
        """The dimensions, the weight of pairs, and the version of the drawing."""
        return {"embedder": self.name, "version": 1, "dimensions": self.dimensions, "pairs": self.pairs}

    def embed(self, ids: list[bytes], texts: list[str], side: str) -> NDArray[np.float64]:
        """A row for each text."""
        out: Floats = np.zeros((len(texts), self.dimensions))
        for row, text in enumerate(texts):
            found = [word for word in words(text) if word not in self._skipped]
            if found:
                each = np.stack([self._vector(word) for word in found])
                out[row] = each.sum(axis=0, dtype=np.int64)
                bound = np.roll(each[:-1], 1, axis=1) * each[1:]
                out[row] += self.pairs * bound.sum(axis=0, dtype=np.int64)
        return out

    def _vector(self, word: bytes) -> NDArray[np.int8]:
        if word not in self._vectors:
            if len(self._vectors) >= REMEMBERED:
                self._vectors.clear()
            self._vectors[word] = bits(word, self.dimensions).astype(np.int8) * 2 - 1
        return self._vectors[word]
