"""The same random bits for the same seed and labels, whatever the platform, the threads or the version of NumPy.

Every stream has a key of its own, the SHA-256 of the seed and of what it is for (test, pair, measure, block), and its
bits are the raw output of Philox4x64-10 (Salmon et al., SC 2011), which is fixed by its definition. NumPy's Generator
methods and its SeedSequence are not used: the streams of the former may change between versions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import UsageError

BLOCK = 8192  # resamples that share a stream; a constant, or another block size would give other numbers


@dataclass(frozen=True, slots=True)
class RandomStream:
    """A source of random bits that is named by a seed and labels."""

    seed: int
    labels: tuple[str, ...] = ()

    def child(self, *labels: str) -> RandomStream:
        """The stream for a part of the work."""
        return RandomStream(self.seed, (*self.labels, *labels))

    @property
    def key(self) -> int:
        """128 bits. The length stands before each label, so that no two lists of labels are alike."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)):
            raise UsageError(f"a seed must be a whole number, found {self.seed!r}")
        digest = hashlib.sha256()
        for part in (str(int(self.seed)), *self.labels):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return int.from_bytes(digest.digest()[:16], "little")

    def source(self) -> RandomBits:
        """The bits, from the first."""
        return RandomBits(np.random.Philox(key=self.key))


@dataclass(frozen=True, slots=True)
class RandomBits:
    """Random bits, one after the other."""

    generator: np.random.Philox

    def bytes(self, rows: int, width: int) -> NDArray[np.uint8]:
        """Rows of random bytes; the width is a multiple of 8."""
        return self._words(rows * width // 8).view(np.uint8).reshape(rows, width)

    def below(self, bound: int, rows: int, width: int) -> NDArray[np.intp]:
        """Rows of random whole numbers from 0 to bound − 1; the width is even.

        By multiplication, u · bound / 2³²: probabilities are off by less than bound / 2³² of themselves.
        """
        halves = self._words(rows * width // 2).view(np.dtype("<u4")).reshape(rows, width)
        return ((halves * np.uint64(bound)) >> np.uint64(32)).astype(np.intp)

    def words(self, rows: int, width: int) -> NDArray[np.uint64]:
        """Rows of random words of 64 bits."""
        return self._words(rows * width).reshape(rows, width)

    def _words(self, count: int) -> NDArray[np.uint64]:
        return self.generator.random_raw(count).astype(np.dtype("<u8"), copy=False)


def blocks(resamples: int) -> list[tuple[int, int]]:
    """The number and the size of each block of resamples."""
    return [(place, min(BLOCK, resamples - start)) for place, start in enumerate(range(0, resamples, BLOCK))]
