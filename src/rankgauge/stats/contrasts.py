"""Contrasts of series: the mean of some columns after a split minus the mean of as many before it.

As many on both sides, because only then is a contrast symmetric about 0 if nothing changed, however skewed the noise of
a query is: one column against nine others is as skewed as that noise, and tests that flip signs would call it a change.

Moving sums of several widths: Eichinger and Kirch, A MOSUM procedure for the estimation of multiple random change
points, Bernoulli 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankgauge.stats.samples import DECIMALS, Floats, Ints


def balanced_splits(length: int) -> Ints:
    """Rows of a first column, the first after a split, and the end; each split has several widths.

    Widths are powers of √2, rounded, and the widest that there is room for.
    """
    widths = sorted({round(2 ** (power / 2)) for power in range(2 * length.bit_length())})
    rows = [
        (split - width, split, split + width)
        for split in range(1, length)
        for width in sorted({*widths, min(split, length - split)})
        if width <= min(split, length - split)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


@dataclass(frozen=True, eq=False)
class SeriesSums:
    """Sums up to each column, from which every contrast is made."""

    sums: Floats  # queries × (columns + 1): of value · runs
    weights: Floats  # the same of runs, for columns in which the query has a value
    unit: Ints
    runs: Floats  # sums of runs up to each column

    @classmethod
    def of(cls, values: Floats, runs: Floats, unit: Ints) -> SeriesSums:
        """The sums of values, queries × columns, of which each column is the mean of some runs."""
        present = ~np.isnan(values)
        first = np.zeros((len(values), 1))
        weight = present * runs
        sums = np.hstack([first, np.cumsum(np.where(present, values, 0.0) * weight, axis=1)])
        return cls(sums, np.hstack([first, np.cumsum(weight, axis=1)]), unit, np.concatenate([[0.0], np.cumsum(runs)]))

    def contrasts(self, splits: Ints) -> Floats:
        """Queries × splits: the mean after minus the mean before; NaN if a side has no value."""
        begin, middle, end = splits.T
        with np.errstate(divide="ignore", invalid="ignore"):
            before, after = (
                (self.sums[:, high] - self.sums[:, low]) / (self.weights[:, high] - self.weights[:, low])
                for low, high in ((begin, middle), (middle, end))
            )
        return np.asarray(after - before)

    def unit_totals(self, contrasts: Floats) -> Floats:
        """Units × splits, as whole numbers of a small quantum: sums are exact, and equal series have contrasts of 0."""
        totals = np.zeros((int(self.unit.max(initial=-1)) + 1, contrasts.shape[1]))
        np.add.at(totals, self.unit, np.nan_to_num(contrasts))
        largest = max(1.0, float(np.abs(totals).max(initial=0.0)))
        decimals = min(DECIMALS, math.floor(math.log10(2.0**53 / largest / max(1, len(totals)))))
        return np.asarray(np.rint(totals * 10.0**decimals))

    def noise_factor(self, splits: Ints) -> Floats:
        """How often the variance of a whole run counts in that of each contrast."""
        begin, middle, end = (self.runs[column] for column in splits.T)
        return np.asarray(1 / (middle - begin) + 1 / (end - middle))
