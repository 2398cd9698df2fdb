"""Charts: nothing outside the frame, no text over other text."""

from __future__ import annotations

import itertools
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.render.html import as_html
from rankgauge.render.html.charts.curves import pareto_front
from rankgauge.render.html.charts.differences import POINT_SIZES, axes_of, point_paths
from rankgauge.render.html.charts.drawing import (
    FULL_WIDTH,
    NAME_SPACING,
    NAME_WIDTH,
    Scale,
    covering_ticks,
    fitted,
    fitting_ticks,
    log_ticks,
    padded_range,
    separate,
    tag,
    text_width,
    tick_labels,
    ticks,
)
from rankgauge.render.html.charts.ranges import forest, largest_distance
from rankgauge.render.html.page_systems import PageSystem, color_systems
from rankgauge.render.html.page_text import plain, shorten_end, shorten_middle
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
    assert log_ticks(0.001, 10_000, (1,)) == [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10_000]
    assert tick_labels([0.75, 0.8, 1.0]) == ["0.75", "0.80", "1.00"]
    assert tick_labels([0.5, 1, 2000], log=True) == ["0.5", "1", "2,000"]


@given(NUMBERS, NUMBERS, st.floats(20, 900), st.booleans())
def test_the_labels_of_ticks_do_not_overlap(first: float, second: float, width: float, log: bool) -> None:
    low, high = sorted((abs(first) + 1e-3, abs(second) + 1e-3)) if log else sorted((first, second))
    if high - low <= 1e-6:
        return
    scale = Scale(low, high, 0, FULL_WIDTH, log=log)
    values = fitting_ticks(scale, width)
    places = [
        (scale(tick) * width / FULL_WIDTH, text_width(label) / 2)
        for tick, label in zip(values, tick_labels(values, log=log), strict=True)
    ]
    assert all(b - a > half + other for (a, half), (b, other) in pairwise(places))


@given(st.lists(st.floats(-1e6, 1e6), max_size=6), st.integers(3, 8))
def test_covering_ticks_hold_every_value_and_are_few(values: list[float], count: int) -> None:
    covering = covering_ticks(values, count)
    assert 2 <= len(covering) <= count + 3
    tolerance = 1e-6 * (covering[-1] - covering[0])
    assert all(covering[0] - tolerance <= value <= covering[-1] + tolerance for value in values)


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
    a, b = PageSystem("a", "c0", "s0"), PageSystem("b", "c1", "s1")
    points = [(a, 2.0, 0.5), (b, 1.0, 0.4), (a, 3.0, 0.45), (b, 4.0, 0.9), (a, 1.0, 0.3)]
    assert [(time, value) for _, time, value in pareto_front(points)] == [(1.0, 0.4), (2.0, 0.5), (4.0, 0.9)]
    assert [(time, value) for _, time, value in pareto_front(points, lower_is_better=True)] == [(1.0, 0.3)]


def test_the_baseline_is_a_gray_circle_and_no_two_systems_look_the_same() -> None:
    systems = color_systems([str(n) for n in range(100)], 2)
    assert (systems[2].color, systems[2].shape) == ("c0", "s0")
    assert len({(system.color, system.shape) for system in systems}) == 100
    assert len({system.color for system in systems[:12]}) == len({system.shape for system in systems[:12]}) == 12


@given(st.text(max_size=60))
def test_a_fitted_name_is_as_long_as_fits(name: str) -> None:
    assert text_width(fitted(name)) <= NAME_WIDTH
    if text_width(plain(name)) <= NAME_WIDTH:
        assert fitted(name) == plain(name)


@given(st.lists(st.tuples(st.floats(0, 1000), st.floats(0, 300)), max_size=400))
def test_every_query_is_part_of_a_point_and_larger_points_are_more_queries(points: list[tuple[float, float]]) -> None:
    paths = point_paths([*points, *[(500.0, 100.0)] * 30])
    assert len(paths) == len(POINT_SIZES)
    assert paths[-1].count("M") >= 1
    assert 1 <= sum(path.count("M") for path in paths) <= len(points) + 1


def test_the_small_chart_of_a_difference_has_its_interval_around_it() -> None:
    comparison = report(3).comparison
    assert comparison is not None
    limit = largest_distance(comparison.differences)
    for row in comparison.differences:
        drawn = forest(row, limit, "c1")
        zero, *others = (float(place) for place in re.findall(r' c?x1?="([\d.]+)%', drawn))
        end = re.search(r' x2="([\d.]+)%"[^>]* class="range"', drawn)
        assert zero == 50
        assert row.difference is not None
        assert others[-1] == pytest.approx(50 + 45 * row.difference / limit, abs=0.1)
        assert end is None or others[0] <= others[-1] <= float(end[1]) <= 95


def test_axes_hold_every_value_and_every_difference() -> None:
    made = report(3)
    for index in range(len(made.scores[0].measures)):
        axes = axes_of(made.scores, index)
        values = [scores.values[:, index] for scores in made.scores]
        for one, other in itertools.permutations(values, 2):
            shown = axes.gap_ticks_for(one - other)
            assert shown[0] <= min((one - other).min(), 0) + 1e-9
            assert max((one - other).max(), 0) - 1e-9 <= shown[-1]
        assert axes.gap >= max(abs(a - b).max() for a in values for b in values)
        least, most = (pick(values) for pick in (np.min, np.max))
        step = axes.ticks[1] - axes.ticks[0]
        assert axes.low <= least < axes.low + step or least == most  # as long as needed, and not longer
        assert axes.high - step < most <= axes.high or least == most


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
        assert re.fullmatch(r"[MLHVCZhvz\d. -]*", path), path
    for position in re.findall(r' c?[xy][12]?="([^"]*)"', page):
        assert re.fullmatch(r"-?[\d.]+%?", position), position
