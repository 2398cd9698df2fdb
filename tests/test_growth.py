"""Time grows with the number of groups as it should; `python -m benchmarks.growth` shows all dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.growth import WORST, exponent, seconds_of_work, user_seconds

from rankgauge.evaluation.query_groups import groups


def test_eight_times_as_many_groups_take_less_than_a_quadratic_time() -> None:
    def seconds(count: int) -> float:
        columns = {"kind": np.array([f"g{number}" for number in range(count)], dtype=object)}
        start = user_seconds()
        assert len(list(groups(columns, "kind"))) == count
        return user_seconds() - start

    seconds(10)
    assert min(seconds(8_000) for _ in range(2)) < 32 * max(min(seconds(1_000) for _ in range(3)), 0.002)


def test_the_exponent_is_the_slope_without_the_overhead() -> None:
    assert exponent([(10, 1.1), (20, 2.1), (40, 4.1)], 0.1) == pytest.approx(1)
    assert exponent([(10, 1.0), (20, 4.0), (40, 16.0)], 0.0) == pytest.approx(2)


@pytest.mark.parametrize("name", WORST)
def test_every_worst_case_can_be_made_and_measured(name: str) -> None:
    assert seconds_of_work(lambda folder: WORST[name][1](folder, 1_000 if name != "quotes" else 20)) >= 0
