"""How often do prediction-powered intervals cover, and those of machine labels alone?

Queries are drawn with replacement from the scores of real runs, whose means are then the true means. A machine's score
of a query is the true one with noise, too high by a tenth on average, kept between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.simulations._populations import MEANS, Floats, Population
from benchmarks.simulations._tables import SEED, at_least, error_of, table
from rankgauge.stats import Interval, mean_interval, prediction_powered_mean

DRAWS = 2000
SIZES = ((20, 80), (20, 480), (50, 450))  # queries that people judged, and further ones
BIAS, NOISE = 0.1, 0.15
LEAST_POWERED_COVERAGE = 0.92


def covers(interval: Interval, truth: float) -> bool:
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


def width(interval: Interval) -> float:
    return 0.0 if interval.low is None or interval.high is None else interval.high - interval.low


def shares(values: Floats, labeled: int, unlabeled: int) -> tuple[float, float, float, float]:
    """The shares that cover: with both labels, human ones, machine ones; and the width of the first to the second."""
    rng, truth = np.random.default_rng(SEED), float(values.mean())
    covered, widths = np.zeros(3), np.zeros(2)
    for _ in range(DRAWS):
        drawn = values[rng.integers(0, len(values), labeled + unlabeled)]
        machine = np.clip(drawn + BIAS + rng.normal(0, NOISE, len(drawn)), 0, 1)
        people = drawn[:labeled]
        powered = prediction_powered_mean(people, machine[:labeled], machine[labeled:]).interval
        intervals = (powered, mean_interval(people), mean_interval(machine))
        covered += [covers(interval, truth) for interval in intervals]
        widths += [width(interval) for interval in intervals[:2]]
    return (*(covered / DRAWS).tolist(), float(widths[0] / widths[1]) if widths[1] else 1.0)


def rows(population: Population) -> Iterator[list[str]]:
    for run, name in ((0, "strongest"), (len(population.runs) - 1, "weakest")):
        for measure in MEANS:
            values = population.scores(run, measure)
            for labeled, unlabeled in SIZES:
                both, human, machine, ratio = shares(values, labeled, unlabeled)
                yield [
                    f"{name}, {measure}",
                    f"{labeled} + {unlabeled}",
                    at_least(both, LEAST_POWERED_COVERAGE),
                    f"{human:.1%}",
                    f"{machine:.1%}",
                    f"{ratio:.2f}",
                ]


def tables(population: Population) -> Iterator[str]:
    """Coverage of 95% intervals with human and machine labels."""
    yield population.description
    yield table(
        f"95% intervals of a mean with machine labels that are {BIAS:g} too high: share that covers ({DRAWS:,} draws, "
        f"{error_of(0.95, DRAWS)}; aim: at least {LEAST_POWERED_COVERAGE:.0%})",
        ["run, measure", "queries", "both labels", "human alone (t)", "machine alone (t)", "width, both to human"],
        rows(population),
    )
