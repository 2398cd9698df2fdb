"""The reported quantile, against builds that are drawn one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, stdtrit

from rankgauge.stats import RunNoise, false_alarm_quantile, run_noise

QUERIES = 40


@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("deviation", [0.0, 0.02, 0.06])
def test_it_is_the_quantile_over_baselines_that_are_drawn(runs: int, deviation: float) -> None:
    """Every baseline is drawn, its noise estimated, and its threshold that of Student's t."""
    rng = np.random.default_rng(runs)
    within = 0.1**2 / QUERIES
    spread = math.sqrt(deviation**2 + within)
    shares = []
    for _ in range(1500):
        stored = rng.normal(0, deviation, (runs, 1)) + rng.normal(0, 0.1, (runs, QUERIES))
        noise = run_noise(stored)
        assert noise is not None
        error = math.sqrt(within * (1 + 1 / runs))
        threshold = stdtrit(noise.degrees(error, QUERIES), 0.95) * noise.error(error)
        shares.append(ndtr((stored.mean() - threshold) / spread))
    stated = false_alarm_quantile(RunNoise(runs, deviation**2, within), QUERIES)
    assert stated == pytest.approx(np.quantile(shares, 0.95), abs=0.03)
    assert np.mean(shares) <= 0.06


def test_many_runs_leave_alpha_and_a_larger_margin_or_confidence_less() -> None:
    noise = RunNoise(3, 0.0004, 0.0002)
    assert false_alarm_quantile(RunNoise(100_000, 0.0004, 0.0002), 50) == pytest.approx(0.05, abs=4e-3)
    rates = [false_alarm_quantile(noise, 50, margin=margin) or 0 for margin in (0.0, 0.02, 0.05, 0.1)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 0.01 < rates[0]
    assert (false_alarm_quantile(noise, 50, alpha=0.01) or 1) < rates[0]


def test_runs_that_are_the_same_never_fail() -> None:
    assert false_alarm_quantile(RunNoise(3, 0.0, 0.0), 50) is None
