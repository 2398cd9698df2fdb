"""How often do intervals cover? That of a mean, and those of a comparison all together.

Queries are drawn with replacement from the scores of real runs, whose means are then the true means. The default
intervals are made with 999 resamples instead of 10,000; ``check`` shows that nothing else differs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.simulations._populations import DEFAULTS, MEANS, RANGE, SIX, Floats, Population, draw
from benchmarks.simulations._tables import LEAST_COVERAGE, LEAST_JOINT_COVERAGE, SEED, at_least, error_of, table
from rankgauge.evaluation.mean_intervals import interval_of, is_binary, within
from rankgauge.measures.names import parse_measure
from rankgauge.stats import Interval, Resampling, joint_test, mean_interval

DRAWS = 2000
RESAMPLES = 999
SIZES, JOINT_SIZES = (10, 20, 50, 200), (20, 50)


def default_interval(values: Floats, measure: str, resampling: Resampling) -> Interval:
    """What ``interval_of`` gives, with another number of resamples."""
    interval = mean_interval(values, method="bootstrap-t", resampling=resampling)
    ends = (interval.low, interval.high)
    if is_binary(values) or any(end is None or math.isinf(end) for end in ends):
        return interval_of(values, parse_measure(measure), confidence=0.95)
    return within(interval, 0.0, 1.0)


def check(population: Population) -> None:
    """The interval above is that of every command."""
    for run in range(len(population.runs)):
        for measure in MEANS:
            values = population.scores(run, measure)
            expected = interval_of(values, parse_measure(measure), confidence=0.95)
            if default_interval(values, measure, Resampling()) != expected:
                raise AssertionError(f"another interval of {measure} of {population.runs[run]}")


def covers(interval: Interval, truth: float) -> bool:
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


def mean_coverage(values: Floats, measure: str, n: int) -> tuple[float, float]:
    """The share of default intervals, and of Student's t intervals, that cover the mean."""
    rng, truth = np.random.default_rng(SEED), float(values.mean())
    covered = np.zeros(2)
    for seed in range(DRAWS):
        drawn = draw(rng, values, n)
        covered[0] += covers(default_interval(drawn, measure, Resampling(RESAMPLES, seed)), truth)
        covered[1] += covers(mean_interval(drawn), truth)
    return float(covered[0]) / DRAWS, float(covered[1]) / DRAWS


def joint_coverage(differences: Floats, n: int) -> float:
    """The share of families all of whose intervals cover."""
    rng, truth = np.random.default_rng(SEED), differences.mean(axis=0).tolist()
    covered = 0
    for seed in range(DRAWS):
        result = joint_test(
            draw(rng, differences, n),
            ranges=[RANGE] * len(truth),
            sensitivity=False,
            resampling=Resampling(RESAMPLES, seed),
        )
        covered += all(covers(row.interval, mean) for row, mean in zip(result.rows, truth, strict=True))
    return covered / DRAWS


def mean_rows(population: Population) -> Iterator[list[str]]:
    for run, name in ((0, "strongest"), (len(population.runs) - 1, "weakest")):
        for measure in MEANS:
            values = population.scores(run, measure)
            shares = [mean_coverage(values, measure, n) for n in SIZES]
            cells = [f"{at_least(default, LEAST_COVERAGE)} ({t:.1%})" for default, t in shares]
            yield [f"{name}, {measure}", f"{values.mean():.3f}", *cells]


def joint_rows(population: Population) -> Iterator[list[str]]:
    for pair in population.pairs:
        for measures in (DEFAULTS, SIX):
            differences = population.differences(*pair, measures)
            shares = [joint_coverage(differences, n) for n in JOINT_SIZES]
            yield [population.pair_name(pair), str(len(measures)), *(at_least(s, LEAST_JOINT_COVERAGE) for s in shares)]


def tables(population: Population) -> Iterator[str]:
    """Intervals of means, and simultaneous intervals of differences."""
    check(population)
    yield population.description
    yield table(
        f"95% intervals of a mean: share that covers, and in parentheses that of Student's t ({DRAWS:,} draws, "
        f"{RESAMPLES} resamples, {error_of(0.95, DRAWS)}; aim: at least {LEAST_COVERAGE:.0%})",
        ["run, measure", "value", *(f"n = {n}" for n in SIZES)],
        mean_rows(population),
    )
    yield table(
        f"95% intervals of the differences of a family: share of families all of whose intervals cover ({DRAWS:,} "
        f"draws, {RESAMPLES} resamples, {error_of(0.95, DRAWS)}; aim: at least {LEAST_JOINT_COVERAGE:.0%})",
        ["differences", "measures", *(f"n = {n}" for n in JOINT_SIZES)],
        joint_rows(population),
    )
