import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankgauge.errors import UsageError
from rankgauge.stats import paired_tests
from rankgauge.stats.bootstrap import bootstrap_test
from rankgauge.stats.draws import Resampling
from rankgauge.stats.paired_tests import equivalence, paired_t, paired_test, sign_test, wilcoxon
from rankgauge.stats.results import ALTERNATIVES, PAIRED_TESTS, Alternative, PairedTest
from tests.stats import definitions
from tests.stats.strategies import alternatives, differences, lists_of_differences

RNG = np.random.default_rng(20)
A, B = RNG.random(30), RNG.random(30) * 0.8
GROUPS = RNG.integers(0, 9, 30)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_paired_t_is_scipys(alternative: Alternative) -> None:
    found, wanted = paired_t(A, B, alternative=alternative), stats.ttest_rel(A, B, alternative=alternative)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert found.p == pytest.approx(wanted.pvalue, rel=1e-9)
    assert found.df == 29
    assert found.estimate == pytest.approx(float(np.mean(A - B)))


def test_equal_differences_give_no_p_for_t() -> None:
    found = paired_t([0.6, 0.3, 0.8], [0.5, 0.2, 0.7])
    assert found.p is None
    assert found.reason == "all differences are equal and not 0, so their variance cannot be estimated"
    assert paired_t([0.1, 0.1, 0.1, 0.2], units=[1, 1, 1, 2]).p is not None
    assert paired_t([0.1, 0.2, 0.1, 0.2], units=[1, 1, 2, 2]).p is None


def test_identical_systems_give_p_1_in_every_test() -> None:
    for test in PAIRED_TESTS:
        for alternative in ALTERNATIVES:
            assert paired_test(test, A, A, alternative=alternative).p == 1.0


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_one_query_says_nothing_where_a_spread_is_needed(test: PairedTest) -> None:
    found = paired_test(test, [0.4], [0.2])
    assert found.p is None
    assert found.reason == "at least 2 queries are needed, found 1"
    assert paired_test(test, [0.4, 0.5, 0.1], units=["s", "s", "s"]).reason == (
        "at least 2 units are needed, found 1 for 3 queries"
    )


@pytest.mark.parametrize("test", PAIRED_TESTS)
def test_no_queries_say_nothing(test: PairedTest) -> None:
    found = paired_test(test, [], [])
    assert found.p is None
    assert found.reason


@pytest.mark.parametrize("test", PAIRED_TESTS)
def test_units_of_one_query_change_nothing(test: PairedTest) -> None:
    plain = paired_test(test, A, B, resampling=Resampling(2000))
    assert paired_test(test, A, B, units=[f"q{i}" for i in range(30)], resampling=Resampling(2000)) == plain
    assert paired_test(test, A, B, units=np.arange(30)[::-1], resampling=Resampling(2000)) == plain


@pytest.mark.parametrize("test", PAIRED_TESTS)
def test_queries_of_a_unit_are_one_observation(test: PairedTest) -> None:
    """Ten copies of every query must not make anything ten times as sure."""
    resampling = Resampling(4000, seed=1)
    few = paired_test(test, A[:12], B[:12], resampling=resampling)
    many = paired_test(
        test,
        np.repeat(A[:12], 10),
        np.repeat(B[:12], 10),
        units=np.repeat(np.arange(12), 10),
        resampling=Resampling(4000, seed=1),
    )
    assert many.units == 12
    assert few.p is not None
    assert many.p == pytest.approx(few.p, rel=1e-9, abs=0.02 if test == "wilcoxon" else 1e-9)


def test_the_error_of_t_with_units_is_the_cluster_robust_one() -> None:
    d = A - B
    n, groups = len(d), np.unique(GROUPS)
    residuals = [float((d[g == GROUPS] - d.mean()).sum()) for g in groups]
    # (X'X)⁻¹ (Σ X'u u'X) (X'X)⁻¹ · G / (G − 1) for X a column of ones
    error = math.sqrt(len(groups) / (len(groups) - 1) * sum(r * r for r in residuals)) / n
    found = paired_t(A, B, units=GROUPS)
    assert found.statistic == pytest.approx(float(d.mean()) / error)
    assert found.df == len(groups) - 1
    assert found.p == pytest.approx(2 * stats.t.sf(abs(float(d.mean()) / error), len(groups) - 1))


@given(lists_of_differences(1, 9), st.sampled_from(["drop", "pratt"]), alternatives)
def test_wilcoxon_is_the_share_of_all_sign_patterns(values: list[float], zeros: str, alternative: Alternative) -> None:
    statistic, p = definitions.wilcoxon_p([round(value, 12) for value in values], zeros, alternative)
    found = wilcoxon(values, zeros=zeros, alternative=alternative)  # type: ignore[arg-type]  # a plain str from parametrize
    assert found.statistic == statistic
    assert found.p == pytest.approx(p, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wilcoxon_is_scipys(alternative: Alternative) -> None:
    wanted = stats.wilcoxon(A, B, alternative=alternative, method="exact")
    assert wilcoxon(A, B, alternative=alternative).p == pytest.approx(wanted.pvalue, rel=1e-9)
    many = np.random.default_rng(1).normal(0.05, 1, 400).round(1)
    for zeros, name in (("drop", "wilcox"), ("pratt", "pratt")):
        approximate = stats.wilcoxon(many, alternative=alternative, zero_method=name, method="asymptotic")
        found = wilcoxon(many, zeros=zeros, alternative=alternative)  # type: ignore[arg-type]  # a plain str from parametrize
        assert not found.exact
        assert found.p == pytest.approx(approximate.pvalue, rel=1e-9)


def test_wilcoxon_with_units_flips_signed_ranks_together() -> None:
    values = [0.3, -0.1, 0.2, 0.5, 0.4, -0.6]
    ranks = [3, -1, 2, 5, 4, -6]
    units = ["a", "a", "b", "c", "c", "d"]
    wanted = definitions.randomization_p([float(t) for t in definitions.totals(ranks, units)], "two-sided")
    assert wilcoxon(values, units=units).p == pytest.approx(wanted)


def test_the_normal_approximation_takes_over_smoothly(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(0.1, 1, 290)
    exact = wilcoxon(values)
    monkeypatch.setattr(paired_tests, "MAX_EXACT_RANKS", 0)
    assert exact.exact
    assert wilcoxon(values).p == pytest.approx(exact.p, abs=0.002)


@given(st.lists(differences, min_size=1, max_size=40), alternatives)
def test_the_sign_test_is_the_binomial_test(values: list[float], alternative: Alternative) -> None:
    rounded = [round(value, 12) for value in values]
    wins, losses = sum(v > 0 for v in rounded), sum(v < 0 for v in rounded)
    found = sign_test(values, alternative=alternative)
    assert found.statistic == wins
    wanted = stats.binomtest(wins, wins + losses, alternative=alternative).pvalue if wins + losses else 1.0
    assert found.p == pytest.approx(wanted, rel=1e-9)


def test_a_units_sign_is_that_of_its_total() -> None:
    found = sign_test([0.3, -0.1, 1 / 3, 1 / 3, 1 / 3, -1, -0.2], units=[1, 1, 2, 2, 2, 2, 3])
    assert found.statistic == 1  # the second unit comes to nothing
    assert found.p == 1.0


@pytest.mark.parametrize("test", ["t", "randomization"])
def test_equivalence_is_the_larger_of_two_one_sided_tests(test: str) -> None:
    d, margin = A - B, 0.2
    above = paired_test(test, d + margin, alternative="greater").p  # type: ignore[arg-type]  # a plain str from parametrize
    below = paired_test(test, d - margin, alternative="less").p  # type: ignore[arg-type]  # a plain str from parametrize
    assert above is not None
    assert below is not None
    kind = {"test": test, "margin": margin}
    assert equivalence(A, B, **kind).p == pytest.approx(max(above, below), rel=1e-9)  # type: ignore[arg-type]  # a plain str from parametrize
    assert equivalence(A, B, alternative="greater", **kind).p == pytest.approx(above, rel=1e-9)  # type: ignore[arg-type]  # a plain str from parametrize
    assert equivalence(A, B, alternative="less", **kind).p == pytest.approx(below, rel=1e-9)  # type: ignore[arg-type]  # a plain str from parametrize


def test_equivalence_agrees_with_the_interval_of_90_percent() -> None:
    low, high = stats.ttest_rel(A, B).confidence_interval(0.9)
    edge = max(abs(low), abs(high))
    assert equivalence(A, B, margin=edge).p == pytest.approx(0.05, rel=1e-6)


def test_identical_systems_are_equivalent_by_randomization() -> None:
    assert equivalence(A[:10], A[:10], margin=0.01).p is None
    assert equivalence(A[:10], A[:10], margin=0.01, test="randomization").p == 2**-10


def test_a_margin_is_above_0() -> None:
    with pytest.raises(UsageError, match="margin must be a number above 0"):
        equivalence(A, B, margin=0)


def test_the_bootstrap_test_over_all_resamples() -> None:
    """Against every one of the 5⁵ resamples."""
    d = [0.3, -0.1, 0.25, 0.1, 0.4]
    centre = definitions.mean(d)
    own = definitions.t_statistic(d)
    grids = np.array(np.meshgrid(*[range(5)] * 5)).reshape(5, -1).T
    shifted = [definitions.t_statistic([d[i] - centre for i in places]) for places in grids.tolist()]
    for alternative in ALTERNATIVES:
        share = sum(definitions.extreme(value, own, alternative) for value in shifted) / len(shifted)
        found = bootstrap_test(d, alternative=alternative, resampling=Resampling(40_000))
        assert found.p == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / 40_000) + 1e-4)


def test_the_studentized_bootstrap_with_units_uses_the_robust_error() -> None:
    d, units = [0.3, -0.1, 0.25, 0.1, 0.4, 0.2], [0, 0, 1, 2, 2, 3]
    groups = [[v for v, u in zip(d, units, strict=True) if u == g] for g in range(4)]
    centre = definitions.mean(d)

    def t(drawn: list[list[float]]) -> float:
        n = sum(map(len, drawn))
        middle = sum(map(sum, drawn)) / n
        error = math.sqrt(4 / 3 * sum((sum(g) - len(g) * middle) ** 2 for g in drawn)) / n
        return (middle - 0.0) / error if error > 1e-12 else (math.inf if abs(middle) > 1e-12 else 0.0)

    own = t(groups)
    shifted = [[v - centre for v in g] for g in groups]
    grids = np.array(np.meshgrid(*[range(4)] * 4)).reshape(4, -1).T
    share = sum(abs(t([shifted[i] for i in places])) >= own - 1e-9 for places in grids.tolist()) / 256
    found = bootstrap_test(d, units=units, resampling=Resampling(40_000))
    assert found.statistic == pytest.approx(own)
    assert found.p == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) / 40_000) + 1e-4)


def test_the_bootstrap_p_of_a_seed_never_changes() -> None:
    values = np.arange(-30, 41) / 100
    assert bootstrap_test(values, resampling=Resampling(2000, seed=42)).p == 0.03798100949525238


def test_an_unknown_test_is_refused() -> None:
    with pytest.raises(UsageError, match="test must be one of t, randomization"):
        paired_test("anova", A, B)  # type: ignore[arg-type]  # refused at run time
