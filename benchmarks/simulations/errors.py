"""How often do tests err? No true difference anywhere; or a true drop of exactly the margin.

Families are tested with 999 resamples instead of 10,000, and as arrays; ``check`` shows that ``compare`` and ``gate``
give the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.simulations import _single_tests
from benchmarks.simulations._families import (
    RESAMPLES,
    any_significant,
    check,
    columns_of,
    mixed_runs,
    statistics_of,
    tested,
)
from benchmarks.simulations._populations import DEFAULTS, Floats, Population, draw
from benchmarks.simulations._tables import ALPHA, MOST_ERRORS, SEED, at_most, error_of, table
from rankgauge.comparison.differences import Difference
from rankgauge.comparison.gate.decision import decide
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.core.verdicts import NOT_WORSE
from rankgauge.stats import effect

DRAWS, MORE_DRAWS = 1000, 2000
SIZES, MARGIN_SIZES = (20, 50), (20, 50, 60, 150)
MARGINS = (0.02, 0.05, 0.1)
PRIMARY, SECONDARY = ("compare: primary measure", slice(1)), ("compare: secondary measures", slice(1, 3))
Sampler = Callable[[np.random.Generator, int], Floats]  # queries × measures


def share(is_wrong: Callable[[np.random.Generator, int], bool], draws: int) -> float:
    """How often it errs, given a generator and a seed."""
    rng = np.random.default_rng(SEED)
    return sum(is_wrong(rng, seed) for seed in range(draws)) / draws


def samplers(population: Population) -> dict[str, Sampler]:
    """Families of the default measures without a true difference."""
    pair = population.pairs[0]
    differences = population.differences(*pair)
    middle = differences - differences.mean(axis=0)

    def swapped(rng: np.random.Generator, n: int) -> Floats:
        return np.asarray(draw(rng, differences, n) * rng.choice([-1.0, 1.0], (n, 1)))

    name = population.pair_name(pair)
    return {
        f"{name}, swapped at random in each query": swapped,
        f"{name}, minus the mean": lambda rng, n: draw(rng, middle, n),
    }


def compared_error(sampler: Sampler, measures: slice, n: int) -> float:
    return share(lambda rng, seed: any_significant(sampler(rng, n)[:, measures], statistics_of(seed)), MORE_DRAWS)


def gated_error(sampler: Sampler, n: int) -> float:
    """A gate without a margin fails exactly if a drop is significant."""

    def fails(rng: np.random.Generator, seed: int) -> bool:
        return any_significant(sampler(rng, n), replace(statistics_of(seed), alternative="less"))

    return share(fails, MORE_DRAWS)


def mixed_error(population: Population, pairs: Sequence[tuple[int, int]], measures: slice, n: int) -> float:
    def is_wrong(rng: np.random.Generator, seed: int) -> bool:
        scores = mixed_runs(population, rng, n)[:, measures]
        columns = [scores[:, :, first] - scores[:, :, second] for first, second in pairs]
        return any_significant(np.hstack(columns), statistics_of(seed))

    return share(is_wrong, MORE_DRAWS)


def family_rows(population: Population) -> Iterator[list[str]]:
    for name, sampler in samplers(population).items():
        for label, measures in (PRIMARY, SECONDARY):
            rates = [compared_error(sampler, measures, n) for n in SIZES]
            yield [name, label, str(len(DEFAULTS[measures])), *map(at_most, rates)]
        yield [name, "gate", str(len(DEFAULTS)), *(at_most(gated_error(sampler, n)) for n in SIZES)]
    if len(population.runs) < 3:
        return
    name = f"{len(population.runs)} runs, mixed at random in each query"
    others = [(run, 0) for run in range(1, len(population.runs))]
    for (label, measures), pairs in (
        (PRIMARY, others),
        (SECONDARY, others),
        (("compare: ranking", slice(1)), population.all_pairs),
    ):
        rates = [mixed_error(population, pairs, measures, n) for n in SIZES]
        yield [name, label, str(len(pairs) * len(DEFAULTS[measures])), *map(at_most, rates)]


def drops(population: Population, margin: float) -> dict[str, Sampler]:
    """One measure with a true drop of exactly the margin."""
    differences = population.differences(*population.pairs[0], ("nDCG@10",))
    middle = differences - differences.mean() - margin
    return {
        f"{population.pair_name(population.pairs[0])}, nDCG@10, shifted": lambda rng, n: draw(rng, middle, n),
        f"−{margin:g} on average, standard deviation 0.2": with_losses(0.0, 0.0, -margin, 0.2),
        f"losses of 0.2 in {5 * margin:.0%}, the rest almost unchanged": with_losses(5 * margin, 0.2, 0.0, 0.02),
        f"losses of 0.5 in {2 * margin:.0%}, the rest almost unchanged": with_losses(2 * margin, 0.5, 0.0, 0.02),
        f"total losses in {margin:.0%}, the rest almost unchanged": with_losses(margin, 1.0, 0.0, 0.02),
        f"total losses in {margin:.0%}, the rest unchanged": with_losses(margin, 1.0, 0.0, 0.0),
    }


def margin_error(sampler: Sampler, margin: float, n: int) -> float:
    """How often a gate of one measure claims that it is no worse by the margin, or more than that.

    An unchanged run is not called "no worse".
    """

    def is_wrong(rng: np.random.Generator, seed: int) -> bool:
        (decision,) = decide(columns_of(sampler(rng, n)), GateRule(margin, statistics_of(seed)), sensitivity=False)
        return decision.outcome in NOT_WORSE - {"unchanged"}

    return share(is_wrong, DRAWS)


def margin_rows(population: Population) -> Iterator[list[str]]:
    for margin in MARGINS:
        for name, sampler in drops(population, margin).items():
            shares = [margin_error(sampler, margin, n) for n in MARGIN_SIZES]
            yield [name, f"{margin:g}", *map(at_most, shares)]


# Losses that are as rare and as large as they can be: only their number in the sample shows them.

EQUIVALENT_SIZES = (50, 150, 300, 600)
ROPES = (0.01, 0.02, 0.05)


def is_called_equivalent(differences: Floats, rope: float, seed: int) -> bool:
    """Whether ``compare`` would call one measure from 0 to 1 equivalent within ± ``rope``, or the same."""
    (test,) = tested(differences, statistics_of(seed))
    changes = differences[:, 0]
    row = Difference(
        "system", "measure", len(changes), None, None, float(changes.mean()), test.interval, test.p, test.p_corrected,
        effect(changes), rope=rope, largest=1.0,
    )  # fmt: skip
    return row.outcome(ALPHA) in ("equivalent", "negligible")


def with_losses(lost: float, size: float, mean: float, spread: float) -> Sampler:
    """Losses of one size in a share of the queries, and normal differences in the others."""

    def sampler(rng: np.random.Generator, n: int) -> Floats:
        return np.where(rng.random((n, 1)) < lost, -size, rng.normal(mean, spread, (n, 1)))

    return sampler


def equivalence_error(sampler: Sampler, rope: float, n: int) -> float:
    return share(lambda rng, seed: is_called_equivalent(sampler(rng, n), rope, seed), DRAWS)


def equivalence_rows() -> Iterator[list[str]]:
    for rope in ROPES:
        kinds = {
            f"total losses in {rope:.0%} of queries, the rest almost unchanged": with_losses(rope, 1.0, 0.0, 0.002),
            f"losses of 0.5 in {2 * rope:.0%}, the rest almost unchanged": with_losses(2 * rope, 0.5, 0.0, 0.002),
            f"−{rope:g} on average, standard deviation 0.1": with_losses(0.0, 0.0, -rope, 0.1),
        }
        for name, sampler in kinds.items():
            shares = [equivalence_error(sampler, rope, n) for n in EQUIVALENT_SIZES]
            yield [name, f"±{rope:g}", *map(at_most, shares)]


def note(draws: int) -> str:
    return f"{draws:,} draws, {RESAMPLES} resamples, {error_of(ALPHA, draws)}; aim: at most {MOST_ERRORS:.0%}"


def tables(population: Population) -> Iterator[str]:
    """Families, single tests, and claims that nothing got worse."""
    check()
    yield population.description
    yield table(
        f"Nothing differs: share of families with any p ≤ {ALPHA}, and of gates that fail ({note(MORE_DRAWS)})",
        ["differences", "family", "tests", *(f"n = {n}" for n in SIZES)],
        family_rows(population),
    )
    yield _single_tests.rates(population)
    yield _single_tests.power()
    yield table(
        f"A true difference of exactly the region of practical equivalence: share of comparisons that are called "
        f"equivalent, or differ negligibly ({note(DRAWS)})",
        ["true difference", "region", *(f"n = {n}" for n in EQUIVALENT_SIZES)],
        equivalence_rows(),
    )
    yield table(
        f'The true drop is the margin: share of gates of one measure that claim "no worse", "negligible" or "better" '
        f"({note(DRAWS)})",
        ["true drop", "margin", *(f"n = {n}" for n in MARGIN_SIZES)],
        margin_rows(population),
    )
