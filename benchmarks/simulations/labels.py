"""How often do prediction-powered intervals cover, and those of machine labels alone?

Queries are drawn with replacement from the scores of real runs, whose means are then the true means. A machine's score
of a query is the true one with noise, too high by a tenth on average, kept between 0 and 1. Each interval is compared
with the narrowest of three intervals of human labels alone that covers often enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.simulations._populations import MEANS, Floats, Population
from benchmarks.simulations._tables import SEED, error_of, table
from benchmarks.simulations.coverage import covers, default_interval
from rankgauge.stats import Interval, Resampling, mean_interval, prediction_powered_mean
from rankgauge.stats.distributions import largest_share

DRAWS, RESAMPLES = 2000, 999
SIZES = ((20, 80), (20, 480), (50, 450))  # queries that people judged, and further ones
BIAS, NOISE = 0.1, 0.15
LEAST_COVERAGE, OUTSIDE = 0.93, 0.01  # the upper bound of the coverage, at this level, is at least this
WIDEST = 1.1  # relative to human labels alone
RANGE = (0.0, 1.0)


def width(interval: Interval) -> float:
    return 0.0 if interval.low is None or interval.high is None else interval.high - interval.low


def enough(share: float) -> bool:
    """Whether a simulated coverage is compatible with the target."""
    return largest_share(round(share * DRAWS), DRAWS, OUTSIDE) >= LEAST_COVERAGE


def of_people(values: Floats, resampling: Resampling) -> list[Interval]:
    """Intervals of human labels alone: Student's t, that of every command, and the one without predictions."""
    alone = prediction_powered_mean(values, np.zeros(len(values)), [], limits=RANGE, resampling=resampling)
    return [mean_interval(values), default_interval(values, "nDCG@10", resampling), alone.interval]


def simulated(values: Floats, labeled: int, unlabeled: int) -> tuple[Floats, Floats]:
    """The coverage and the mean width of intervals: with both labels, of machine labels, and those of people."""
    rng, truth = np.random.default_rng(SEED), float(values.mean())
    covered, widths = np.zeros(5), np.zeros(5)
    for seed in range(DRAWS):
        drawn = values[rng.integers(0, len(values), labeled + unlabeled)]
        machine = np.clip(drawn + BIAS + rng.normal(0, NOISE, len(drawn)), 0, 1)
        people, resampling = drawn[:labeled], Resampling(RESAMPLES, seed)
        powered = prediction_powered_mean(
            people, machine[:labeled], machine[labeled:], limits=RANGE, resampling=resampling
        ).interval
        intervals = (powered, mean_interval(machine), *of_people(people, resampling))
        covered += [covers(interval, truth) for interval in intervals]
        widths += [width(interval) for interval in intervals]
    return covered / DRAWS, widths / DRAWS


def populations(population: Population) -> Iterator[tuple[str, Floats]]:
    for run, name in ((0, "strongest"), (len(population.runs) - 1, "weakest")):
        for measure in MEANS:
            yield f"{name}, {measure}", population.scores(run, measure)
    yield "0 or 1, mean 0.95", np.repeat([1.0, 0.0], [95, 5])
    yield "RR, mean 0.94", np.repeat([1.0, 1 / 2, 1 / 3, 1 / 10, 0.0], [90, 6, 2, 1, 1])


def rows(population: Population) -> Iterator[list[str]]:
    for name, values in populations(population):
        for labeled, unlabeled in SIZES:
            shares, widths = simulated(values, labeled, unlabeled)
            known = [at for at in (2, 3, 4) if enough(shares[at])]
            narrowest = min(known, key=lambda at: widths[at]) if known else None
            ratio = math.nan if narrowest is None else widths[0] / widths[narrowest]
            yield [
                name,
                f"{labeled} + {unlabeled}",
                f"{shares[0]:.1%}" if enough(shares[0]) else f"**{shares[0]:.1%}**",
                f"{widths[0]:.3f}",
                "–" if narrowest is None else f"{shares[narrowest]:.1%}",
                "–" if narrowest is None else f"{widths[narrowest]:.3f}",
                "–" if narrowest is None else f"{ratio:.2f}" if ratio <= WIDEST else f"**{ratio:.2f}**",
                f"{shares[1]:.1%}",
            ]


def tables(population: Population) -> Iterator[str]:
    """Coverage of 95% intervals with human and machine labels."""
    yield population.description
    yield table(
        f"95% intervals of a mean by machine labels for all queries and human ones for a sample ({DRAWS:,} draws, "
        f"{RESAMPLES} resamples, seed {SEED}, {error_of(0.95, DRAWS)}; aim: a coverage whose upper 99% bound is at "
        f"least {LEAST_COVERAGE:.0%}, and at most {WIDEST} times the width of the narrowest such interval of human "
        "labels alone)",
        ["run, measure", "queries", "both labels", "width", "human alone", "width", "ratio", "machine alone"],
        rows(population),
    )
