"""A gate on every build: false alarms in 1,000 builds without a change, and which true drops are found.

Builds share queries and a baseline. The noise of a query is normal, or rare and large, or skewed toward losses. A build
whose t is above −2.9 passes without its draws: no test at the levels of a sequence is significant there. Beside the
controls is the plain gate, at 5% in each build.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.simulations._populations import Population
from benchmarks.simulations._tables import ALPHA, SEED, at_most, table
from rankgauge.comparison.gate.online import OnlineBuild, at_level, online_tests
from rankgauge.comparison.statistics import Statistics
from rankgauge.comparison.testing import PairedColumns, family_tests, sign_flip_p
from rankgauge.stats.distributions import t_tail
from rankgauge.stats.online import ONLINE_CONTROLS, OnlineControl, online_level, sign_flip_e_value

QUERIES = 50
DRAWS = 200  # sequences
PERIOD = 1000
DROP_EVERY, DROPS = 50, (0.03, 0.05, 0.08)
SCREEN = -2.9
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Noise = Callable[[np.random.Generator, tuple[int, int]], Floats]


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(0, 0.1, shape)


def rare(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.where(rng.random(shape) < 0.15, rng.normal(0, 0.25, shape), 0.0)


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return 0.1 - rng.exponential(0.1, shape)


NOISES: dict[str, Noise] = {"normal": normal, "rare and large": rare, "skewed toward losses": skewed}


def fails(differences: Floats, build: OnlineBuild) -> bool:
    """Whether a build fails, as ``decide`` does it: by sign flips, and by the draws if these are not needless."""
    columns = PairedColumns(differences[:, np.newaxis], np.zeros((len(differences), 1)), ((-math.inf, math.inf),))
    statistics = at_level(Statistics(confidence=1 - build.alpha, alternative="less"), build.level)
    if build.control == "e-lond":
        return sign_flip_e_value(differences, level=build.alpha / build.builds) >= 1 / build.level
    if (sign_flip_p(columns, statistics)[0] or 0.0) > build.level:
        return False
    tests = family_tests(columns, statistics, sensitivity=False)
    p = online_tests(tests, columns, statistics, build)[0].p_corrected
    return p is not None and p <= build.level


def sequence(rng: np.random.Generator, noise: Noise, control: OnlineControl | None, drop: float) -> tuple[Flags, Flags]:
    """Which builds failed, and in which the retriever was worse; the plain gate is Student's t at 5%."""
    baseline = noise(rng, (1, QUERIES))
    differences = noise(rng, (PERIOD, QUERIES)) - baseline
    worse = (np.arange(PERIOD) % DROP_EVERY == DROP_EVERY - 1) & (drop > 0)
    differences[worse] -= drop
    t = differences.mean(axis=1) / (differences.std(axis=1, ddof=1) / math.sqrt(QUERIES))
    failed = np.zeros(PERIOD, dtype=bool)
    if control is None:
        failed[:] = [t_tail(value, QUERIES - 1, "less") <= ALPHA for value in t.tolist()]
        return failed, worse
    for number in np.flatnonzero(t < SCREEN).tolist():
        alarms = int(failed.sum())
        level = online_level(ALPHA, PERIOD, alarms, control)
        build = OnlineBuild("main", "c", number + 1, 1, PERIOD, ALPHA, control, level, alarms)
        failed[number] = fails(differences[number], build)
    return failed, worse


def rows() -> Iterator[list[str]]:
    for name, noise in NOISES.items():
        for control in (None, *ONLINE_CONTROLS):
            rng = np.random.default_rng(SEED)
            quiet = [sequence(rng, noise, control, 0.0)[0] for _ in range(DRAWS)]
            any_alarm = float(np.mean([failed.any() for failed in quiet]))
            cells = [name, control or "plain gate"]
            cells.append(f"{any_alarm:.1%}" if control is None else at_most(any_alarm))
            shares = []
            for drop in DROPS:
                found, share = [], []
                for _ in range(max(1, DRAWS // 10)):
                    failed, worse = sequence(rng, noise, control, drop)
                    found.append(failed[worse].mean())
                    share.append((failed & ~worse).sum() / max(1, failed.sum()))
                cells.append(f"{np.mean(found):.0%}")
                shares.append(float(np.mean(share)))
            yield [*cells, f"{max(shares):.1%}"]


def tables(_population: Population) -> Iterator[str]:
    yield table(
        f"Builds that share {QUERIES} queries and a baseline: P(any false alarm in {PERIOD:,} builds without a change) "
        f"over {DRAWS} sequences; and with a true drop in every {DROP_EVERY}th build, the share of drops found and the "
        "largest share of false alarms among alarms",
        ["noise", "control", "any false alarm", *(f"drop {drop}" for drop in DROPS), "false share"],
        rows(),
    )
