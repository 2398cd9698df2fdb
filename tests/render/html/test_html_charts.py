"""Charts: nothing outside the frame, no text over other text."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.render.html import as_html
from rankgauge.render.html.charts.cost import pareto_front
from rankgauge.render.html.charts.differences import axes_of
from rankgauge.render.html.charts.lines import NAME_SPACING, separate
from rankgauge.render.html.charts.scales import Scale, log_ticks, padded_range, ticks
from rankgauge.render.html.charts.svg import tag
from rankgauge.render.html.page_systems import PageSystem, color_systems
from rankgauge.render.html.text import plain, shorten_end, shorten_middle
from tests.render.html.reports import report

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(NUMBERS, NUMBERS, st.integers(2, 8))
def test_ticks_are_few_and_within_the_axis(first: float, second: float, count: int) -> None:
    low, high = sorted((first, second))
    if high - low > 1e-6:
        values = ticks(low, high, count)
        assert len(values) <= count + 1
        tolerance = 1e-6 * (high - low)
        assert all(low - tolerance <= tick <= high + tolerance for tick in values)


def test_ticks_are_round() -> None:
    assert ticks(0, 1, 5) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert log_ticks(1, 100) == [1, 2, 5, 10, 20, 50, 100]
    assert log_ticks(0.001, 10_000) == [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10_000]


@given(st.lists(st.floats(0, 200), max_size=8))
def test_names_at_the_ends_of_curves_do_not_overlap(positions: list[float]) -> None:
    separated = sorted(separate(positions, 0, 200))
    assert all(lower - upper >= NAME_SPACING - 1e-9 for upper, lower in pairwise(separated))


def test_a_value_outside_is_put_at_the_border() -> None:
    assert Scale(0, 1, 10, 20)(2) == 20
    assert Scale(0, 1, 10, 20)(-1) == 10
    assert Scale(3, 3, 10, 20)(3) == 15


def test_the_padding_around_values_stays_within_the_possible_values() -> None:
    assert padded_range([0.9, 1.0, None], (0, 1)) == pytest.approx((0.892, 1.0))
    assert padded_range([], (0, 1)) == (0, 1)


def test_the_pareto_front_holds_the_points_that_no_other_beats() -> None:
    a, b = PageSystem("a", "c0"), PageSystem("b", "c1")
    points = [(a, 2.0, 0.5), (b, 1.0, 0.4), (a, 3.0, 0.45), (b, 4.0, 0.9), (a, 1.0, 0.3)]
    assert [(time, value) for _, time, value in pareto_front(points)] == [(1.0, 0.4), (2.0, 0.5), (4.0, 0.9)]
    assert [(time, value) for _, time, value in pareto_front(points, lower_is_better=True)] == [(1.0, 0.3)]


def test_the_baseline_is_gray_and_adjacent_systems_differ() -> None:
    colors = [system.color for system in color_systems([str(n) for n in range(12)], 2)]
    assert colors[2] == "c0"
    assert colors.count("c0") == 1
    assert all(first != second for first, second in pairwise(colors))


def test_axes_hold_every_value_and_every_difference() -> None:
    made = report(3)
    for index in range(len(made.scores[0].measures)):
        axes = axes_of(made.scores, index)
        values = [scores.values[:, index] for scores in made.scores]
        assert axes.gap >= max(abs(a - b).max() for a in values for b in values)
        assert axes.low <= min(np.min(run_values) for run_values in values)
        assert axes.high >= max(np.max(run_values) for run_values in values)


def test_text_cannot_escape_from_an_attribute() -> None:
    element = tag("text", "<b>", class_='"><script>', x=1.26)
    assert element == '<text class="&#34;&gt;&lt;script&gt;" x="1.3">&lt;b&gt;</text>'


def test_names_are_shortened_in_the_middle_and_texts_at_the_end() -> None:
    assert shorten_middle("a-long-name-v1", 10) == "a-long…-v1"
    assert len(shorten_middle("x" * 90, 15)) == 15
    assert shorten_end("one two three", 9) == "one two…"


def test_characters_that_are_not_printable_are_escaped() -> None:
    assert plain("a\x00b\udcff") == "a\\x00b\\xff"
    assert plain("می\u200cخواهم") == "می\u200cخواهم"
    assert plain("right\u202eleft") == "right\\u202eleft"


def test_no_coordinate_is_missing_from_a_chart() -> None:
    page = as_html(report(2, 3))
    for path in re.findall(r' d="([^"]*)"', page):
        assert re.fullmatch(r"[MLHVCZhv\d. -]*", path), path
