"""The noise of whole runs in tests that have no draws of their own to widen.

A difference must be significant by the test itself and by Student's t with the noise of whole runs; its interval has
both intervals in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rankgauge.comparison.statistics import Statistics, separate_correction
from rankgauge.evaluation.intervals import within
from rankgauge.stats.between_runs import RunNoise
from rankgauge.stats.correction import correct
from rankgauge.stats.results import Interval
from rankgauge.stats.samples import Sample, paired

if TYPE_CHECKING:
    from rankgauge.comparison.testing import PairedColumns, TestedDifference


def with_run_noise(
    tests: Sequence[TestedDifference], columns: PairedColumns, statistics: Statistics
) -> list[TestedDifference]:
    """The tests of all columns, wider where the noise of whole runs is known; the bootstrap has it already."""
    noises = [columns.noise_at(index) for index in range(len(tests))]
    if statistics.test == "bootstrap" or not any(noises):
        return list(tests)
    widened = [
        test if noise is None or test.p is None else _widened(test, columns, index, statistics, noise)
        for index, (test, noise) in enumerate(zip(tests, noises, strict=True))
    ]
    corrected = correct([test.p for test in widened], separate_correction(statistics.correction)).p
    if statistics.correction != "maxt":
        return [replace(test, p_corrected=p) for test, p in zip(widened, corrected, strict=True)]
    return [
        test
        if p is None or test.p_corrected is None or noise is None
        else replace(test, p_corrected=max(test.p_corrected, p))
        for test, p, noise in zip(widened, corrected, noises, strict=True)
    ]


def _widened(
    test: TestedDifference, columns: PairedColumns, index: int, statistics: Statistics, noise: RunNoise
) -> TestedDifference:
    """One test with its p, interval and detectable difference; p is not corrected yet."""
    data = paired(*columns.at(index))
    sides = 2 if statistics.alternative == "two-sided" else 1
    outside = (1 - test.interval.confidence) / sides
    detectable = test.detectable
    if detectable is not None:
        detectable *= noise.widened(data.standard_error, data.units, outside) / data.standard_error
    return replace(
        test,
        p=max(test.p or 0.0, noise.p(data, statistics.alternative)),
        interval=_interval(test.interval, data, noise, columns.ranges[index], outside),
        detectable=detectable,
    )


def _interval(
    interval: Interval, data: Sample, noise: RunNoise, limits: tuple[float, float], outside: float
) -> Interval:
    low, high = noise.ends(data, interval.alternative, outside)
    if interval.low is None or interval.high is None:
        return within(replace(interval, low=low, high=high, reason=None), *limits)
    return within(replace(interval, low=min(low, interval.low), high=max(high, interval.high)), *limits)
