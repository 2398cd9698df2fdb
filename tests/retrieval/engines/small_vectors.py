"""An embedder for tests, which counts what it embeds."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cache

import numpy as np
from numpy.typing import NDArray

NAME = "tests.retrieval.engines.small_vectors:embed"
DIMENSIONS = 24
embedded: Counter[str] = Counter()  # documents, by their text
stop_at: str | None = None  # a text that interrupts the embedder


class Interrupted(Exception):
    """Raised at that text."""


def embed(texts: list[str], side: str) -> NDArray[np.float64]:
    """The sum of a pseudo-random vector per word."""
    if stop_at in texts:
        raise Interrupted
    if side == "document":
        embedded.update(texts)
    return np.array([sum((_word(word) for word in text.split()), np.zeros(DIMENSIONS)) for text in texts])


@cache
def _word(word: str) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.lower().encode()).digest()[:8], "big")
    vector: NDArray[np.float64] = np.random.default_rng(seed).normal(size=DIMENSIONS)
    return vector
