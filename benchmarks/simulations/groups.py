"""Groups of queries with the same true difference: how often is p of the test between groups at most 0.05?

The null hypothesis is true in every setting. Where groups have the same distribution, the test is exact; where only
their means agree, it is approximate, and the table shows by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.simulations._populations import Population, draw
from benchmarks.simulations._tables import ALPHA, MOST_ERRORS, at_most, error_of, table
from rankgauge.stats import Resampling, interaction

DRAWS = 1500
SHUFFLES = 399
SEED = 20261

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, float], Floats]


@dataclass(frozen=True)
class Setting:
    """Groups by their sizes and scales, and how a difference with a mean of 0 is drawn."""

    distribution: str
    draw: Draw
    groups: Sequence[tuple[int, float]]

    def __str__(self) -> str:
        return " | ".join([self.distribution, ", ".join(f"{n} × {scale:g}" for n, scale in self.groups)])


def normal(rng: np.random.Generator, n: int, scale: float) -> Floats:
    return rng.normal(0, scale, n)


def skewed(rng: np.random.Generator, n: int, scale: float) -> Floats:
    return scale * (rng.exponential(size=n) - 1)


def discrete(rng: np.random.Generator, n: int, scale: float) -> Floats:
    """−1, 0 or 1, as of a hit at a cutoff; the scale is the share of queries that change."""
    return np.where(rng.random(n) < scale, rng.choice([-1.0, 1.0], n), 0.0)


SETTINGS = (
    Setting("normal", normal, [(5, 0.4), (40, 0.1)]),
    Setting("normal", normal, [(10, 0.2), (40, 0.2)]),
    Setting("normal", normal, [(10, 0.4), (90, 0.1)]),
    Setting("normal", normal, [(10, 0.1), (90, 0.4)]),
    Setting("normal", normal, [(20, 0.4), (20, 0.1)]),
    Setting("normal", normal, [(10, 0.4), (10, 0.3), (10, 0.2), (10, 0.1), (60, 0.1)]),
    Setting("skewed", skewed, [(5, 0.4), (40, 0.1)]),
    Setting("skewed", skewed, [(10, 0.4), (10, 0.1)]),
    Setting("skewed", skewed, [(10, 0.4), (40, 0.1)]),
    Setting("skewed", skewed, [(10, 0.4), (90, 0.1)]),
    Setting("skewed", skewed, [(20, 0.2), (20, 0.2)]),
    Setting("skewed", skewed, [(20, 0.4), (20, 0.1)]),
    Setting("skewed", skewed, [(20, 0.4), (40, 0.1)]),
    Setting("skewed", skewed, [(20, 0.4), (20, 0.2), (60, 0.1)]),
    Setting("skewed", skewed, [(30, 0.4), (70, 0.1)]),
    Setting("skewed", skewed, [(40, 0.4), (40, 0.1)]),
    Setting("−1, 0, 1", discrete, [(10, 0.1), (90, 0.1)]),
    Setting("−1, 0, 1", discrete, [(10, 0.6), (90, 0.1)]),
    Setting("−1, 0, 1", discrete, [(10, 0.05), (90, 0.4)]),
    Setting("−1, 0, 1", discrete, [(20, 0.0), (40, 0.1), (40, 0.4)]),
)


def rejection_rate(setting: Setting) -> float:
    """The share of draws whose p is at most alpha."""
    rng = np.random.default_rng(SEED)
    labels = [group for group, (n, _) in enumerate(setting.groups) for _ in range(n)]
    rejected = 0
    for number in range(DRAWS):
        differences = np.concatenate([setting.draw(rng, n, scale) for n, scale in setting.groups])
        p = interaction(differences, labels, resampling=Resampling(SHUFFLES, seed=number)).p
        rejected += p is not None and p <= ALPHA
    return rejected / DRAWS


def real(population: Population) -> dict[str, Draw]:
    """Differences of real runs minus their mean, in either direction; the scale multiplies them."""
    differences = population.differences(*population.pairs[0], ("nDCG@10",))[:, 0]
    middle = differences - differences.mean()
    name = f"{population.pair_name(population.pairs[0])}, nDCG@10"
    return {
        name: lambda rng, n, scale: scale * draw(rng, middle, n),
        f"{name}, turned": lambda rng, n, scale: -scale * draw(rng, middle, n),
    }


def settings(population: Population) -> Iterator[Setting]:
    """Those that are made up, then groups of real differences."""
    yield from SETTINGS
    for name, draw_differences in real(population).items():
        yield Setting(name, draw_differences, [(10, 1.0), (40, 1.0)])
        yield Setting(name, draw_differences, [(20, 1.0), (20, 0.25)])


def tables(population: Population) -> Iterator[str]:
    """A row for each setting."""
    yield population.description
    yield table(
        f"Test between groups, no true difference: share of {DRAWS:,} draws with p ≤ {ALPHA} ({SHUFFLES} shuffles, "
        f"seed {SEED}; {error_of(ALPHA, DRAWS)}; aim: at most {MOST_ERRORS:.0%})",
        ["differences", "groups: queries × scale", "p ≤ 0.05"],
        ([*str(one).split(" | "), at_most(rejection_rate(one))] for one in settings(population)),
    )
