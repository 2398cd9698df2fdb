"""An unchanged system that does not repeat itself, against baselines of several runs: how often does a gate fail?

Noise is normal and of two kinds: of single queries, and of whole runs, which shifts all queries of a run. Each baseline
is drawn once and serves many builds, so its luck is that of all of them. Builds go through the tests of a gate,
one-sided at 5%. The share of builds that fail, given a baseline, is the probability that the mean of a run is below the
gate's bound, averaged over the bounds of some builds. Beside it is the quantile that the gate itself reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.simulations._populations import Population
from rankgauge.comparison.significance import PairedColumns, family_tests
from rankgauge.comparison.statistics_options import Statistics
from rankgauge.stats import RunNoise, false_alarm_quantile, run_noise
from rankgauge.stats.distributions import normal_cdf

QUERIES = 50
RUNS = (1, 2, 3, 5, 10)
BASELINES = 400
BUILDS = 6  # per baseline
RESAMPLES = 399
RELEASES = 20
SEED = 20262
QUERY_NOISE = 0.1
RUN_SHARES = (0.0, 0.5, 0.9)  # of the variance of a run's mean that whole runs have

Floats = NDArray[np.float64]


def run_deviation(share: float) -> float:
    """τ, if whole runs have this share of the variance of a run's mean."""
    return QUERY_NOISE * math.sqrt(share / (1 - share) / QUERIES)


def drawn_runs(rng: np.random.Generator, count: int, deviation: float) -> Floats:
    """Runs × queries; the true value of every query is 0."""
    return rng.normal(0, deviation, (count, 1)) + rng.normal(0, QUERY_NOISE, (count, QUERIES))


def failing_shares(rng: np.random.Generator, runs: int, deviation: float) -> tuple[Floats, float]:
    """The share of failing builds of each baseline, and the share of builds that did fail over all baselines."""
    total = math.sqrt(deviation**2 + QUERY_NOISE**2 / QUERIES)
    shares, failed = [], 0
    for number in range(BASELINES):
        stored = drawn_runs(rng, runs, deviation)
        baseline = stored.mean(axis=0)
        probabilities = []
        for build, now in enumerate(drawn_runs(rng, BUILDS, deviation)):
            columns = PairedColumns(
                now[:, np.newaxis], baseline[:, np.newaxis], ((-math.inf, math.inf),), noise=(run_noise(stored),)
            )
            statistics = Statistics(alternative="less", resamples=RESAMPLES, seed=number * BUILDS + build)
            upper = family_tests(columns, statistics, sensitivity=False)[0].interval.high or 0.0
            failed += upper < 0
            reach = upper - float(now.mean() - baseline.mean())
            probabilities.append(normal_cdf((float(baseline.mean()) - reach) / total))
        shares.append(float(np.mean(probabilities)))
    return np.array(shares), failed / (BASELINES * BUILDS)


def row(rng: np.random.Generator, share: float, runs: int) -> str:
    """One row of the table."""
    deviation = run_deviation(share)
    shares, failed = failing_shares(rng, runs, deviation)
    reported = "–"
    if runs >= 3:
        noise = RunNoise(runs, deviation**2, QUERY_NOISE**2 / QUERIES)
        reported = f"{false_alarm_quantile(noise, QUERIES) or 0:.1%}"
    cells = [
        f"{share:.0%}",
        f"{runs}",
        f"{failed:.1%}",
        f"{shares.mean():.1%}",
        f"{np.quantile(shares, 0.95):.1%}",
        reported,
        f"{np.mean(1 - (1 - shares) ** RELEASES):.0%}",
    ]
    return f"| {' | '.join(cells)} |"


def tables(_population: Population) -> Iterator[str]:
    rng = np.random.default_rng(SEED)
    head = (
        "| noise of whole runs | runs | builds that failed | mean over baselines | 95th percentile | as reported "
        f"| P(a red build in {RELEASES}) |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    rows = [row(rng, share, runs) for share in RUN_SHARES for runs in RUNS]
    yield (
        f"Builds of an unchanged system that fail, {QUERIES} queries, one measure, one-sided at 5%; {BASELINES} "
        f"baselines with {BUILDS} builds each. The first column is the part of the variance of a run's mean that more "
        "queries do not average out.\n\n" + "\n".join([head, *rows])
    )
