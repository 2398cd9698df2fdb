"""How much runs of the same system differ as a whole: noise that more queries do not average out, and
how often an unchanged system fails because of it.

A system that does not repeat itself has two kinds of noise. That of single queries is part of the standard error of a
difference already. That of a whole run, such as the random seed of an index, shifts many queries together, and only
several runs show it. Two-way analysis of variance of R runs × n queries estimates its variance,
τ² = max(0, (MS_runs − MS_error) / n). The difference between a new run and the mean of these R runs then has the
variance SE² + τ² · (1 + 1/R).

If that is 0 for one of several measures, which happens by chance with few runs, the ratio MS_runs / MS_error of that
measure is taken to be the median over all measures, if that is above 1: runs that differ as a whole do so on most
measures.

The variance may also come from other runs than those of the mean: groups of runs of the same system (``pooled_noise``).

The degrees of freedom are Satterthwaite's for a sum of mean squares, of which MS_runs has only R − 1: An approximate
distribution of estimates of variance components, Biometrics Bulletin 1946. They are at least R − 1, which is exact if
nothing but noise differs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rankgauge.stats.distributions import normal_cdf, special, t_quantile, t_tail
from rankgauge.stats.results import Alternative
from rankgauge.stats.samples import Floats, Sample, Units, unit_numbers

FEWEST_RUNS = 3


@dataclass(frozen=True, slots=True)
class RunNoise:
    """The noise of a run's mean, as some runs of the same system show it."""

    runs: int
    between: float  # τ²: the variance that all queries of a run share
    within: float  # the variance due to noise of single queries: MS_error / n
    ratio: float | None = None  # MS_runs / MS_error, if there is noise of single queries
    repeats: int | None = None  # degrees of freedom of the estimate, if it is not that of these runs: runs − 1

    @property
    def estimated(self) -> int:
        """The degrees of freedom of the estimated variance."""
        return self.runs - 1 if self.repeats is None else self.repeats

    @property
    def deviation(self) -> float:
        """τ, on the scale of the measure."""
        return math.sqrt(self.between)

    @property
    def is_none(self) -> bool:
        """Whether all runs are the same."""
        return self.between == self.within == 0

    @property
    def added(self) -> float:
        """What the difference between a new run and the mean of these runs adds to its squared standard error."""
        return self.between * (1 + 1 / self.runs)

    def error(self, standard_error: float) -> float:
        """The standard error of that difference, with the noise of whole runs."""
        return math.sqrt(standard_error**2 + self.added) if self.between else standard_error

    def degrees(self, standard_error: float, units: int) -> float:
        """The degrees of freedom of that error; ``units`` is the number of independent queries."""
        if not self.between:
            return units - 1.0
        return self.degrees_beside(standard_error, units, 1 + 1 / self.runs)

    def degrees_beside(self, standard_error: float, units: int, factor: float) -> float:
        """The degrees of freedom of an error whose square has the variance of whole runs ``factor`` times."""
        uncertainty = (
            standard_error**4 / (units - 1)
            + (factor * (self.between + self.within)) ** 2 / self.estimated
            + (factor * self.within) ** 2 / (self.estimated * (units - 1))
        )
        squared = standard_error**2 + factor * self.between
        return min(max(squared**2 / uncertainty, float(self.estimated)), units - 1.0)

    def widened(self, standard_error: float, units: int, outside: float) -> float:
        """The error that takes the place of the standard error beside a critical value for ``units`` queries.

        ``outside`` is the probability beyond that critical value, which decides how much fewer degrees of freedom cost.
        """
        if not self.between:
            return standard_error
        degrees = self.degrees(standard_error, units)
        cost = t_quantile(1 - outside, degrees) / t_quantile(1 - outside, units - 1) if degrees < units - 1 else 1.0
        return self.error(standard_error) * max(1.0, cost)

    def p(self, data: Sample, alternative: Alternative) -> float:
        """The p of a mean difference by Student's t."""
        error = self.error(data.standard_error)
        t = data.mean / error if error else math.copysign(math.inf, data.mean) if data.mean else 0.0
        return t_tail(t, self.degrees(data.standard_error, data.units), alternative)

    def ends(self, data: Sample, alternative: Alternative, outside: float) -> tuple[float, float]:
        """The interval of a mean difference by Student's t, with the probability ``outside`` beyond each end."""
        standard_error = data.standard_error
        half = t_quantile(1 - outside, self.degrees(standard_error, data.units)) * self.error(standard_error)
        low = -math.inf if alternative == "less" else data.mean - half
        return low, math.inf if alternative == "greater" else data.mean + half


def run_noise(values: Floats, units: Units | None = None) -> RunNoise | None:
    """The noise of runs (rows) over the same queries (columns); None with fewer than 3 runs or 2 units.

    A query that lacks a value in any run is left out. Queries that share a unit count as one, as in a standard error.
    """
    return pooled_noise([values], len(values), units)


def pooled_noise(repeats: Sequence[Floats], runs: int, units: Units | None = None) -> RunNoise | None:
    """The noise in the mean of some runs, as groups of runs show it, each of the same system: rows of a matrix.

    The variances of the groups are averaged, weighted by their degrees of freedom; None if these are fewer than 2.
    """
    known = [parts for parts in (_mean_squares(values, units) for values in repeats) if parts is not None]
    degrees = sum(parts.degrees for parts in known)
    if degrees < FEWEST_RUNS - 1:
        return None
    total = sum(parts.total * parts.degrees for parts in known) / degrees
    within = sum(parts.within * parts.degrees for parts in known) / degrees
    ratio = total / within if within else None
    return RunNoise(runs, max(0.0, total - within), within, ratio, repeats=None if degrees == runs - 1 else degrees)


class _MeanSquares(NamedTuple):
    """The variance of the means of runs, and what noise of single queries has of it."""

    total: float
    within: float
    degrees: int


def _mean_squares(values: Floats, units: Units | None) -> _MeanSquares | None:
    """The variances of runs (rows) over the same queries (columns); None with fewer than 2 runs or 2 units."""
    complete = ~np.isnan(values).any(axis=0)
    unit = unit_numbers(units, values.shape[1])[complete]
    numbers, unit = np.unique(unit, return_inverse=True)
    runs, groups = len(values), len(numbers)
    if runs < 2 or groups < 2:
        return None
    kept = values[:, complete]
    shifts = kept - kept[0]  # exactly 0 if the runs are the same
    means = shifts.mean(axis=1)
    residuals = shifts - shifts.mean(axis=0) - means[:, np.newaxis] + means.mean()
    totals = np.array([np.bincount(unit, row, minlength=groups) for row in residuals])
    n = kept.shape[1]
    within = float(np.square(totals).sum()) * groups / (groups - 1) / (runs - 1) / n**2
    total = float(np.square(means - means.mean()).sum()) / (runs - 1)
    return _MeanSquares(total, within, runs - 1)


def family_noise(noises: Sequence[RunNoise | None]) -> tuple[RunNoise | None, ...]:
    """The noise of several measures of the same runs; an estimate of 0 gives way to what most of the others show."""
    ratios = [noise.ratio for noise in noises if noise is not None and noise.ratio is not None]
    excess = max(0.0, float(np.median(ratios)) - 1) if ratios else 0.0
    return tuple(
        replace(noise, between=excess * noise.within) if noise is not None and not noise.between else noise
        for noise in noises
    )


# How often a new run of an unchanged system fails against a stored baseline, which has its own luck.
#
# Over all baselines the share is alpha, but the same baseline serves many builds. One that is too good by chance
# fails many of them, and one whose runs are alike by chance does too. Both are accounted for. In units of the
# standard deviation of a run's mean, s² = τ² + MS_error / n, the mean of R runs is off by z / √R with a standard
# normal z, the estimate of s² is s² · χ² / (R − 1) with R − 1 degrees of freedom, and a drop fails beyond a threshold
# h that the test derives from that estimate. So the share of failing builds is Φ(z / √R − h(χ²)). Its quantile y over
# z and χ² solves P(z / √R − h(χ²) > Φ⁻¹(y)) = 1 − q.

_NODES = 256  # of the distribution of the estimated variance
_STEPS = 40
_WIDEST = 40.0  # standard deviations


def false_alarm_quantile(
    noise: RunNoise, units: int, *, alpha: float = 0.05, margin: float = 0.0, share: float = 0.95
) -> float | None:
    """The quantile over baselines, at ``share``, of the share of builds that fail although nothing changed.

    ``alpha`` is that of the one-sided test of a drop, ``margin`` the smallest drop that fails, and ``units`` the number
    of independent queries. None if all runs are the same, and so is every new one.
    """
    if noise.is_none:
        return None
    thresholds = np.array([_threshold(noise, units, chi, alpha, margin) for chi in _scaled_chi_squares(noise.runs - 1)])
    root = math.sqrt(noise.runs)
    low, high = -_WIDEST, _WIDEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        beyond = float(np.mean(special().ndtr(-(middle + thresholds) * root)))
        low, high = (middle, high) if beyond > 1 - share else (low, middle)
    return normal_cdf(high)


def _scaled_chi_squares(degrees: int) -> list[float]:
    """χ² / degrees at evenly spaced probabilities."""
    values: list[float] = (special().chdtri(degrees, (np.arange(_NODES) + 0.5) / _NODES) / degrees).tolist()
    return values


def _threshold(noise: RunNoise, units: int, chi: float, alpha: float, margin: float) -> float:
    """The drop that fails, in standard deviations of a run's mean, if their variance is estimated as chi times it."""
    variance = noise.between + noise.within
    estimated = RunNoise(noise.runs, max(0.0, variance * chi - noise.within), noise.within)
    error = math.sqrt(noise.within * (1 + 1 / noise.runs))
    half = t_quantile(1 - alpha, units - 1) * estimated.widened(error, units, alpha)
    return max(half, margin) / math.sqrt(variance)
