import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.stats.effects import effect
from rankgauge.stats.paired_tests import wilcoxon
from rankgauge.stats.samples import paired, sample

NOISE = 2e-13  # more than floats make of a measure, less than a measure ever moves


def test_noise_makes_neither_ranks_nor_wins() -> None:
    clean = [0.1, 0.1, -0.1, 0.0, 0.3]
    noisy = [0.1 + NOISE, 0.1, -0.1 - NOISE, NOISE, 0.3]
    assert wilcoxon(noisy).statistic == wilcoxon(clean).statistic == 2 + 2 + 4
    assert effect(noisy).ties == 1


def test_a_difference_of_large_numbers_is_rounded_as_they_are() -> None:
    first, second = [1000000.1, 1000.3], [1000000.0, 1000.2]
    assert abs((1000000.1 - 1000000.0) - (1000.3 - 1000.2)) > 1e-11
    assert paired(first, second).constant


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=60))
def test_a_total_is_the_same_in_every_order_and_grouping(values: list[float]) -> None:
    found = sample(values)
    shuffled = np.random.default_rng(len(values)).permutation(found.whole)
    assert math.fsum(found.whole) == found.total == float(np.cumsum(shuffled)[-1])
    grouped = sample(values, [place % 3 for place in range(len(values))])
    assert float(grouped.totals.sum()) == grouped.total
    assert found.values == pytest.approx(values, abs=1e-12)


def test_units_are_numbered_by_their_first_query() -> None:
    found = sample([1, 2, 3, 4, 5], ["b", "a", "b", None, None])
    assert found.unit.tolist() == [0, 1, 0, 2, 3]
    assert (found.totals / found.scale).tolist() == [4, 2, 4, 5]
    assert found.sizes.tolist() == [2, 1, 1, 1]


def test_many_or_large_values_stay_exact() -> None:
    for values in (np.full(50_000, 1 / 3), np.array([1e9, 1e-3]), np.array([1e14, 1.0])):
        found = sample(values)
        assert float(np.abs(found.whole).sum()) < 2**53
        assert np.array_equal(found.whole, np.rint(found.whole))
