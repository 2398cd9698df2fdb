"""One form for each kind of number: values, differences, ratios, p, shares, counts, times, sizes; and intervals."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core.formatting import (
    MISSING,
    NumberKind,
    byte_size,
    compact_number,
    milliseconds,
    percent,
    span,
    span_of,
    text_of,
)


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
    assert compact_number(1234.0, count=True) == text_of(1234.0, "count") == "1,234"


@pytest.mark.parametrize(("count", "text"), [(None, MISSING), (999, "999 B"), (1_500_000, "1.5 MB"), (2e9, "2.0 GB")])
def test_sizes_have_a_unit(count: int | None, text: str) -> None:
    assert byte_size(count) == text_of(count, "bytes") == text


def test_an_interval_is_written_the_same_way_by_any_function() -> None:
    for low, high in ((0.1, 0.2), (None, 0.2), (0.1, None), (None, None)):
        assert span(low, high, 2) == span_of(low, high, lambda end: f"{end:.2f}")


def test_a_level_is_written_in_full_and_a_measured_share_with_at_most_one_decimal() -> None:
    assert (percent(0.95), percent(0.999), percent(0.9999)) == ("95%", "99.9%", "99.99%")
    assert [text_of(share, "share") for share in (2 / 3, -0.125, 1, 0.05)] == ["66.7%", "−12.5%", "100%", "5%"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (41.215, "41.2"),
        (8.2549, "8.25"),
        (0.1234, "0.123"),
        (0.0104, "0.010"),
        (1234.5, "1,234"),
        (99.96, "100"),
        (0.0, "0"),
    ],
)
def test_a_time_has_three_digits_and_at_most_three_decimals(value: float, text: str) -> None:
    assert text_of(value, "milliseconds") == text
    assert text_of(value, "seconds") == f"{text} s"
    assert milliseconds(value) == f"{text} ms"


@given(st.floats(1e-3, 1e9))
def test_a_time_is_off_by_at_most_half_of_its_last_digit(value: float) -> None:
    shown = float(text_of(value, "milliseconds").replace(",", ""))
    assert abs(shown - value) <= max(value * 5.1e-3, 5.1e-4)


@pytest.mark.parametrize("kind", get_args(NumberKind))
def test_no_value_is_a_dash_whatever_it_would_be(kind: NumberKind) -> None:
    assert text_of(None, kind) == text_of(math.nan, kind) == MISSING
