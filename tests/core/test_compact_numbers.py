"""Numbers of any size in little space, sizes of files, and intervals written by a given function."""

from __future__ import annotations

import math

import pytest

from rankgauge.core.formatting import MISSING, byte_size, compact_number, span, span_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, MISSING), (math.nan, MISSING), (0.12345, "0.123"), (-0.5, "−0.500"), (123.456, "123.5"),
        (12345.6, "12,346"), (math.inf, "∞"), (-math.inf, "−∞"),
    ],
)  # fmt: skip
def test_large_values_have_fewer_decimals(value: float | None, text: str) -> None:
    assert compact_number(value) == text


def test_a_count_has_no_decimals() -> None:
    assert compact_number(1234.0, count=True) == "1,234"


@pytest.mark.parametrize(("count", "text"), [(None, MISSING), (999, "999 B"), (1_500_000, "1.5 MB"), (2e9, "2.0 GB")])
def test_sizes_have_a_unit(count: int | None, text: str) -> None:
    assert byte_size(count) == text


def test_an_interval_is_written_the_same_way_by_any_function() -> None:
    for low, high in ((0.1, 0.2), (None, 0.2), (0.1, None), (None, None)):
        assert span(low, high, 2) == span_of(low, high, lambda end: f"{end:.2f}")
