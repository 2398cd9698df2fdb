"""The size of a paired difference: relative to its own spread, and in queries won and lost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.errors import UsageError
from rankgauge.stats.samples import paired, too_few

NO_DEVIATION = "all differences are equal, so their standard deviation is 0"


@dataclass(frozen=True, slots=True)
class Effect:
    """The size of a paired difference, first minus second."""

    n: int
    mean: float | None
    sd: float | None
    d_z: float | None
    hedges_g: float | None
    wins: int
    ties: int
    losses: int
    reason: str | None = None


def effect(first: ArrayLike, second: ArrayLike | None = None, *, tie: float = 0.0) -> Effect:
    """Cohen's d_z = mean / sd of the differences, Hedges' g = J(n − 1) · d_z, and wins, ties and losses.

    A difference of at most ``tie`` is a tie. Cohen, Statistical Power Analysis, 1988; Hedges, Distribution theory for
    Glass's estimator of effect size, J. Educational Statistics 1981.
    """
    if not 0 <= tie < math.inf:
        raise UsageError(f"tie must be a number of at least 0, found {tie!r}")
    data = paired(first, second)
    n = len(data)
    bound = round(tie * data.scale)
    wins, losses = int(np.count_nonzero(data.whole > bound)), int(np.count_nonzero(data.whole < -bound))
    if n < 2:
        return Effect(n, data.mean if n else None, None, None, None, wins, n - wins - losses, losses, too_few(data))
    sd = 0.0 if data.constant else data.standard_error * math.sqrt(n)
    d_z, reason = (data.mean / sd, None) if sd else (None, NO_DEVIATION)
    if not data.whole.any():
        d_z, reason = 0.0, None
    hedges = None if d_z is None or n < 3 else small_sample_factor(n - 1) * d_z
    if d_z is not None and hedges is None:
        reason = "Hedges' g needs at least 3 queries"
    return Effect(n, data.mean, sd, d_z, hedges, wins, n - wins - losses, losses, reason)


def small_sample_factor(df: int) -> float:
    """J(df) = Γ(df/2) / (sqrt(df/2) · Γ((df − 1)/2)), which removes the bias of d; about 1 − 3 / (4 df − 1)."""
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
