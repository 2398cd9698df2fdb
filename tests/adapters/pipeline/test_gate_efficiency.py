"""What a gate saves, and what that costs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError
from rankgauge.adapters import gate_efficiency
from tests.render.formats.fragments import shown


def test_efficiency_is_the_percentage_correctly_skipped() -> None:
    found = gate_efficiency([True, False, False, True], [True, True, False, False])
    assert found.efficiency == 25.0
    assert (found.saved, found.correctly_retrieved) == (1, 1)
    assert (found.wrongly_skipped, found.wrongly_retrieved) == (("2",), ("4",))
    assert (found.precision, found.recall) == (0.5, 0.5)
    assert found.quality_lost is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_every_query_is_of_one_of_four_kinds(pairs: list[tuple[bool, bool]]) -> None:
    found = gate_efficiency([ran for ran, _ in pairs], [needed for _, needed in pairs])
    parts = (found.saved, len(found.wrongly_skipped), len(found.wrongly_retrieved), found.correctly_retrieved)
    assert sum(parts) == found.n == len(pairs)
    assert found.efficiency == 100 * sum(not ran and not needed for ran, needed in pairs) / len(pairs)
    needed = sum(needed for _, needed in pairs)
    assert found.recall == (pytest.approx(found.correctly_retrieved / needed) if needed else None)


def test_a_gate_that_skips_everything_looks_efficient_and_is_not() -> None:
    found = gate_efficiency([False] * 4, [False, False, False, True], quality=[None, None, None, 0.9])
    assert found.efficiency == 75.0
    assert (found.precision, found.recall) == (None, 0.0)
    assert found.quality_lost is not None
    assert (found.quality_lost.estimate, found.quality_lost.low) == (0.9, None)


def test_the_quality_lost_is_a_mean_over_all_queries_whose_quality_is_known() -> None:
    found = gate_efficiency(
        [True, False, False, True],
        [True, True, False, False],
        quality=[0.8, 0.6, None, 0.4],
        quality_skipped=[0, 0.3, 0, 0],
    )
    assert found.quality_lost is not None
    assert found.quality_lost.estimate == pytest.approx(0.1)
    assert found.quality_lost.n == 3
    assert "quality lost 0.1000" in str(found)


def test_queries_may_have_ids() -> None:
    found = gate_efficiency({"a": False, "b": False}, {"b": True, "a": False}, quality={"b": 0.5})
    assert found.wrongly_skipped == ("b",)
    assert found.to_pandas()["query"].tolist() == ["b"]
    assert found.to_polars()["decision"].to_list() == ["wrongly skipped"]
    assert found.to_dict()["gate_efficiency"] == 50.0
    assert shown(found).tables[0].rows[0] == ["needed", "0", "1"]


def test_without_queries_there_is_no_efficiency() -> None:
    assert gate_efficiency([], []).efficiency is None


@pytest.mark.parametrize(
    ("ran", "needed", "options", "message"),
    [
        ([True], [True, False], {}, "retrieved has 1 query, needed has 2 queries"),
        ([1], [True], {}, "retrieved of query '1' must be True or False"),
        ([True], [True], {"quality": [1, 2]}, "quality has 2 queries"),
    ],
)
def test_wrong_decisions_are_errors(ran: Any, needed: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gate_efficiency(ran, needed, **options)


def test_the_interval_of_the_quality_lost_stays_within_what_a_difference_can_be() -> None:
    lost = gate_efficiency([True, False], [True, True], quality=[0.6, 1.0]).quality_lost
    assert lost is not None
    assert (lost.estimate, lost.low, lost.high) == (0.5, -1.0, 1.0)
    rank = gate_efficiency([True, False], [True, True], quality=[2.0, 9.0], measure="FirstRel").quality_lost
    assert rank is not None
    assert rank.low is not None
    assert rank.low < -1
