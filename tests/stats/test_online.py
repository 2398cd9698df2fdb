from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import UsageError
from rankgauge.stats import online_level, sign_flip_e_value
from rankgauge.stats.online import MAX_DRAWS, draws_for_level

sizes = st.lists(st.integers(-9, 9).map(lambda number: number / 9), min_size=1, max_size=7)
levels = st.floats(1e-6, 0.2)


def test_levels_of_a_period() -> None:
    assert online_level(0.05, 200) == online_level(0.05, 200, 7) == 0.00025
    assert online_level(0.05, 200, 0, "lond") == 0.00025
    assert online_level(0.05, 200, 3, "lond") == online_level(0.05, 200, 3, "e-lond") == pytest.approx(0.001)
    assert online_level(0.05, 4, 9, "lond") == 0.05  # never above alpha
    for wrong in ((0.0, 10), (0.05, 0)):
        with pytest.raises(UsageError):
            online_level(*wrong)
    with pytest.raises(UsageError):
        online_level(0.05, 10, 0, "saffron")  # type: ignore[arg-type]  # what a user may write


def test_draws_grow_with_the_level_until_there_are_too_many() -> None:
    assert draws_for_level(0.00025) == 40_000
    assert draws_for_level(10 / MAX_DRAWS) == MAX_DRAWS
    with pytest.raises(UsageError, match="more than 1,000,000 draws"):
        draws_for_level(5e-6)


@given(sizes, levels, st.sampled_from(["less", "greater", "two-sided"]))
def test_the_mean_e_value_over_all_signs_is_one(sample: list[float], level: float, alternative: str) -> None:
    flipped = [np.array(sample) * signs for signs in itertools.product((1, -1), repeat=len(sample))]
    found = [sign_flip_e_value(row, level=level, alternative=alternative) for row in flipped]  # type: ignore[arg-type]  # drawn
    assert math.fsum(found) / len(found) == pytest.approx(1)
    assert min(found) >= 0


def test_an_e_value_is_large_for_drops_only() -> None:
    drops = np.random.default_rng(1).normal(-0.1, 0.1, 60)
    assert sign_flip_e_value(drops, level=0.00025) > 4000
    assert sign_flip_e_value(-drops, level=0.00025) < 1
    assert sign_flip_e_value(-drops, level=0.00025, alternative="greater") > 4000
    assert sign_flip_e_value(np.zeros(5), level=0.01) == 1
    assert sign_flip_e_value(np.repeat(drops, 3), level=0.01, units=np.repeat(np.arange(60), 3)) == pytest.approx(
        sign_flip_e_value(drops, level=0.01)
    )


def test_an_e_value_reaches_its_level_about_where_a_normal_sum_would() -> None:
    level, n = 0.00025, 4000
    z = math.sqrt(-2 * math.log(level))
    below, above = (np.full(n, -1.0) for _ in range(2))
    for sample, target in ((below, z - 0.3), (above, z + 0.3)):
        losses = round((n + target * math.sqrt(n)) / 2)
        sample[losses:] = 1.0
    assert sign_flip_e_value(below, level=level) < 1 / level < sign_flip_e_value(above, level=level)
