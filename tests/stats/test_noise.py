"""The noise of whole runs, against the textbook's sums of squares; and that what is derived from it agrees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, stdtrit

from rankgauge.stats import RunNoise, false_alarm_quantile, family_noise, joint_test, run_noise
from rankgauge.stats.draws import Resampling
from rankgauge.stats.samples import Floats, sample


def drawn(seed: int, runs: int, queries: int, deviation: float = 0.05) -> Floats:
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, deviation, (runs, 1)) + rng.normal(0, 0.1, (runs, queries))
    return np.asarray(rng.normal(0.5, 0.3, queries) + noise, dtype=np.float64)


def mean_squares(values: Floats) -> tuple[float, float]:
    """MS_runs and MS_error of a two-way layout, from totals alone."""
    runs, queries = values.shape
    correction = values.sum() ** 2 / values.size
    total = (values**2).sum() - correction
    of_runs = (values.sum(axis=1) ** 2).sum() / queries - correction
    of_queries = (values.sum(axis=0) ** 2).sum() / runs - correction
    return of_runs / (runs - 1), (total - of_runs - of_queries) / ((runs - 1) * (queries - 1))


@given(st.integers(0, 1000), st.integers(3, 8), st.integers(2, 40))
def test_it_is_the_variance_component_of_two_way_analysis_of_variance(seed: int, runs: int, queries: int) -> None:
    values = drawn(seed, runs, queries)
    of_runs, of_error = mean_squares(values)
    noise = run_noise(values)
    assert noise is not None
    assert noise.between == pytest.approx(max(0.0, (of_runs - of_error) / queries), abs=1e-9)
    assert noise.within == pytest.approx(of_error / queries, rel=1e-6)
    assert noise.ratio == pytest.approx(of_runs / of_error, rel=1e-5)


def test_on_average_it_is_the_variance_that_was_drawn() -> None:
    estimates = [run_noise(drawn(seed, 6, 30)) for seed in range(600)]
    signed = [noise.within * ((noise.ratio or 0) - 1) for noise in estimates if noise is not None]
    assert np.mean(signed) == pytest.approx(0.05**2, rel=0.15)


def test_runs_that_are_the_same_have_none_exactly() -> None:
    noise = run_noise(np.tile(drawn(1, 1, 20), (4, 1)))
    assert noise == RunNoise(4, 0.0, 0.0)
    assert noise.is_none
    assert noise.error(0.3) == 0.3
    assert noise.widened(0.3, 20, 0.05) == 0.3
    assert noise.degrees(0.3, 20) == 19


@pytest.mark.parametrize("shape", [(2, 20), (1, 20), (5, 1)])
def test_two_runs_or_one_query_show_nothing(shape: tuple[int, int]) -> None:
    assert run_noise(np.random.default_rng(1).normal(size=shape)) is None


def test_a_query_without_a_value_in_one_run_is_left_out() -> None:
    values = drawn(2, 4, 20)
    holes = values.copy()
    holes[1, 3] = np.nan
    assert run_noise(holes) == run_noise(np.delete(values, 3, axis=1))


def test_queries_of_one_unit_count_as_one() -> None:
    """Each query twice, in one unit, says no more than each query once."""
    values = drawn(3, 4, 15)
    once, twice = run_noise(values), run_noise(np.repeat(values, 2, axis=1), np.repeat(np.arange(15), 2))
    assert once is not None
    assert twice is not None
    assert (twice.between, twice.within) == pytest.approx((once.between, once.within))


def test_degrees_of_freedom_are_those_of_the_larger_part() -> None:
    noise = RunNoise(4, 0.01, 0.0001)
    assert noise.degrees(0.0, 50) == 3  # nothing but runs
    assert noise.degrees(0.001, 50) == 3
    assert noise.degrees(10.0, 50) == pytest.approx(49, rel=1e-3)
    assert 3 < noise.degrees(0.15, 50) < 49


def test_an_estimate_of_0_gives_way_to_what_most_measures_show() -> None:
    noisy, none = RunNoise(3, 0.3, 0.1, 4.0), RunNoise(3, 0.0, 0.2, 0.5)
    same = RunNoise(3, 0.0, 0.0)
    assert family_noise([noisy, noisy, none]) == (noisy, noisy, RunNoise(3, 3 * 0.2, 0.2, 0.5))
    assert family_noise([noisy, none, none]) == (noisy, none, none)
    assert family_noise([noisy, same, None]) == (noisy, same, None)
    assert family_noise([]) == ()


@given(
    st.integers(0, 10_000),
    st.sampled_from(["two-sided", "less", "greater"]),
    st.integers(3, 6),
    st.sampled_from([0.05, 0.4, 1.0]),
    st.sampled_from([0.0, 0.02, 0.2]),
)
def test_a_row_is_significant_exactly_if_its_interval_excludes_0(
    seed: int, alternative: str, runs: int, changed: float, deviation: float
) -> None:
    rng = np.random.default_rng(seed)
    differences = rng.normal(rng.choice([-0.2, 0.0, 0.1]), 0.1, (30, 3)) * (rng.random((30, 3)) < changed)
    noise = [run_noise(drawn(seed + column, runs, 30, deviation)) for column in range(3)]
    options = {"alternative": alternative, "ranges": [(-1.0, 1.0)] * 3, "resampling": Resampling(299, seed)}
    plain, noisy = (joint_test(differences, noise=given, **options).rows for given in (None, noise))  # type: ignore[arg-type]  # names of alternatives
    for before, after, of_runs in zip(plain, noisy, noise, strict=True):
        low, high = after.interval.low, after.interval.high
        assert low is not None
        assert high is not None
        assert (after.p is not None and after.p <= 0.05) == (low > 0 or high < 0)
        assert (before.p or 0) <= 0.05 or (after.p or 0) > 0.05  # noise makes nothing significant
        assert of_runs is not None
        if not of_runs.between:
            assert after == before


def test_its_own_p_and_ends_agree_and_are_those_of_student_without_noise() -> None:
    values = sample(np.random.default_rng(4).normal(0.1, 0.3, 25))
    for between in (0.0, 0.001, 0.1):
        noise = RunNoise(5, between, 0.001)
        p = noise.p(values, "two-sided")
        assert noise.ends(values, "two-sided", p / 2)[0] == pytest.approx(0, abs=1e-9)
    from scipy.stats import ttest_1samp

    assert RunNoise(5, 0.0, 0.001).p(values, "less") == pytest.approx(
        ttest_1samp(values.values, 0, alternative="less").pvalue
    )
    assert noise.ends(values, "less", 0.05)[0] == -math.inf
    assert noise.ends(values, "greater", 0.05)[1] == math.inf


# The reported quantile, against builds that are drawn one by one.

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
