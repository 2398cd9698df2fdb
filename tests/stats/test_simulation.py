"""Do intervals cover, and do tests cry wolf, as often as they say? Seeded, so that they pass always or never.

A query's value is a reciprocal rank; the other system changes half of the queries and is no better. Where a bound is
not the nominal one, the method is known to be asymptotic and the bound says how far off it is at twenty queries.
"""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from rankgauge.stats import joint_test
from rankgauge.stats.draws import Resampling
from rankgauge.stats.effects import power
from rankgauge.stats.intervals import difference_interval, mean_interval
from rankgauge.stats.paired_tests import equivalence, paired_test
from rankgauge.stats.proportions import newcombe_interval, wilson_interval
from rankgauge.stats.results import ALTERNATIVES, Alternative, Interval, PairedTest
from rankgauge.stats.samples import Floats

pytestmark = pytest.mark.simulation

RUNS = 1500
N = 20
VALUES = np.array([0.0] + [1 / rank for rank in range(10, 0, -1)])
CHANCES = np.array([0.30, 0.02, 0.02, 0.02, 0.02, 0.02, 0.03, 0.05, 0.07, 0.10, 0.35])
MEAN = float(VALUES @ CHANCES)
RNG = np.random.default_rng(20260)
A = RNG.choice(VALUES, size=(RUNS, N), p=CHANCES)
B = np.where(RNG.random((RUNS, N)) < 0.5, A, RNG.choice(VALUES, size=(RUNS, N), p=CHANCES))
# Two judged queries of each of twenty sessions, which go the same way more often than not.
SESSIONS = np.repeat(np.arange(N), 2)
SHARED = np.repeat(RNG.normal(0, 0.3, (RUNS, N)), 2, axis=1) + RNG.normal(0, 0.1, (RUNS, 2 * N))


def coverage(interval: Callable[[int], Interval], truth: float) -> float:
    """The share of intervals that hold the truth; none at all counts as a miss."""
    found = [interval(run) for run in range(RUNS)]
    return float(np.mean([i.low is not None and i.high is not None and i.low <= truth <= i.high for i in found]))


def most(level: float, runs: int = RUNS) -> float:
    """The largest share that chance allows where the true one is the level: once in a thousand it is more."""
    return float(binom.ppf(0.999, runs, level)) / runs


def false_positives(p_of: Callable[[int], float | None], level: float, runs: int = RUNS) -> float:
    p = [p_of(run) for run in range(runs)]
    return float(np.mean([value is not None and value <= level for value in p]))


@pytest.mark.slow
def test_t_intervals_of_a_difference_and_of_a_mean_cover() -> None:
    assert 0.94 <= coverage(lambda run: difference_interval(A[run], B[run]), 0.0) <= 0.975
    assert 0.93 <= coverage(lambda run: mean_interval(A[run]), MEAN) <= 0.97


@pytest.mark.slow
def test_of_a_weak_run_the_default_interval_covers_and_students_t_does_not() -> None:
    """Most queries score almost nothing and a few score well, as with the average precision of a weak run."""
    values = np.random.default_rng(10).beta(0.3, 2.7, (RUNS, N))
    default = coverage(
        lambda run: mean_interval(values[run], method="bootstrap-t", resampling=Resampling(499, seed=run)), 0.1
    )
    assert 1 - default <= most(0.06)
    assert coverage(lambda run: mean_interval(values[run]), 0.1) < 0.91


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_one_sided_t_intervals_cover(alternative: Alternative) -> None:
    found = coverage(lambda run: difference_interval(A[run], B[run], alternative=alternative, confidence=0.9), 0.0)
    assert found == pytest.approx(0.9, abs=0.03)


@pytest.mark.slow
def test_intervals_cover_where_units_are_shared_and_not_where_that_is_ignored() -> None:
    assert 0.93 <= coverage(lambda run: mean_interval(SHARED[run], units=SESSIONS), 0.0) <= 0.97
    assert coverage(lambda run: mean_interval(SHARED[run]), 0.0) < 0.88


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_intervals_of_proportions_cover(share: float) -> None:
    one = (np.random.default_rng(1).random((RUNS, 40)) < share).astype(float)
    two = np.where(np.random.default_rng(2).random((RUNS, 40)) < 0.7, one, np.roll(one, 1, axis=0))
    assert 0.93 <= coverage(lambda run: wilson_interval(one[run]), share) <= 0.98
    assert 0.94 <= coverage(lambda run: newcombe_interval(one[run], two[run]), 0.0) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    ("test", "excess_one_sided"),
    [
        ("t", 0.0),
        ("randomization", 0.0),
        ("wilcoxon", 0.0),
        ("sign", 0.0),
        ("bootstrap", 0.04),
    ],
)
def test_tests_cry_wolf_no_more_often_than_they_say(
    test: PairedTest, excess_one_sided: float, alternative: Alternative
) -> None:
    p = [
        paired_test(test, A[run], B[run], alternative=alternative, resampling=Resampling(499, seed=run)).p
        for run in range(1000)
    ]
    for level in (0.01, 0.05, 0.2):
        found = false_positives(p.__getitem__, level, 1000)
        assert found <= most(level, 1000) + (0.0 if alternative == "two-sided" else excess_one_sided)
        if test in ("t", "randomization") and level == 0.2:
            assert found >= level - 0.06  # and are not merely timid


@pytest.mark.slow
@pytest.mark.parametrize("test", ["t", "randomization", "wilcoxon", "sign", "bootstrap"])
def test_tests_that_know_the_units_do_not_cry_wolf(test: PairedTest) -> None:
    def p(run: int) -> float | None:
        return paired_test(test, SHARED[run], units=SESSIONS, resampling=Resampling(499, seed=run)).p

    assert false_positives(p, 0.05) <= most(0.05)
    if test in ("t", "randomization"):
        ignored = false_positives(
            lambda run: paired_test(test, SHARED[run], resampling=Resampling(499, seed=run)).p, 0.05
        )
        assert ignored > 2 * 0.05


@pytest.mark.slow
@pytest.mark.parametrize("test", ["t", "randomization"])
def test_equivalence_is_not_claimed_at_the_margin(test: str) -> None:
    d = np.random.default_rng(6).normal(0.1, 0.2, (RUNS, N))

    def p(run: int) -> float | None:
        return equivalence(d[run], margin=0.1, test=test, resampling=Resampling(499, seed=run)).p  # type: ignore[arg-type]  # a plain str from parametrize

    assert 0.02 <= false_positives(p, 0.05) <= most(0.05)


@pytest.mark.slow
def test_an_injected_difference_is_found_at_the_stated_power() -> None:
    d = np.random.default_rng(9).normal(0.06, 0.1, (RUNS, N))
    for alternative in ("two-sided", "greater"):
        stated = power(0.06, 0.1, N, alternative=alternative).power
        assert stated is not None
        for test in ("t", "randomization"):
            found = false_positives(
                lambda run, test=test, alternative=alternative: (
                    paired_test(  # type: ignore[misc]  # mypy cannot infer a lambda with defaults
                        test, d[run], alternative=alternative
                    ).p
                ),
                0.05,
            )
            assert found == pytest.approx(stated, abs=0.04)


def significant(differences: Floats, alternative: Alternative, seed: int) -> bool:
    """Whether the default procedure finds any difference in a family."""
    result = joint_test(
        differences,
        alternative=alternative,
        ranges=[(-1.0, 1.0)] * differences.shape[1],
        sensitivity=False,
        resampling=Resampling(499, seed),
    )
    return any(row.p is not None and row.p <= 0.05 for row in result.rows)


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_gates_in_which_nothing_changed_fail_as_often_as_they_say(alternative: Alternative) -> None:
    """Three measures that depend on each other, of systems that are equally good on the whole.

    A drop of exactly the margin that is called no worse is the same error, on the other side.
    """
    rng = np.random.default_rng(13)
    wrong = 0
    for run in range(600):
        own, query, baseline = (rng.beta(0.8, 1.5, (N, columns)) for columns in (3, 1, 2))
        wrong += significant((own + query) / 2 - baseline.mean(axis=1, keepdims=True), alternative, run)
    assert 0.02 <= wrong / 600 <= most(0.05, 600)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "n"), [(0.2, 20), (0.1, 50), (0.05, 100)])
def test_tiny_losses_with_rare_large_gains_are_not_called_a_drop(share: float, n: int) -> None:
    """The mean is 0, though most queries lose. The randomization test errs more often than it says."""
    rng = np.random.default_rng(11)
    loss = 0.5 * share / (1 - share)
    values = np.where(rng.random((400, n)) < share, 0.5, -loss * rng.uniform(0.5, 1.5, (400, n)))
    assert np.mean([significant(column[:, np.newaxis], "less", run) for run, column in enumerate(values)]) <= 0.05
    flips = false_positives(
        lambda run: paired_test("randomization", values[run], alternative="less", resampling=Resampling(499, run)).p,
        0.05,
        400,
    )
    assert flips > 0.07


@pytest.mark.slow
def test_the_detectable_difference_is_found_if_only_some_queries_change() -> None:
    """Every query gained about 0.3; then some gain as much and the others nothing, often fewer than ten."""
    rng = np.random.default_rng(12)
    found = 0
    for pilot in range(200):
        size = joint_test(rng.normal(0.3, 0.05, (50, 1)), resampling=Resampling(499, pilot)).rows[0].detectable
        gains = np.where(rng.random((50, 1)) < (size or 0.0) / 0.3, rng.normal(0.3, 0.05, (50, 1)), 0.0)
        found += significant(gains, "two-sided", pilot)
    assert 1 - most(0.2, 200) <= found / 200 <= 0.9
