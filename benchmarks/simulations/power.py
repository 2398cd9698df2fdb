"""Is the printed detectable difference found in 80% of new samples?

A pilot of n queries prints a detectable difference. It is then the true difference of new samples of n queries: as a
shift of every query, or as one-way changes of some of them by amounts of the population. Pilots and samples are tested
with 999 resamples instead of 10,000, and by ``joint_test`` instead of ``compare``, which calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.simulations._families import RESAMPLES, check
from benchmarks.simulations._populations import DEFAULTS, RANGE, SIX, Floats, Population, draw
from benchmarks.simulations._tables import ALPHA, SEED, table
from rankgauge.stats import Resampling, joint_test
from rankgauge.stats.joint_tests import JointRow
from rankgauge.stats.results import Alternative

PILOTS, SAMPLES = 150, 7
SIZES = (20, 50, 200)


@dataclass(frozen=True, eq=False)
class Setting:
    """Differences of a family, of which the first is imposed, and the side that is tested."""

    label: str
    differences: Floats  # queries × measures
    alternative: Alternative = "two-sided"

    def test(self, differences: Floats, seed: int, *, sensitivity: bool = False) -> JointRow:
        """The test of the first measure."""
        return joint_test(
            differences,
            alternative=self.alternative,
            ranges=[RANGE] * differences.shape[1],
            sensitivity=sensitivity,
            resampling=Resampling(RESAMPLES, seed),
        ).rows[0]

    def shifted(self, rng: np.random.Generator, n: int, size: float) -> Floats:
        """A new sample in which every query changes by the size."""
        drawn = draw(rng, self.differences - self.differences.mean(axis=0), n)
        drawn[:, 0] += size
        return drawn

    def changed(self, rng: np.random.Generator, n: int, size: float) -> Floats:
        """A new sample in which some queries change one way, by amounts of the population, and the others not."""
        drawn = draw(rng, self.differences - self.differences.mean(axis=0), n)
        amounts = np.abs(self.differences[self.differences[:, 0] != 0, 0])
        changed = rng.random(n) < abs(size) / amounts.mean()
        drawn[:, 0] = np.where(changed, np.sign(size) * rng.choice(amounts, n), 0.0)
        return drawn


@dataclass(frozen=True)
class Outcome:
    """The printed detectable difference, and how often it is found."""

    printed: float  # the share of pilots that print one
    detectable: float  # its mean
    by_shift: float
    by_changes: float
    error: float  # 1.96 standard errors of the less certain power


def outcome(setting: Setting, n: int) -> Outcome | None:
    """None if hardly any pilot prints a detectable difference."""
    rng = np.random.default_rng(SEED)
    sign = -1 if setting.alternative == "less" else 1
    sizes: list[float] = []
    powers: list[list[float]] = []
    for pilot in range(PILOTS):
        size = setting.test(draw(rng, setting.differences, n), pilot, sensitivity=True).detectable
        if size is None:
            continue
        found = np.zeros(2)
        for seed in range(SAMPLES):
            for way, impose in enumerate((setting.shifted, setting.changed)):
                p = setting.test(impose(rng, n, sign * size), seed).p
                found[way] += p is not None and p <= ALPHA
        sizes.append(size)
        powers.append((found / SAMPLES).tolist())
    if len(sizes) < 2:
        return None
    by_pilot = np.array(powers)
    error = 1.96 * float(by_pilot.std(axis=0, ddof=1).max()) / len(sizes) ** 0.5
    shift, changes = by_pilot.mean(axis=0).tolist()
    return Outcome(len(sizes) / PILOTS, float(np.mean(sizes)), shift, changes, error)


def settings(population: Population) -> Iterator[Setting]:
    for pair in population.pairs:
        name = population.pair_name(pair)
        for measure in DEFAULTS:
            yield Setting(f"{name} | {measure}", population.differences(*pair, (measure,)))
    gains = np.random.default_rng(SEED).normal(0.3, 0.05, (1000, 1))
    yield Setting("gains of 0.3 ± 0.05 in every query | any", gains)
    yield Setting("−1 or 1 in 20%, else 0 | 0 or 1", np.repeat([-1.0, 0.0, 1.0], [10, 80, 10])[:, np.newaxis])
    pair, name = population.pairs[-1], population.pair_name(population.pairs[-1])
    yield Setting(f"{name} | {SIX[0]} of {len(SIX)}", population.differences(*pair, SIX))
    yield Setting(f"{name} | {DEFAULTS[0]} of {len(DEFAULTS)}, gate", population.differences(*pair), "less")


def rows(population: Population) -> Iterator[list[str]]:
    for setting in settings(population):
        for n in SIZES:
            found = outcome(setting, n)
            name = [*setting.label.split(" | "), str(n)]
            if found is None:
                yield [*name, "0%", *["–"] * 4]
                continue
            yield [
                *name,
                f"{found.printed:.0%}",
                f"{found.detectable:.3f}",
                f"{found.by_shift:.1%}",
                f"{found.by_changes:.1%}",
                f"±{found.error:.1%}",
            ]


def tables(population: Population) -> Iterator[str]:
    """A row for each measure, family and number of queries."""
    check()
    yield population.description
    yield table(
        f"Power at the printed detectable difference ({PILOTS} pilots, {SAMPLES} samples for each and either way, "
        f"{RESAMPLES} resamples; aim: 80%)",
        ["differences", "measure", "n", "printed", "mean size", "as a shift", "as sparse changes", "simulation error"],
        rows(population),
    )
