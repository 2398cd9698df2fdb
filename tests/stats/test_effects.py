import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from rankgauge.errors import UsageError
from rankgauge.stats.distributions import noncentral_t_cdf
from rankgauge.stats.effects import detectable_difference, effect, power, queries_needed, small_sample_factor
from rankgauge.stats.results import ALTERNATIVES, Alternative

RNG = np.random.default_rng(2)
A, B = RNG.random(20), RNG.random(20)


def test_d_z_and_g_are_their_formulas() -> None:
    d = A - B
    found = effect(A, B)
    assert found.mean == pytest.approx(float(d.mean()))
    assert found.sd == pytest.approx(float(d.std(ddof=1)))
    assert found.d_z == pytest.approx(float(d.mean() / d.std(ddof=1)))
    factor = math.gamma(19 / 2) / (math.sqrt(19 / 2) * math.gamma(18 / 2))
    assert found.hedges_g == pytest.approx(factor * float(d.mean() / d.std(ddof=1)))


def test_the_factor_of_hedges_is_near_its_approximation() -> None:
    for df in (5, 20, 1000, 1_000_000):
        assert small_sample_factor(df) == pytest.approx(1 - 3 / (4 * df - 1), abs=0.01 / df)


def test_wins_ties_and_losses_do_not_see_noise() -> None:
    found = effect([0.3, 0.1 + 0.2, 0.5, 0.9], [0.1 + 0.2, 0.3, 0.7, 0.2])
    assert (found.wins, found.ties, found.losses) == (1, 2, 1)
    found = effect([0.3, 0.5, 0.9], [0.2, 0.4, 0.2], tie=0.1)
    assert (found.wins, found.ties, found.losses) == (1, 2, 0)


def test_effects_without_spread_give_a_reason() -> None:
    assert effect([0.8, 0.4], [0.7, 0.3]).d_z is None
    assert effect([0.8, 0.4], [0.7, 0.3]).reason == "all differences are equal, so their standard deviation is 0"
    assert effect(A, A).d_z == 0.0
    assert effect([0.5], [0.3]).reason == "at least 2 queries are needed, found 1"
    assert effect([0.5, 0.2], [0.3, 0.1]).hedges_g is None
    assert effect([], []).mean is None
    with pytest.raises(UsageError, match="tie must be"):
        effect(A, B, tie=-1)


@pytest.mark.parametrize("df", [1, 2, 5, 19, 100, 6979])
@pytest.mark.parametrize("shift", [-3.0, -0.5, 0.0, 0.7, 3.0, 8.0])
def test_the_noncentral_t_is_scipys_where_that_is_a_number(df: int, shift: float) -> None:
    for t in (-300.0, -12.0, -2.1, -0.3, 0.0, 1.96, 5.0, 300.0):
        wanted = float(special.nctdtr(df, shift, t))
        if not math.isnan(wanted):
            assert noncentral_t_cdf(t, df, shift) == pytest.approx(wanted, abs=1e-9)


def test_the_noncentral_t_is_a_number_where_scipys_is_not() -> None:
    bound = float(special.stdtrit(19, 0.975))
    for shift in (38.0, 40.0, 60.0, 1000.0):
        assert 0 <= noncentral_t_cdf(-bound, 19, shift) < 1e-100
        assert noncentral_t_cdf(bound, 19, -shift) == pytest.approx(1.0)


def test_the_noncentral_t_is_its_integral() -> None:
    def density(s: float) -> float:
        return float(stats.norm.cdf(2.5 * s - 1.3) * stats.chi.pdf(s * math.sqrt(7), 7) * math.sqrt(7))

    assert noncentral_t_cdf(2.5, 7, 1.3) == pytest.approx(integrate.quad(density, 0, 10)[0], abs=1e-9)


def test_power_is_the_textbooks() -> None:
    """G*Power 3.1 and R's power.t.test(type='paired') give 34 pairs for d_z = 0.5 at 80%."""
    assert queries_needed(0.5, 1).n == 34
    assert power(0.5, 1, 34).power == pytest.approx(0.8077775, abs=1e-6)
    assert queries_needed(0.5, 1, alternative="greater").n == 27


def test_power_by_simulation() -> None:
    d = np.random.default_rng(0).normal(0.3, 1, (20_000, 50))
    t = d.mean(axis=1) / d.std(axis=1, ddof=1) * math.sqrt(50)
    found = power(0.3, 1, 50).power
    assert found == pytest.approx(float(np.mean(np.abs(t) > stats.t.ppf(0.975, 49))), abs=0.012)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(2, 20_000),
    st.floats(0.001, 10),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.sampled_from([0.01, 0.05]),
    st.sampled_from(ALTERNATIVES),
)
def test_the_detectable_difference_has_the_power_asked_for(
    n: int, sd: float, wanted: float, alpha: float, alternative: Alternative
) -> None:
    found = detectable_difference(sd, n, power=wanted, alpha=alpha, alternative=alternative)
    assert found.difference is not None
    assert (found.difference < 0) == (alternative == "less")
    again = power(found.difference, sd, n, alpha=alpha, alternative=alternative)
    assert again.power == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_queries_needed_is_the_smallest_number_with_the_power(alternative: Alternative) -> None:
    difference = -0.02 if alternative == "less" else 0.02
    found = queries_needed(difference, 0.2, alternative=alternative)
    assert found.n is not None
    enough = power(difference, 0.2, found.n, alternative=alternative).power
    fewer = power(difference, 0.2, found.n - 1, alternative=alternative).power
    assert enough is not None
    assert fewer is not None
    assert fewer < 0.8 <= enough


def test_power_never_falls_with_a_difference_or_queries() -> None:
    for alternative in ALTERNATIVES[::2]:
        by_difference = [power(d, 1, 20, alternative=alternative).power for d in np.linspace(0, 60, 40)]
        by_queries = [power(0.2, 1, n, alternative=alternative).power for n in range(2, 400, 7)]
        for values in (by_difference, by_queries):
            numbers = [value for value in values if value is not None]
            assert len(numbers) == len(values)
            assert all(b >= a - 1e-9 for a, b in pairwise(numbers))
    assert power(0, 1, 20).power == pytest.approx(0.05)
    assert power(60, 1, 20).power == pytest.approx(1.0)


def test_what_cannot_be_answered_has_a_reason() -> None:
    assert power(0.1, 0, 10).reason == "the differences do not vary"
    assert detectable_difference(0.1, 1).reason == "at least 2 queries are needed, found 1"
    assert queries_needed(0, 1).reason == "no number of queries detects such a difference"
    assert queries_needed(-0.1, 1, alternative="greater").n is None
    assert queries_needed(0.1, 1, alternative="less").n is None
    assert queries_needed(1e-6, 1).reason == "more than 1,000,000,000 queries would be needed"
    with pytest.raises(UsageError, match="power must lie between"):
        detectable_difference(1, 10, power=1)
    with pytest.raises(UsageError, match="sd must be"):
        power(1, -1, 10)
