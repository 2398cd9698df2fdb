import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankgauge.errors import InputError, UsageError
from rankgauge.stats.corrections import P_VALUE_CORRECTIONS, correct, maxt, shuffled_sums, tukey
from rankgauge.stats.draws import RandomStream, Resampling
from rankgauge.stats.paired_tests import paired_t
from rankgauge.stats.randomization import randomization_test
from rankgauge.stats.results import ALTERNATIVES, Alternative
from tests.stats import definitions
from tests.stats.strategies import alternatives, differences, scores

p_values = st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.01, 0.02, 0.04, 0.3, 0.5, 1.0]), min_size=1, max_size=8)
RNG = np.random.default_rng(12)


@given(p_values, st.sampled_from(["bonferroni", "holm", "bh"]))
def test_corrections_are_their_definitions(p: list[float], method: str) -> None:
    found = correct(p, method)  # type: ignore[arg-type]  # a plain str from parametrize
    assert list(found.p) == pytest.approx(definitions.adjusted(p, method))
    assert found.family == len(p)


@given(p_values)
def test_the_false_discovery_correction_is_scipys(p: list[float]) -> None:
    assert list(correct(p, "bh").p) == pytest.approx(stats.false_discovery_control(p, method="bh").tolist())


@given(p_values)
def test_corrected_values_keep_their_order_and_never_shrink(p: list[float]) -> None:
    for method in P_VALUE_CORRECTIONS:
        found = [value for value in correct(p, method).p if value is not None]
        assert all(after >= before - 1e-15 for before, after in zip(p, found, strict=True))
        ranked = [after for _, after in sorted(zip(p, found, strict=True))]
        assert ranked == sorted(ranked)
        assert max(found) <= 1


def test_none_stays_none_and_does_not_count() -> None:
    found = correct([0.01, None, 0.04], "bonferroni")
    assert found.p == (0.02, None, 0.08)
    assert found.family == 2
    assert correct([None]).p == (None,)
    assert correct([]).p == ()


def test_bad_p_values_are_refused() -> None:
    for value in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="between 0 and 1"):
            correct([0.5, value])
    with pytest.raises(UsageError, match="correction must be one of"):
        correct([0.5], "sidak")  # type: ignore[arg-type]  # refused at run time


def test_a_family_says_what_it_controls_and_assumes() -> None:
    assert "family-wise" in correct([0.1], "holm").controls
    assert "discovery" in correct([0.1], "bh").controls
    assert "joint symmetry" in maxt([[0.1], [0.2]]).assumption
    assert "joint symmetry" in tukey([[0.1, 0.2], [0.2, 0.4]]).assumption
    assert maxt(RNG.normal(size=(9, 6))).family == 6
    assert tukey(RNG.normal(size=(4, 3))).family == 3


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(differences, differences, differences), min_size=2, max_size=7), alternatives)
def test_maxt_is_the_share_of_all_joint_sign_patterns(
    rows: list[tuple[float, float, float]], alternative: Alternative
) -> None:
    rounded = [[round(value, 12) for value in row] for row in rows]
    found = maxt(rows, alternative=alternative)
    wanted = definitions.maxt_p(rounded, alternative)
    columns = list(zip(*rounded, strict=True))
    if all(any(column) for column in columns):
        assert list(found.p) == pytest.approx(wanted)
    for p, column in zip(found.p, columns, strict=True):
        if not any(column):
            assert p == 1.0
    assert found.exact


@given(st.lists(differences, min_size=1, max_size=12), alternatives)
def test_maxt_of_one_hypothesis_is_fishers_test(values: list[float], alternative: Alternative) -> None:
    found = maxt(np.array(values)[:, np.newaxis], alternative=alternative)
    assert found.p == (randomization_test(values, alternative=alternative).p,)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_maxt_of_one_hypothesis_draws_what_fishers_test_draws(alternative: Alternative) -> None:
    values = RNG.normal(0.2, 1, 60)
    found = maxt(values[:, np.newaxis], alternative=alternative, resampling=Resampling(seed=3, labels=("x",)))
    assert found.p == (
        randomization_test(values, alternative=alternative, resampling=Resampling(seed=3, labels=("x",))).p,
    )
    assert not found.exact


def test_maxt_reports_students_t() -> None:
    values = RNG.normal(0.2, 1, (40, 3))
    found = maxt(values, alternative="less", resampling=Resampling(100))
    assert list(found.statistic) == pytest.approx([paired_t(column).statistic for column in values.T])
    assert list(found.estimate) == pytest.approx(values.mean(axis=0).tolist())


def test_maxt_does_not_let_the_widest_column_decide() -> None:
    narrow = RNG.normal(0.03, 0.05, 50)
    wide = RNG.normal(0, 100, 50)
    p = maxt(np.column_stack([narrow, wide])).p
    assert p[0] is not None
    assert p[0] < 0.01
    assert maxt(np.column_stack([narrow, wide / 1000])).p[0] == p[0]


def test_maxt_takes_copies_of_a_hypothesis_as_one() -> None:
    values = RNG.normal(0.3, 1, 50)
    one = maxt(values[:, np.newaxis]).p[0]
    assert maxt(np.column_stack([values] * 5)).p == (one,) * 5


def test_maxt_flips_units() -> None:
    values, units = RNG.normal(0.3, 1, (12, 2)), np.repeat(np.arange(6), 2)
    found = maxt(values, units=units)
    assert found.p == pytest.approx(maxt(values.reshape(6, 2, 2).sum(axis=1)).p)
    assert found.units == 6


def test_maxt_of_nothing_gives_a_reason() -> None:
    found = maxt(np.zeros((0, 2)))
    assert found.p == (None, None)
    assert found.reason
    assert maxt(np.zeros((5, 2))).p == (1.0, 1.0)


def test_a_constant_difference_has_a_p_but_no_t() -> None:
    found = maxt(np.full((10, 1), 0.1))
    assert found.p == (2 / 2**10,)
    assert found.statistic == (None,)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(scores, scores, scores), min_size=1, max_size=4))
def test_tukey_is_the_share_of_all_orders(rows: list[tuple[float, float, float]]) -> None:
    found = tukey(rows)
    assert list(found.p) == pytest.approx(definitions.tukey_p(rows))
    assert found.pairs == ((0, 1), (0, 2), (1, 2))


@pytest.mark.parametrize("n", [5, 12, 60])
def test_tukey_of_two_systems_is_fishers_test(n: int) -> None:
    values = RNG.random((n, 2))
    found = tukey(values, resampling=Resampling(seed=8, labels=("m",)))
    wanted = randomization_test(values[:, 0], values[:, 1], resampling=Resampling(seed=8, labels=("m",)))
    assert found.p == (wanted.p,)
    assert found.exact == wanted.exact


@pytest.mark.parametrize("systems", [3, 4, 8])
def test_drawn_orders_come_near_all_orders(systems: int) -> None:
    values = np.random.default_rng(systems).random(({3: 6, 4: 3, 8: 2}[systems], systems))
    drawn = tukey(values, resampling=Resampling(10_000))
    assert not drawn.exact
    if systems == 8:  # 8!² orders: against plain shuffling
        rng = np.random.default_rng(0)
        sums = np.array([rng.permuted(values, axis=1).sum(axis=0) for _ in range(10_000)])
        gaps = sums.max(axis=1) - sums.min(axis=1)
        totals = values.sum(axis=0)
        exact = [float(np.mean(gaps >= abs(totals[i] - totals[j]) - 1e-9)) for i, j in drawn.pairs]
    else:
        exact = [p for p in tukey(values, resampling=Resampling(20_000_000)).p if p is not None]
    assert list(drawn.p) == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize("systems", [3, 8])
def test_a_shuffle_puts_every_system_in_every_place_as_often(systems: int) -> None:
    row = np.arange(systems, dtype=np.float64)[np.newaxis]
    drawn = np.hstack(list(shuffled_sums(row, 16_000, RandomStream(1))))
    assert np.array_equal(np.sort(drawn, axis=0), np.repeat(row.T, 16_000, axis=1))
    for place in drawn:
        counts = np.bincount(place.astype(int), minlength=systems)
        assert np.abs(counts - 16_000 / systems).max() < 5 * math.sqrt(16_000 / systems)


def test_tukey_shuffles_units_together() -> None:
    values, units = RNG.random((6, 3)), [0, 0, 1, 1, 2, 2]
    found = tukey(values, units=units)
    assert found.p == pytest.approx(tukey(values.reshape(3, 2, 3).sum(axis=1)).p)
    assert found.units == 3


def test_tukey_wants_two_systems() -> None:
    with pytest.raises(InputError, match="at least 2 systems"):
        tukey([[0.1], [0.2]])
    assert tukey(np.zeros((0, 3))).p == (None, None, None)
    assert tukey(np.full((5, 3), 0.2)).p == (1.0, 1.0, 1.0)
