"""Each test of one measure without a true difference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.simulations._nulls import Null, asymmetric, centered, sparse, swapped
from benchmarks.simulations._populations import RANGE, Floats, Population
from benchmarks.simulations._tables import ALPHA, MOST_ERRORS, SEED, at_most, error_of, table
from rankgauge.stats import Resampling, joint_test, paired_test
from rankgauge.stats.results import Alternative, PairedTest

DRAWS, RESAMPLES = 1000, 499
SIZES = (20, 50, 100)
OTHERS: tuple[PairedTest, ...] = ("randomization", "t", "wilcoxon", "sign")


def nulls(population: Population) -> dict[str, Null]:
    pair = population.pairs[0]
    differences = population.differences(*pair, ("nDCG@10",))[:, 0]
    name = f"{population.pair_name(pair)}, nDCG@10"
    return {
        f"{name}, swapped at random": swapped(differences),
        f"{name}, minus the mean": centered(differences),
        **{f"gains of 0.5 in {share:.0%}, else tiny losses": asymmetric(share) for share in (0.2, 0.1, 0.05)},
        **{f"−1 or 1 in {share:.0%}, else 0": sparse(share) for share in (0.4, 0.2, 0.05)},
    }


def p_values(differences: Floats, seed: int) -> list[float | None]:
    """The p of the default test, of a drop by the default test, and of the other tests."""
    resampling = Resampling(RESAMPLES, seed)
    sides: tuple[Alternative, ...] = ("two-sided", "less")
    default = [
        joint_test(
            differences[:, np.newaxis], alternative=side, ranges=[RANGE], sensitivity=False, resampling=resampling
        )
        for side in sides
    ]
    return [
        *(result.rows[0].p for result in default),
        *(paired_test(test, differences, resampling=resampling).p for test in OTHERS),
    ]


def rows(population: Population) -> Iterator[list[str]]:
    for name, null in nulls(population).items():
        for n in SIZES:
            rng = np.random.default_rng(SEED)
            wrong = np.zeros(2 + len(OTHERS))
            for seed in range(DRAWS):
                wrong += [p is not None and p <= ALPHA for p in p_values(null(rng, n), seed)]
            yield [name, str(n), *(at_most(share) for share in (wrong / DRAWS).tolist())]


def rates(population: Population) -> str:
    return table(
        f"No true mean difference on one measure: share with p ≤ {ALPHA} ({DRAWS:,} draws, {RESAMPLES} resamples, "
        f"{error_of(ALPHA, DRAWS)}; aim: at most {MOST_ERRORS:.0%})",
        ["differences", "n", "default", "default, drop", *OTHERS],
        rows(population),
    )
