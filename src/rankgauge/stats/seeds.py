"""Random bits that depend on a seed and labels only, not on the platform, the threads or the version of NumPy.

Every stream has its own key, the SHA-256 of the seed and of what the stream is for (test, pair, measure, block), and
its bits are the raw output of Philox4x64-10 (Salmon et al., SC 2011), which is fixed by its definition. NumPy's
Generator methods and its SeedSequence are not used: the streams of the former may change between versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.progress import phase
from rankgauge.errors import UsageError
from rankgauge.stats.names import PERMUTATIONS as PERMUTATIONS
from rankgauge.stats.names import RESAMPLES as RESAMPLES

RESAMPLES_PER_BLOCK = (
    8192  # resamples that share a stream; a constant, because another block size would give different numbers
)


@dataclass(frozen=True, slots=True)
class RandomStream:
    """A stream of random bits, named by a seed and labels."""

    seed: int
    labels: tuple[str, ...] = ()

    def child(self, *labels: str) -> RandomStream:
        """The stream for a part of the work."""
        return RandomStream(self.seed, (*self.labels, *labels))

    @property
    def key(self) -> int:
        """128 bits. Each label is preceded by its length, so that different lists of labels have different keys."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)):
            raise UsageError(f"a seed must be a whole number, found {self.seed!r}")
        import hashlib  # here, because it is slow to import and a plain evaluation needs no random bits

        digest = hashlib.sha256()
        for part in (str(int(self.seed)), *self.labels):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return int.from_bytes(digest.digest()[:16], "little")

    def bits(self) -> RandomBits:
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

        By multiplication, u · bound / 2³²: the relative error of each probability is below bound / 2³².
        """
        halves = self._words(rows * width // 2).view(np.dtype("<u4")).reshape(rows, width)
        products = halves * np.uint64(bound)
        products >>= np.uint64(32)
        return products.view(np.int64).astype(np.intp, copy=False)

    def words(self, rows: int, width: int) -> NDArray[np.uint64]:
        """Rows of random words of 64 bits."""
        return self._words(rows * width).reshape(rows, width)

    def _words(self, count: int) -> NDArray[np.uint64]:
        return self.generator.random_raw(count).astype(np.dtype("<u8"), copy=False)


@dataclass(frozen=True, slots=True)
class Resampling:
    """How many permutations or bootstrap resamples to draw, and from which random stream.

    ``resamples=None`` is the default of each function. ``labels`` name what is resampled (the pair, the measure):
    different labels draw different bits from the same seed.
    """

    resamples: int | None = None
    seed: int = 0
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.resamples is not None and self.resamples < 1:
            raise UsageError(f"resamples must be at least 1, found {self.resamples!r}")

    def count(self, default: int) -> int:
        """The number of resamples, for a function with this default."""
        return default if self.resamples is None else self.resamples

    @property
    def stream(self) -> RandomStream:
        """The stream of random bits to draw from."""
        return RandomStream(self.seed, self.labels)


DEFAULT_RESAMPLING = Resampling()


def blocks(resamples: int) -> Iterator[tuple[int, int]]:
    """The number and the size of each block of resamples; each is reported when the next is asked for."""
    with phase("testing", "draw", resamples, is_part=True) as testing:
        for number, start in enumerate(range(0, resamples, RESAMPLES_PER_BLOCK)):
            size = min(RESAMPLES_PER_BLOCK, resamples - start)
            yield number, size
            testing.advance(size)
