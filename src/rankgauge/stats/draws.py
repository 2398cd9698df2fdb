"""Seeded random bits, and the bootstrap draws of many rows at once.

The bits depend on a seed and labels only, not on the platform, the threads or the version of NumPy.
Every stream has its own key, the SHA-256 of the seed and of what the stream is for (test, pair, measure, block), and
its bits are the raw output of Philox4x64-10 (Salmon et al., SC 2011), which is fixed by its definition. NumPy's
Generator methods and its SeedSequence are not used: the streams of the former may change between versions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.progress import phase
from rankgauge.errors import InputError, InputTypeError, UsageError
from rankgauge.stats.results import PERMUTATIONS as PERMUTATIONS
from rankgauge.stats.results import RESAMPLES as RESAMPLES
from rankgauge.stats.samples import Floats, Ints, Sample, Units, sample, unit_numbers

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


# Bootstrap draws of several rows of differences at once.
#
# A draw is a count for each unit: how often it was drawn. The sums of a row over the drawn units are then a matrix
# product. Every column of that product is rounded to whole numbers small enough for all sums to be exact, so the
# result does not depend on the order in which a linear algebra library adds them up.

DRAWS_BEYOND = 10  # draws that exceed a critical value at least, on average
MAX_DRAWS = 1_000_000
_COUNTS_IN_MEMORY = 1 << 18  # small enough for a cache
_PRODUCTS_PER_CALL = 200_000  # OpenBLAS starts its threads, which spin between calls, for about 260,000
_FEWEST_DRAWS_PER_CALL = 64  # of a call; fewer cost more in calls than they save
_EXACT_BITS = 52  # sums of whole floats below 2 to this power are exact
_ROUNDING = 1e-9  # of a sum of squares; a smaller spread is rounding


@dataclass(frozen=True, eq=False)
class UnitRow:
    """The differences of one row on its own queries, and their residuals and sizes on the units of all rows."""

    sample: Sample
    residuals: Floats  # of the units' totals; 0 for a unit without a difference
    sizes: Floats  # queries per unit; 0 for a unit without a difference
    totals: Floats  # of the units, in quanta; 0 for a unit without a difference

    @cached_property
    def varying(self) -> int:
        """The number of units that differ from the value that more than half of them have, or else from 0."""
        if not self.sample.units:
            return 0
        means = np.rint(self.sample.totals / self.sample.sizes)
        equal = int(np.unique(means, return_counts=True)[1].max())
        return self.sample.units - equal if 2 * equal > self.sample.units else int(np.count_nonzero(means))

    @cached_property
    def changed(self) -> int:
        """The number of units that differ from 0."""
        return int(np.count_nonzero(np.rint(self.sample.totals / self.sample.sizes)))

    @property
    def is_complete(self) -> bool:
        """Whether every unit is one query that has a difference."""
        return bool((self.sizes == 1).all())


def draws_for_level(level: float) -> int:
    """How many draws make a level reachable, with some to spare; raises if these are too many."""
    if level * MAX_DRAWS < DRAWS_BEYOND:
        raise UsageError(
            f"a level of {level:.2g} needs more than {MAX_DRAWS:,} draws, so hardly any change would be significant",
            hint="lower the confidence, or test fewer systems, measures or groups at once",
        )
    return math.ceil(DRAWS_BEYOND / level - 1e-9)


def difference_matrix(differences: ArrayLike) -> Floats:
    """Differences as numbers: one row per query, NaN where there is none."""
    try:
        values = np.asarray(differences, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"differences must be numbers: {error}") from error
    if values.ndim != 2:
        raise InputError(f"differences must have 2 dimensions, found {values.ndim}")
    if np.isinf(values).any():
        raise InputError("differences must be finite; NaN marks a query without a difference")
    return values


def unit_rows(differences: Floats, units: Units | None = None) -> list[UnitRow]:
    """One row per column of ``differences``, whose rows are queries."""
    unit = unit_numbers(units, len(differences))
    return [_unit_row(column, unit) for column in differences.T]


def _unit_row(column: Floats, unit: Ints) -> UnitRow:
    present = np.flatnonzero(~np.isnan(column))
    own = unit[present]
    data = sample(column[present], own, name="differences")
    total = int(unit.max(initial=-1)) + 1
    residuals, sizes, totals = np.zeros(total), np.zeros(total), np.zeros(total)
    of_unit = own[np.unique(data.unit, return_index=True)[1]]
    if len(data):
        residuals[of_unit] = data.residuals / data.scale
        sizes[of_unit] = data.sizes
        totals[of_unit] = data.totals
    return UnitRow(data, residuals, sizes, totals)


@dataclass(frozen=True, eq=False)
class Draws:
    """Of each row (first axis) in each draw (second): the mean minus the observed mean, and its standard error."""

    shift: Floats
    error: Floats

    @cached_property
    def t(self) -> Floats:
        """The shift in standard errors; infinite without spread, 0 if nothing shifted either."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.shift / self.error
        t[np.isnan(t)] = 0.0
        return t


def draw(rows: Sequence[UnitRow], resamples: int, stream: RandomStream) -> Draws:
    """Draw units with replacement, the same ones for every row."""
    residuals, sizes = (np.column_stack([getattr(row, name) for row in rows]) for name in ("residuals", "sizes"))
    units = len(residuals)
    columns = [residuals, np.square(residuals)]
    complete = all(row.is_complete for row in rows)
    if not complete:
        columns += [sizes, sizes * residuals, np.square(sizes), np.where(sizes > 0, 1.0, 0.0)]
    parts = []
    whole, scale = _whole_numbers(np.hstack(columns))
    for counts in drawn_counts(units, resamples, stream):
        sums = np.split(_product(counts, whole) / scale, len(columns), axis=1)
        parts.append(_shift_and_error(sums, units, complete=complete))
    shift, error = (np.concatenate([part[index] for part in parts]).T for index in (0, 1))
    return Draws(np.ascontiguousarray(shift), np.ascontiguousarray(error))


def drawn_counts(units: int, resamples: int, stream: RandomStream) -> Iterator[Floats]:
    """How often each unit is drawn (columns) in each of a batch of draws (rows)."""
    most = max(1, _COUNTS_IN_MEMORY // units)
    for number, size in blocks(resamples):
        bits = stream.child(f"block {number}").bits()
        for start in range(0, size, most):
            batch = min(most, size - start)
            cells = bits.below(units, batch, units + units % 2)[:, :units]
            cells += np.arange(batch)[:, np.newaxis] * units
            yield np.bincount(cells.ravel(), minlength=batch * units).reshape(batch, units).astype(np.float64)


def _product(counts: Floats, whole: Floats) -> Floats:
    """The matrix product, in parts that a linear algebra library multiplies in one thread; all sums are exact.

    Parts are blocks of draws; columns of counts are split only if a block would have few draws, for they are copied.
    """
    units, columns = whole.shape
    draws = max(_FEWEST_DRAWS_PER_CALL, _PRODUCTS_PER_CALL // (units * columns))
    step = max(1, _PRODUCTS_PER_CALL // (min(draws, len(counts)) * columns))
    product = np.zeros((len(counts), columns))
    for first in range(0, len(counts), draws):
        part = product[first : first + draws]
        for start in range(0, units, step):
            part += counts[first : first + draws, start : start + step] @ whole[start : start + step]
    return product


def _whole_numbers(columns: Floats) -> tuple[Floats, Floats]:
    """The columns as whole numbers whose sums over any draw are exact, and the scale of each."""
    largest = np.maximum(np.abs(columns).max(axis=0), np.finfo(np.float64).tiny)
    bits = np.floor(_EXACT_BITS - np.log2(largest * len(columns)))
    scale = np.exp2(np.minimum(bits, 1000.0))
    return np.rint(columns * scale), scale


def _shift_and_error(sums: Sequence[Floats], units: int, *, complete: bool) -> tuple[Floats, Floats]:
    """The shift of the mean and its cluster-robust standard error, as ``Sample.standard_error`` defines it."""
    total, squares = sums[0], sums[1]
    if complete:
        shift = total / units
        scatter, n, drawn = squares - units * np.square(shift), float(units), float(units)
    else:
        _, _, n, cross, squared_sizes, drawn = sums  # type: ignore[assignment]  # arrays instead of numbers
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.where(n > 0, total / n, 0.0)
        scatter = squares - 2 * shift * cross + np.square(shift) * squared_sizes
    scatter = np.where(scatter <= _ROUNDING * squares, 0.0, scatter)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(drawn / (drawn - 1) * scatter) / n
    return shift, np.nan_to_num(error, nan=0.0, posinf=math.inf)
