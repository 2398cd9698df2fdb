"""Differences whose true mean is 0, as functions of a random generator and a number of queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.simulations._populations import Floats, draw

Null = Callable[[np.random.Generator, int], Floats]  # one column


def swapped(differences: Floats) -> Null:
    """Two systems swapped at random in each query: nothing tells them apart."""
    return lambda rng, n: np.asarray(draw(rng, differences, n) * rng.choice([-1.0, 1.0], n))


def centered(differences: Floats) -> Null:
    """Real differences minus their mean: as skewed as they are."""
    return lambda rng, n: draw(rng, differences - differences.mean(), n)


def asymmetric(share: float) -> Null:
    """Many tiny losses, and gains of 0.5 for a share of the queries."""
    loss = 0.5 * share / (1 - share)

    def draw_differences(rng: np.random.Generator, n: int) -> Floats:
        gains = rng.random(n) < share
        return np.where(gains, 0.5, -loss * rng.uniform(0.5, 1.5, n))

    return draw_differences


def sparse(share: float) -> Null:
    """A share of the queries changes, by −1 or 1."""
    return lambda rng, n: np.where(rng.random(n) < share, rng.choice([-1.0, 1.0], n), 0.0)


def exponential(sign: float) -> Null:
    """One long tail: of gains, or of losses if the sign is negative."""
    return lambda rng, n: np.asarray(sign * 0.2 * (rng.exponential(size=n) - 1.0))
