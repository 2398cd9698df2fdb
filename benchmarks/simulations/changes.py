"""Change points: how often is one found if nothing changed, and how often is a change found, and where?

The noise of a query is normal, skewed, or a walk: a value that stays until a commit changes it. Nothing but the noise
of single queries differs between entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.simulations._populations import Population
from benchmarks.simulations._tables import ALPHA, SEED, at_most, error_of, table
from rankgauge.stats import Resampling, change_points

DRAWS = 1000
RESAMPLES = 499
SIZES = ((20, 10), (50, 5), (50, 20), (100, 50))  # queries, entries
SHIFTS = (0.03, 0.05, 0.1)
Floats = NDArray[np.float64]
Series = Callable[[np.random.Generator, int, int], Floats]


def normal(rng: np.random.Generator, n: int, times: int) -> Floats:
    return rng.normal(0.5, 0.2, (n, 1)) + rng.normal(0, 0.1, (n, times))


def skewed(rng: np.random.Generator, n: int, times: int) -> Floats:
    return np.where(rng.random((n, times)) < 0.1, 0.2, 1.0)


def walk(rng: np.random.Generator, n: int, times: int) -> Floats:
    steps = np.where(rng.random((n, times)) < 0.1, rng.normal(0, 0.2, (n, times)), 0.0)
    return np.cumsum(steps, axis=1)


SERIES: dict[str, Series] = {"normal": normal, "1, or 0.2 in 10%": skewed, "a walk": walk}


def false_alarms(series: Series, n: int, times: int) -> float:
    rng = np.random.default_rng(SEED)
    found = [
        change_points(series(rng, n, times), resampling=Resampling(RESAMPLES, seed)).points for seed in range(DRAWS)
    ]
    return float(np.mean([bool(points) for points in found]))


def detected(shift: float, changes: tuple[int, ...], times: int = 20) -> list[str]:
    """How often as many change points are found as there are changes, more than that, and at the right entry."""
    rng = np.random.default_rng(SEED)
    counts, exact = [], []
    for seed in range(max(1, DRAWS // 5)):
        values = normal(rng, 50, times)
        for number, place in enumerate(changes):
            values[:, place:] += shift * (-1) ** (number + 1)
        points = change_points(values, resampling=Resampling(RESAMPLES, seed)).points
        counts.append(len(points))
        exact += [float(np.mean([point.index in changes for point in points]))] if points else []
    found, wanted = np.array(counts), len(changes)
    right = f"{np.mean(exact):.0%}" if exact else "–"
    return [
        f"{np.mean(found > 0):.0%}",
        f"{np.mean(found == wanted):.0%}",
        at_most(float(np.mean(found > wanted))),
        right,
    ]


def tables(_population: Population) -> Iterator[str]:
    yield table(
        f"Nothing changed: share of sequences with a change point, alpha {ALPHA} ({DRAWS:,} draws, {RESAMPLES} sign "
        f"flips, {error_of(ALPHA, DRAWS)})",
        ["noise of a query", *(f"{n} queries, {times} entries" for n, times in SIZES)],
        ([name, *(at_most(false_alarms(series, *size)) for size in SIZES)] for name, series in SERIES.items()),
    )
    yield table(
        "50 queries, 20 entries, normal noise with a standard deviation of 0.1 per query: sequences with a change "
        "point, with as many as there are changes, with more; and change points at exactly the right entry",
        ["changes before entry", "of", "any", "all", "too many", "exact"],
        (
            [", ".join(str(place + 1) for place in changes), f"{shift}", *detected(shift, changes)]
            for changes in ((10,), (18,), (7, 14))
            for shift in SHIFTS
        ),
    )
