from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankgauge.errors import UsageError
from rankgauge.stats.group_interaction import interaction, shuffles
from rankgauge.stats.seeds import RandomStream, Resampling

GAPS = [0.5, 0.4, 0.6, -0.1, 0.0, 0.1, 0.3]
GROUPS = ["easy", "easy", "easy", "hard", "hard", "hard", "hard"]


def by_enumeration(gaps: list[float], groups: list[str]) -> float:
    """The share of all orders whose F is at least the observed one."""

    def f(values: tuple[float, ...]) -> float:
        parts = [
            [v for v, group in zip(values, groups, strict=True) if group == label] for label in sorted(set(groups))
        ]
        whole = sum(values) / len(values)
        between = sum(len(part) * (sum(part) / len(part) - whole) ** 2 for part in parts)
        within = sum((v - sum(part) / len(part)) ** 2 for part in parts for v in part)
        return between / within if within > 1e-12 else float("inf")

    observed = f(tuple(gaps))
    drawn = [f(order) for order in permutations(gaps)]
    return sum(value >= observed - 1e-9 for value in drawn) / len(drawn)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.sampled_from([-0.5, -0.1, 0.0, 0.2, 0.4, 0.9]), st.sampled_from("ab")), min_size=4, max_size=7
    )
)
def test_p_is_the_share_of_all_orders(rows: list[tuple[float, str]]) -> None:
    gaps, groups = [gap for gap, _ in rows], [group for _, group in rows]
    found = interaction(gaps, groups, resampling=Resampling(8000))
    if len(set(groups)) < 2:
        assert found.p is None
        assert "at least 2 groups" in (found.reason or "")
    elif len(set(gaps)) == 1:
        assert found.p == 1.0
    else:
        exact = by_enumeration(gaps, groups)
        assert found.p == pytest.approx(exact, abs=4.5 * (exact * (1 - exact) / 8000) ** 0.5 + 2 / 8001)


def test_the_statistic_is_scipys_f() -> None:
    found = interaction(GAPS, GROUPS)
    assert found.statistic == pytest.approx(float(stats.f_oneway(GAPS[:3], GAPS[3:]).statistic))
    assert (found.resamples, found.exact) == (10_000, False)


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
