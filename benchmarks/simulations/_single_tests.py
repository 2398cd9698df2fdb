"""Each test of one measure without a true difference, and the power to find one-way losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.simulations._nulls import Null, asymmetric, centered, exponential, sparse, swapped
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
        f"{name}, minus the mean, turned": centered(-differences),
        "exponential, a long tail of gains": exponential(1.0),
        "exponential, a long tail of losses": exponential(-1.0),
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
            wrong = np.zeros(3 + len(OTHERS))
            for seed in range(DRAWS):
                default, drop, *others = p_values(null(rng, n), seed)
                at = [(default, ALPHA), (drop, ALPHA), (drop, ALPHA / 2), *((p, ALPHA) for p in others)]
                wrong += [p is not None and p <= level for p, level in at]
            yield [name, str(n), *(at_most(share) for share in (wrong / DRAWS).tolist())]


def rates(population: Population) -> str:
    return table(
        f"No true mean difference on one measure: share with p ≤ {ALPHA} ({DRAWS:,} draws, {RESAMPLES} resamples, "
        f"{error_of(ALPHA, DRAWS)}; aim: at most {MOST_ERRORS:.0%})",
        ["differences", "n", "default", "drop at 5%", "drop at 2.5%", *OTHERS],
        rows(population),
    )


# One-way losses: a share of the queries falls from rank 1 to 2, 5 or 50, and the others stay as they are. And a shift:
# every query loses, on average by 2.6 standard errors, on top of noise.

LOSSES = np.array([1 / 2, 4 / 5, 49 / 50])
LOST = ((50, 0.1), (50, 0.2), (100, 0.05), (100, 0.1), (200, 0.03), (200, 0.05), (200, 0.1))
SHIFT, SPREAD = 2.6, 0.2


def falling(share: float) -> Null:
    return lambda rng, n: np.where(rng.random(n) < share, -rng.choice(LOSSES, n), 0.0)


def shifted(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(-SHIFT * SPREAD / n**0.5, SPREAD, n)


def power_rows() -> Iterator[list[str]]:
    kinds = [(n, f"{share:.0%} of queries fall", falling(share)) for n, share in LOST]
    for n, name, losses in [*kinds, *((n, f"a shift of {SHIFT} standard errors", shifted) for n in SIZES)]:
        rng = np.random.default_rng(SEED)
        found = np.zeros(5)
        for seed in range(DRAWS):
            differences = losses(rng, n)
            default, drop, randomization, t, *_ = p_values(differences, seed)
            at = ((default, ALPHA), (drop, ALPHA / 2), (randomization, ALPHA), (t, ALPHA), (drop, ALPHA))
            found += [p is not None and p <= level for p, level in at]
        yield [str(n), name, *(f"{power:.1%}" for power in (found / DRAWS).tolist())]


def power() -> str:
    return table(
        "Reciprocal ranks of some queries fall from 1 to 1/2, 1/5 or 1/50, the others do not change; or all queries "
        f"lose a little: share of samples in which the drop is found ({DRAWS:,} draws, {RESAMPLES} resamples)",
        ["n", "losses", "compare", "gate at 2.5%", "randomization", "t", "gate at 5%"],
        power_rows(),
    )
