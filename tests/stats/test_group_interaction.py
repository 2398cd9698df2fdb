from __future__ import annotations

from collections import Counter
from fractions import Fraction
from inspect import signature
from itertools import permutations
from statistics import mean, variance

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankgauge.errors import UsageError
from rankgauge.stats.draws import RandomStream, Resampling
from rankgauge.stats.group_interaction import interaction, shuffles

GAPS = [0.5, 0.4, 0.6, -0.1, 0.0, 0.1, 0.3]
GROUPS = ["easy", "easy", "easy", "hard", "hard", "hard", "hard"]


def welch(parts: list[list[float]]) -> float:
    """Welch's F, term by term as in his paper; a variance of 0 is a small share of that of all values."""
    everything = [Fraction(str(value)) for part in parts for value in part]
    least = variance(everything) * (len(everything) - 1) / len(everything) / 10**12
    groups = [[Fraction(str(value)) for value in part] for part in parts]
    k, means = len(groups), [mean(part) for part in groups]
    weights = [len(part) / max(variance(part), least) for part in groups]
    center = sum(w * m for w, m in zip(weights, means, strict=True)) / sum(weights)
    above = sum(w * (m - center) ** 2 for w, m in zip(weights, means, strict=True)) / (k - 1)
    spread = sum((1 - w / sum(weights)) ** 2 / (len(part) - 1) for w, part in zip(weights, groups, strict=True))
    return float(above / (1 + Fraction(2 * (k - 2), k * k - 1) * spread))


def by_enumeration(gaps: list[float], groups: list[str]) -> float:
    """The share of all orders whose F is at least the observed one."""

    def f(values: tuple[float, ...]) -> float:
        return welch(
            [[v for v, group in zip(values, groups, strict=True) if group == label] for label in sorted(set(groups))]
        )

    observed = f(tuple(gaps))
    drawn = Counter(permutations(gaps))
    return sum(count for order, count in drawn.items() if f(order) >= observed * (1 - 1e-9) - 1e-9) / drawn.total()


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.sampled_from([-0.5, -0.1, 0.0, 0.2, 0.4, 0.9]), st.sampled_from("ab")), min_size=4, max_size=6
    )
)
def test_p_is_at_least_the_share_of_all_orders(rows: list[tuple[float, str]]) -> None:
    gaps, groups = [gap for gap, _ in rows], [group for _, group in rows]
    found = interaction(gaps, groups, resampling=Resampling(8000))
    if len(set(groups)) < 2 or min(Counter(groups).values()) < 2:
        assert found.p is None
        assert found.reason == "at least 2 groups are needed, each with at least 2 queries"
    elif len(set(gaps)) == 1:
        assert found.p == 1.0
    else:
        exact = by_enumeration(gaps, groups)
        assert found.p is not None
        assert found.p >= exact - 4.5 * (exact * (1 - exact) / 8000) ** 0.5 - 2 / 8001


def test_p_is_the_larger_share_of_permutations_and_of_draws_of_each_group() -> None:
    rng = np.random.default_rng(4)
    parts = [rng.normal(0.2, 0.3, 12), rng.normal(0.0, 0.05, 30)]
    labels = ["a"] * 12 + ["b"] * 30
    found = interaction(np.concatenate(parts), labels, resampling=Resampling(199, 5))
    observed = float(stats.ttest_ind(*parts, equal_var=False).statistic) ** 2
    block = Resampling(199, 5).stream.child("interaction", "draws", "block 0")
    drawn = [
        (part - part.mean())[block.child(str(place)).bits().below(len(part), 199, size + size % 2)[:, :size]]
        for place, (part, size) in enumerate(zip(parts, (6, 15), strict=True))  # half of each group
    ]
    f = np.square(stats.ttest_ind(*drawn, axis=1, equal_var=False).statistic)
    by_draws = (np.count_nonzero(f >= observed) + 1) / 200
    assert found.p == pytest.approx(by_draws)  # permutations do not know that the smaller group varies more


VALUES = st.lists(st.integers(-1000, 1000).map(lambda n: n / 1000), min_size=2, max_size=8)


@given(st.lists(VALUES, min_size=2, max_size=5))
def test_the_statistic_is_welchs_f_also_if_a_group_does_not_vary(parts: list[list[float]]) -> None:
    values = [value for part in parts for value in part]
    labels = [label for label, part in enumerate(parts) for _ in part]
    found = interaction(values, labels, resampling=Resampling(1))
    expected = 0.0 if len(set(values)) == 1 else welch(parts)
    assert found.statistic == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.skipif("equal_var" not in signature(stats.f_oneway).parameters, reason="needs SciPy 1.16 or later")
def test_the_statistic_is_scipys() -> None:
    found = interaction(GAPS, GROUPS)
    assert found.statistic == pytest.approx(float(stats.ttest_ind(GAPS[:3], GAPS[3:], equal_var=False).statistic) ** 2)
    assert (found.resamples, found.exact) == (10_000, False)
    rng = np.random.default_rng(4)
    for _ in range(30):
        sizes = rng.integers(2, 20, size=rng.integers(2, 7)).tolist()
        parts = [rng.normal(rng.normal(0, 0.1), rng.uniform(0.05, 0.5), size=size) for size in sizes]
        labels = [label for label, size in enumerate(sizes) for _ in range(size)]
        ours = interaction(np.concatenate(parts), labels, resampling=Resampling(1)).statistic
        assert ours == pytest.approx(float(stats.f_oneway(*parts, equal_var=False).statistic))


def test_a_group_without_variance_compares_the_others_with_its_value() -> None:
    still, moving = [0.0] * 5, [0.1, 0.3, -0.1, 0.2]
    found = interaction(still + moving, ["still"] * 5 + ["moving"] * 4)
    assert found.statistic == pytest.approx(float(stats.ttest_1samp(moving, 0).statistic) ** 2)
    apart = interaction([0.0, 0.0, 0.5, 0.5, 0.5], ["a", "a", "b", "b", "b"], resampling=Resampling(9999))
    assert (apart.statistic or 0.0) > 1e9
    assert apart.p == pytest.approx(0.1, abs=0.02)  # one of the ten ways to choose two of five


def test_a_small_p_is_resolved_as_finely_as_the_level_needs() -> None:
    gaps = np.concatenate([np.zeros(20), np.ones(20)]) + np.random.default_rng(3).normal(scale=0.1, size=40)
    groups = ["ab"[n // 20] for n in range(40)]
    assert interaction(gaps, groups).p == 1 / 10_001
    found = interaction(gaps, groups, alpha=0.05 / 100)
    assert (found.p, found.resamples) == (1 / 20_001, 20_000)
    assert (found.p or 1.0) * 100 <= 0.05 / 10
    none = interaction(np.roll(gaps, 10), groups, alpha=0.05 / 100)  # p is large: no more than the default is drawn
    assert (none.resamples, none.p) == (10_000, interaction(np.roll(gaps, 10), groups).p)
    with pytest.raises(UsageError, match="alpha"):
        interaction(gaps, groups, alpha=0)


def test_groups_of_unequal_spread_are_rarely_significant() -> None:
    rng = np.random.default_rng(11)
    groups, scale = ["ab"[n >= 10] for n in range(100)], np.repeat([0.4, 0.1], [10, 90])
    p = [
        interaction(rng.normal(0, scale), groups, resampling=Resampling(199, labels=(str(n),))).p or 0.0
        for n in range(300)
    ]
    # The ordinary F, which pools the variances, has p below 0.05 in two draws of five.
    assert sum(value <= 0.05 for value in p) <= stats.binom.ppf(0.999, 300, 0.06)


def test_the_same_seed_and_labels_give_the_same_p_whatever_the_order_of_the_groups_names() -> None:
    again = interaction(GAPS, [{"easy": 1, "hard": 0}[group] for group in GROUPS], resampling=Resampling(labels=("a",)))
    assert interaction(GAPS, GROUPS, resampling=Resampling(labels=("a",))).p == again.p
    many = np.random.default_rng(1).normal(size=60)
    labels = ["ab"[n % 2] for n in range(60)]
    drawn = {interaction(many, labels, resampling=Resampling(999, seed=seed)).p for seed in range(4)}
    assert len(drawn) > 1


def test_every_order_is_drawn_equally_often() -> None:
    drawn = np.concatenate(list(shuffles(4, 24_000, RandomStream(0))))
    assert drawn.shape == (24_000, 4)
    assert np.all(np.sort(drawn, axis=1) == np.arange(4))
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 1e-4


def test_units_are_shuffled_whole() -> None:
    often = [2, 1, 3, 1, 4, 2, 1]
    rows = [n for n, times in enumerate(often) for _ in range(times)]
    found = interaction([GAPS[n] for n in rows], [GROUPS[n] for n in rows], units=rows)
    plain = interaction(GAPS, GROUPS)
    assert found.p == plain.p  # a query once more shows nothing new
    assert found.statistic == pytest.approx(plain.statistic)
    assert found.units == 7
    apart = interaction(GAPS, GROUPS, units=[0, 1, 2, 0, 3, 4, 5])
    assert (apart.p, apart.reason) == (None, "queries of one unit belong to several groups")


def test_under_the_null_p_is_no_smaller_than_it_should_be() -> None:
    rng = np.random.default_rng(7)
    skewed = rng.exponential(size=(400, 15)) ** 2  # far from normal
    groups = ["abc"[n % 3] for n in range(15)]
    p = [
        interaction(row, groups, resampling=Resampling(199, labels=(str(n),))).p or 0.0 for n, row in enumerate(skewed)
    ]
    assert sum(value <= 0.05 for value in p) <= stats.binom.ppf(0.999, 400, 0.05)


def test_no_p_is_smaller_than_one_of_all_that_was_tried() -> None:
    gaps = [0.0] * 15 + [1.0] * 15
    noise = np.random.default_rng(2).normal(scale=0.01, size=30)
    assert interaction(np.array(gaps) + noise, gaps, resampling=Resampling(99)).p == 1 / 100


def test_what_all_differences_share_hides_nothing() -> None:
    rng = np.random.default_rng(5)
    gaps = 1e-7 * (rng.normal(size=40) + np.repeat([0.0, 10.0], 20))
    groups = ["ab"[n // 20] for n in range(40)]
    alone, shifted = interaction(gaps, groups), interaction(0.5 + gaps, groups)
    assert shifted.p == alone.p == 1 / 10_001
    assert shifted.statistic == pytest.approx(alone.statistic, rel=1e-4)


def test_what_says_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="resamples"):
        interaction(GAPS, GROUPS, resampling=Resampling(0))
