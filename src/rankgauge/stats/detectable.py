"""The smallest true difference that a new sample like this one would find significant, with a stated power.

The observed difference is removed first: this is about the next comparison, not about the one at hand. A true
difference is imposed in two ways, and the larger answer counts. As a shift, every query changes by the same amount. As
sparse changes, a share of the queries changes one way by amounts like those observed and the others not at all: few
queries carry the whole difference, and fewer than ten are tested as a sparse row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from rankgauge.stats.distributions import special
from rankgauge.stats.draws import Draws, RandomStream, UnitRow
from rankgauge.stats.samples import Floats
from rankgauge.stats.sparse_rows import FEWEST_VARYING, Side, one_way_significant, toward

POWER = 0.8
_MOST_SAMPLES, _FEWEST_SAMPLES, _DRAWN_SIZES = 200, 20, 1 << 18  # of sparse changes
_STEPS = 40


class CriticalValue(Protocol):
    """A side of a row that is tested."""

    @property
    def critical(self) -> float:
        """How far from the mean the bound is, in errors."""

    @property
    def error(self) -> float:
        """The error of the mean, which may be wider than its standard error."""


def detectable_shift(shift: Floats, error: Floats, side: Side, critical: float, power: float) -> float:
    """The shift toward one side that is significant in a share ``power`` of the draws."""
    return float(np.quantile(critical * error - toward(side, shift), power))


def detectable_changes(
    row: UnitRow, critical: float, outside: float, power: float, stream: RandomStream
) -> float | None:
    """The mean difference of one-way changes, of the observed sizes, that is significant with the stated power.

    ``outside`` is the probability beyond one end that a sparse row is tested with.
    """
    data = row.sample
    sizes = np.abs(data.contributions[data.totals != 0])
    power_of = _power_by_count(sizes, data.units, critical, outside, stream)
    low, high = 0.0, 1.0
    if _power(high, power_of) < power:
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, power_of) >= power else (middle, high)
    return high * float(sizes.mean())


def _power_by_count(sizes: Floats, units: int, critical: float, outside: float, stream: RandomStream) -> Floats:
    """How often 0, 1, 2 … one-way changes among the units are significant."""
    samples = max(_FEWEST_SAMPLES, min(_MOST_SAMPLES, _DRAWN_SIZES // units))
    drawn = sizes[stream.child("changes").bits().below(len(sizes), samples, units + units % 2)[:, :units]]
    total, squares = np.cumsum(drawn, axis=1), np.cumsum(np.square(drawn), axis=1)
    scatter = np.maximum(squares - np.square(total) / units, 0.0)
    largest = np.maximum.accumulate(drawn, axis=1)
    significant = one_way_significant(total, squares, largest, units, outside)
    many = slice(min(FEWEST_VARYING - 1, units), None)
    is_unlikely = 0.5 ** np.arange(1, units + 1) <= outside
    significant[:, many] |= (total > critical * np.sqrt(units / (units - 1) * scatter))[:, many] & is_unlikely[many]
    return np.concatenate([[0.0], significant.mean(axis=0)])


def _power(share: float, power_of: Floats) -> float:
    """The power if each unit changes with a probability."""
    units = len(power_of) - 1
    middle, reach = units * share, 8 * math.sqrt(units * share * (1 - share)) + 8
    counts = np.arange(max(0, math.floor(middle - reach)), min(units, math.ceil(middle + reach)) + 1)
    at_most = np.asarray(special().bdtr(counts.astype(np.float64), units, share))
    exactly = at_most.copy()
    exactly[1:] -= at_most[:-1]
    return float(exactly @ power_of[counts])


def detectable_difference_of(
    row: UnitRow,
    draws: Draws,
    index: int,
    by_side: Mapping[Side, CriticalValue],
    outside: float,
    stream: RandomStream,
) -> float | None:
    """The largest answer of both kinds and of each side; None if no difference would be significant."""
    found = []
    for side, test in by_side.items():
        if not math.isfinite(test.critical):
            return None
        shift = detectable_shift(draws.shift[index], draws.error[index], side, test.critical, POWER)
        changes = detectable_changes(row, test.critical, outside, POWER, stream)
        found.append(max(shift, changes or 0.0) * (test.error / row.sample.standard_error))
    return max(found)
