"""Hyperdimensional vectors (a vector symbolic architecture). Needs only NumPy.

A word is a vector of ±1 drawn from SHAKE-256 of its bytes, so that any two are nearly orthogonal. *Bundling* is
addition: a text is the sum of its words. *Binding* of neighbors is the componentwise product of the first word's
vector, rotated by one position, with the second's; it resembles neither, nor the same pair in reverse. Bound pairs are
added with half weight. All sums are of integers and halves, hence exact. Kanerva,
https://doi.org/10.1007/s12559-009-9009-8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.tables import Floats
from rankgauge.errors import UsageError
from rankgauge.retrieval.base import Identity
from rankgauge.retrieval.embedders.base import hashed_identity
from rankgauge.retrieval.embedders.hashing import random_bits, split_words
from rankgauge.retrieval.engines.stopwords import ENGLISH_STOP_WORDS

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
