"""Values as whole numbers of a small quantum, so that ties are ties and sums are exact.

In floats 0.6 − 0.5 is not 0.3 − 0.2, and a sum depends on its order. Here a value is rounded to twelve decimals (fewer
for values above 1) and kept as a whole number of those: equal differences are equal, and a sum is the same in every
order, on every machine, in every number of threads. What two sums may still differ by is the rounding itself, half a
quantum a value; so means closer than one quantum are called equal, as ``Sample.slack`` says.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.errors import InputError, InputTypeError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Units = Sequence[Hashable] | NDArray[Any]

DECIMALS = 12
_EXACT = 2.0**53  # whole floats below this are exact, and so are their sums


@dataclass(frozen=True, eq=False)
class Sample:
    """One value for each query, as whole numbers of ``1 / scale``, and their totals for each unit.

    Where no queries share a unit, each query is one. The whole numbers are kept as floats, which hold them exactly.
    """

    whole: Floats
    scale: float
    unit: Ints
    totals: Floats
    sizes: Ints

    def __len__(self) -> int:
        return len(self.whole)

    @cached_property
    def values(self) -> Floats:
        """The values, rounded."""
        return self.whole / self.scale

    @cached_property
    def total(self) -> float:
        """The sum of all, in quanta."""
        return float(self.whole.sum())

    @cached_property
    def mean(self) -> float:
        """The mean over queries."""
        return self.total / len(self) / self.scale

    @property
    def slack(self) -> float:
        """How far two sums of as many values may be apart, in quanta, and still be called equal."""
        return float(len(self))

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.totals)

    @property
    def shared(self) -> int | None:
        """How many units there are, where queries share them."""
        return self.units if self.units < len(self) else None

    @cached_property
    def residuals(self) -> Floats:
        """What each unit's total is more than its share: T − m · mean, in quanta."""
        return self.totals - self.sizes * (self.total / len(self))

    @property
    def constant(self) -> bool:
        """Whether every unit has the same mean."""
        return bool(np.all(np.abs(self.residuals) <= self.sizes))

    @cached_property
    def standard_error(self) -> float:
        """Of the mean, robust to anything shared within a unit.

        sqrt(G / (G − 1) · Σ (T_g − m_g · mean)²) / n over G units of size m_g and total T_g: the cluster-robust
        (CR1) error of an intercept, and the ratio estimator's of survey sampling. With one query a unit it is sd / √n.
        Cameron and Miller, A practitioner's guide to cluster-robust inference, J. Human Resources 2015.
        """
        return (
            math.sqrt(self.units / (self.units - 1) * float(np.square(self.residuals).sum())) / len(self) / self.scale
        )

    def shifted(self, by: float) -> Sample:
        """The same with a constant added to every value."""
        return sample(self.values + by, [*self.unit.tolist()])


def sample(values: ArrayLike, units: Units | None = None, *, largest: float = 0.0, name: str = "values") -> Sample:
    """One value for each query. ``largest`` is the largest number that the values are differences of."""
    found = vector(values, name)
    unit = unit_numbers(units, len(found))
    sizes = np.bincount(unit, minlength=0).astype(np.int64)
    decimals = DECIMALS
    top = max(float(np.abs(found).max(initial=0.0)), largest)
    while top > 1:
        top /= 10
        decimals -= 1
    heaviest = float(np.bincount(unit, np.abs(found)).max(initial=0.0)) * max(len(sizes), 1)
    heaviest = max(heaviest, float(np.abs(found).sum()))
    while heaviest * 10.0**decimals >= _EXACT:
        decimals -= 1
    scale = 10.0**decimals
    whole = np.rint(found * scale) + 0.0  # no −0
    return Sample(whole, scale, unit, np.bincount(unit, whole, minlength=0).astype(np.float64), sizes)


def paired(first: ArrayLike, second: ArrayLike | None, units: Units | None = None) -> Sample:
    """The differences, first minus second; or the first alone where it holds differences already."""
    left = vector(first, "first")
    if second is None:
        return sample(left, units, name="differences")
    right = vector(second, "second")
    if len(left) != len(right):
        raise InputError(
            f"paired values must be as many on both sides, found {len(left)} and {len(right)}",
            hint="pair the two systems over the same queries first",
        )
    largest = float(max(np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0)))
    return sample(left - right, units, largest=largest)


def vector(values: ArrayLike, name: str) -> Floats:
    """One number for each query, all of them finite."""
    return _numbers(values, name, 1)


def matrix(values: ArrayLike, name: str) -> Floats:
    """Rows of numbers, all of them finite."""
    return _numbers(values, name, 2)


def _numbers(values: ArrayLike, name: str, dimensions: int) -> Floats:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"{name} must be numbers: {error}") from error
    if found.ndim != dimensions:
        raise InputError(f"{name} must have {dimensions} dimension{'s' * (dimensions > 1)}, found {found.ndim}")
    odd = np.flatnonzero(~np.isfinite(found))
    if len(odd):
        raise InputError(
            f"{name} must be finite, found {found.flat[odd[0]]} at position {odd[0]}"
            + (f" and {len(odd) - 1} more" if len(odd) > 1 else ""),
            hint="leave out the queries that have no value",
        )
    return found


def unit_numbers(units: Units | None, n: int) -> Ints:
    """Units as numbers from 0, in the order of their first query. None is a unit of its own."""
    if units is None:
        return np.arange(n)
    labels = units.tolist() if isinstance(units, np.ndarray) else list(units)
    if len(labels) != n:
        raise InputError(f"there must be a unit for each query, found {len(labels)} for {n}")
    numbers: dict[object, int] = {}
    keys = [("alone", place) if label is None else ("unit", label) for place, label in enumerate(labels)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def few(found: Sample) -> str:
    """Why there is no spread to see."""
    if len(found) < 2:
        return f"at least 2 queries are needed, found {len(found)}"
    return f"at least 2 units are needed, found {found.units} for {len(found)} queries"
