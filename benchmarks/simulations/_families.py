"""The families of ``compare`` and ``gate`` as arrays: faster than the public calls, and with the same numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import rankgauge
from benchmarks.simulations._populations import DEFAULTS, RANGE, Floats, Population
from benchmarks.simulations._tables import ALPHA
from rankgauge.benchmark.plan import SHIPPED
from rankgauge.comparison.gate.decision import decide
from rankgauge.comparison.gate.requirements import GateRule
from rankgauge.comparison.significance import PairedColumns, TestedDifference, family_tests
from rankgauge.comparison.statistics_options import Statistics, is_significant

RESAMPLES = 999


def statistics_of(seed: int) -> Statistics:
    """The defaults with fewer resamples."""
    return Statistics(resamples=RESAMPLES, seed=seed)


def columns_of(differences: Floats) -> PairedColumns:
    """Differences as if they were those from a baseline of zeros."""
    return PairedColumns(differences, np.zeros_like(differences), (RANGE,) * differences.shape[1])


def tested(differences: Floats, statistics: Statistics) -> list[TestedDifference]:
    """The tests of a family, without detectable differences, which would take most of the time."""
    return family_tests(columns_of(differences), statistics, sensitivity=False)


def any_significant(differences: Floats, statistics: Statistics) -> bool:
    """Whether a family has any significant difference."""
    return any(is_significant(test.p_corrected, ALPHA) for test in tested(differences, statistics))


def check() -> None:
    """``compare`` and ``gate`` have the p values and the intervals that the arrays have, on the bundled collection."""
    statistics = statistics_of(0)
    qrels, runs = SHIPPED / "qrels.trec", sorted((SHIPPED / "runs").iterdir())
    scores = [rankgauge.evaluate(qrels, run, DEFAULTS).values for run in runs]
    differences = scores[1] - scores[0]
    compared = rankgauge.compare(qrels, runs, DEFAULTS, statistics=statistics).differences
    arrays = [*tested(differences[:, :1], statistics), *tested(differences[:, 1:], statistics)]
    gated = rankgauge.gate(qrels, runs[1], DEFAULTS, baseline=runs[0], rule=GateRule(0.02, statistics)).compared
    decisions = decide(columns_of(differences), GateRule(0.02, statistics))
    dropped = tested(differences, replace(statistics, alternative="less"))
    risen = tested(differences, replace(statistics, alternative="greater"))
    same = [
        *(
            (row.p_corrected, row.interval.low) == (test.p_corrected, test.interval.low)
            for row, test in zip(compared, arrays, strict=True)
        ),
        *(row.decision == decision for row, decision in zip(gated, decisions, strict=True)),
        *(decision.p == test.p_corrected for decision, test in zip(decisions, dropped, strict=True)),
        *(decision.interval.low == test.interval.low for decision, test in zip(decisions, risen, strict=True)),
    ]
    if not all(same):
        raise AssertionError("the public calls give other numbers than the arrays")


def mixed_runs(population: Population, rng: np.random.Generator, n: int) -> Floats:
    """Scores of n queries × the default measures × runs, with the runs in random order in each query."""
    drawn = population.values[rng.integers(0, len(population.values), n), : len(DEFAULTS)]
    order = rng.permuted(np.tile(np.arange(drawn.shape[2]), (n, 1)), axis=1)
    return np.asarray(np.take_along_axis(drawn, order[:, np.newaxis, :], axis=2))
