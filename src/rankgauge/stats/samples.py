"""Values as whole numbers of a small quantum, so that ties are ties and sums are exact.

In floating point 0.6 − 0.5 is not 0.3 − 0.2, and a sum depends on its order. Here a value is rounded to twelve decimals
(fewer for values above 1) and kept as a whole number of quanta: equal differences are equal, and a sum is the same in
any order, on any machine, with any number of threads. Two sums may still differ by the rounding itself, half a quantum
per value; means closer than one quantum count as equal (see ``Sample.slack``).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.formatting import plural
from rankgauge.errors import InputError, InputTypeError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Units = Sequence[Hashable] | NDArray[Any]

DECIMALS = 12
_MAX_EXACT_FLOAT = 2.0**53  # whole floats below this are exact, and so are their sums


@dataclass(frozen=True, eq=False)
class Sample:
    """One value per query, as whole numbers of ``1 / scale``, and their total per unit.

    If no queries share a unit, each query is a unit. The whole numbers are stored as floats, which hold them exactly.
    """

    whole: Floats
    scale: float
    unit: Ints
    totals: Floats
    sizes: Floats  # queries per unit

    def __len__(self) -> int:
        return len(self.whole)

    @cached_property
    def values(self) -> Floats:
        """The values, rounded."""
        return self.whole / self.scale

    @cached_property
    def total(self) -> float:
        """The sum of all totals, in quanta."""
        return float(self.totals.sum())

    @cached_property
    def size(self) -> float:
        """The number of queries."""
        return float(self.sizes.sum())

    @cached_property
    def mean(self) -> float:
        """The mean over queries."""
        return self.total / self.size / self.scale

    @property
    def slack(self) -> float:
        """How far apart two sums of this many values may be, in quanta, and still count as equal."""
        return float(len(self))

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.totals)

    @property
    def shared(self) -> int | None:
        """The number of units if queries share them, otherwise None."""
        return self.units if self.units < len(self) else None

    @property
    def effective_units(self) -> float:
        """The number of units of equal size that tell as much."""
        return effective_number(self.sizes)

    @property
    def has_sizes(self) -> bool:
        """Whether some units are larger than others, or than one query."""
        return bool((self.sizes != 1).any())

    @cached_property
    def residuals(self) -> Floats:
        """Each unit's total minus its expected share: T − m · mean, in quanta."""
        return self.totals - self.sizes * (self.total / self.size)

    @property
    def contributions(self) -> Floats:
        """What each unit contributes to the mean, times the number of units: their plain mean is the mean."""
        return self.totals / self.size * self.units / self.scale

    @property
    def constant(self) -> bool:
        """Whether every unit has the same mean."""
        return bool(np.all(np.abs(self.residuals) <= self.sizes))

    @cached_property
    def standard_error(self) -> float:
        """The standard error of the mean, robust to dependence within a unit.

        sqrt(G / (G − 1) · Σ (T_g − m_g · mean)²) / Σ m_g over G units of size m_g and total T_g: the cluster-robust
        (CR1) error of an intercept, and that of survey sampling's ratio estimator; sd / √n with one query per unit.
        Cameron and Miller, A practitioner's guide to cluster-robust inference, J. Human Resources 2015.
        """
        return (
            math.sqrt(self.units / (self.units - 1) * float(np.square(self.residuals).sum())) / self.size / self.scale
        )

    def shifted(self, constant: float) -> Sample:
        """The sample with a constant added to every value."""
        return sample(self.values + constant, [*self.unit.tolist()])


def sample(
    values: ArrayLike,
    units: Units | None = None,
    *,
    largest: float = 0.0,
    name: str = "values",
) -> Sample:
    """A sample of one value per query. ``largest`` is the largest number behind the values, if they are differences."""
    numbers = vector(values, name)
    unit = unit_numbers(units, len(numbers))
    sizes = np.bincount(unit).astype(np.float64)
    decimals = DECIMALS
    top = max(float(np.abs(numbers).max(initial=0.0)), largest)
    while top > 1:
        top /= 10
        decimals -= 1
    heaviest = float(np.bincount(unit, np.abs(numbers)).max(initial=0.0)) * max(len(sizes), 1)
    heaviest = max(heaviest, float(np.abs(numbers).sum()))
    while heaviest * 10.0**decimals >= _MAX_EXACT_FLOAT:
        decimals -= 1
    scale = 10.0**decimals
    whole = np.rint(numbers * scale) + 0.0  # no −0
    return Sample(whole, scale, unit, np.bincount(unit, whole).astype(np.float64), sizes)


def paired(first: ArrayLike, second: ArrayLike | None, units: Units | None = None) -> Sample:
    """The differences, first minus second; without a second, the first must hold differences already."""
    left = vector(first, "first")
    if second is None:
        return sample(left, units, name="differences")
    right = vector(second, "second")
    if len(left) != len(right):
        raise InputError(
            f"paired values must have the same length, found {len(left)} and {len(right)}",
            hint="pair the two systems on the same queries first",
        )
    largest = float(max(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0)))
    return sample(left - right, units, largest=largest)


def vector(values: ArrayLike, name: str) -> Floats:
    """One finite number per query."""
    return _numbers(values, name, 1)


def matrix(values: ArrayLike, name: str) -> Floats:
    """Rows of finite numbers."""
    return _numbers(values, name, 2)


def _numbers(values: ArrayLike, name: str, dimensions: int) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"{name} must be numbers: {error}") from error
    if array.ndim != dimensions:
        raise InputError(f"{name} must have {plural(dimensions, 'dimension')}, found {array.ndim}")
    infinite = np.flatnonzero(~np.isfinite(array))
    if len(infinite):
        raise InputError(
            f"{name} must be finite, found {array.flat[infinite[0]]} at position {infinite[0]}"
            + (f" and {len(infinite) - 1} more" if len(infinite) > 1 else ""),
            hint="leave out the queries that have no value",
        )
    return array


def unit_numbers(units: Units | None, n: int) -> Ints:
    """Units as numbers from 0, in the order of their first query. Each None is its own unit."""
    if units is None:
        return np.arange(n)
    labels = units.tolist() if isinstance(units, np.ndarray) else list(units)
    if len(labels) != n:
        raise InputError(f"expected a unit for each query, found {len(labels)} for {plural(n, 'query')}")
    numbers: dict[object, int] = {}
    keys = [("alone", position) if label is None else ("unit", label) for position, label in enumerate(labels)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def effective_number(sizes: Floats) -> float:
    """The number of units of equal size that have the same variance: (Σ m)² / Σ m². Kish, Survey Sampling, 1965."""
    relative = sizes / sizes.max()
    return float(relative.sum()) ** 2 / float(np.square(relative).sum())


def too_few(data: Sample) -> str:
    """The reason why a spread cannot be estimated."""
    if len(data) < 2:
        return f"at least 2 queries are needed, found {len(data)}"
    return f"at least 2 units are needed, found {data.units} for {len(data)} queries"


def zeros_and_ones(values: ArrayLike, name: str) -> Floats:
    """The values; raises unless all are 0 or 1."""
    numbers = vector(values, name)
    others = np.flatnonzero((numbers != 0) & (numbers != 1))
    if len(others):
        raise InputError(
            f"{name} must be 0 or 1 for an interval of proportions, "
            f"found {numbers[others[0]]:g} at position {others[0]}",
            hint="use method='t' for any other measure",
        )
    return numbers
