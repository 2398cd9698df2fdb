"""Pictures: nothing outside of its frame, nothing written over something else."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.render.html.figures.cost import pareto
from rankgauge.render.html.figures.differences import axes_of
from rankgauge.render.html.figures.lines import APART, apart
from rankgauge.render.html.figures.scales import Scale, log_ticks, spread, ticks
from rankgauge.render.html.figures.svg import tag
from rankgauge.render.html.figures.systems import System, systems_of
from rankgauge.render.html.text import cut, number, plain, short
from tests.render.html.reports import report

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(NUMBERS, NUMBERS, st.integers(2, 8))
def test_ticks_are_few_and_within_the_axis(one: float, other: float, about: int) -> None:
    low, high = sorted((one, other))
    if high - low > 1e-6:
        found = ticks(low, high, about)
        assert len(found) <= about + 1
        room = 1e-6 * (high - low)
        assert all(low - room <= tick <= high + room for tick in found)


def test_ticks_are_round() -> None:
    assert ticks(0, 1, 5) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert log_ticks(1, 100) == [1, 2, 5, 10, 20, 50, 100]
    assert log_ticks(0.001, 10_000) == [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10_000]


@given(st.lists(st.floats(0, 200), max_size=8))
def test_names_at_the_ends_of_curves_do_not_overlap(places: list[float]) -> None:
    found = sorted(apart(places, 0, 200))
    assert all(lower - upper >= APART - 1e-9 for upper, lower in pairwise(found))


def test_a_value_outside_is_put_at_the_border() -> None:
    assert Scale(0, 1, 10, 20)(2) == 20
    assert Scale(0, 1, 10, 20)(-1) == 10
    assert Scale(3, 3, 10, 20)(3) == 15


def test_the_room_around_values_does_not_leave_what_is_possible() -> None:
    assert spread([0.9, 1.0, None], (0, 1)) == pytest.approx((0.892, 1.0))
    assert spread([], (0, 1)) == (0, 1)


def test_the_front_holds_what_no_other_beats() -> None:
    one, other = System("a", "c0"), System("b", "c1")
    points = [(one, 2.0, 0.5), (other, 1.0, 0.4), (one, 3.0, 0.45), (other, 4.0, 0.9), (one, 1.0, 0.3)]
    assert [(time, value) for _, time, value in pareto(points)] == [(1.0, 0.4), (2.0, 0.5), (4.0, 0.9)]
    assert [(time, value) for _, time, value in pareto(points, lower=True)] == [(1.0, 0.3)]


def test_the_baseline_is_grey_and_neighbours_differ() -> None:
    colours = [system.colour for system in systems_of([str(n) for n in range(12)], 2)]
    assert colours[2] == "c0"
    assert colours.count("c0") == 1
    assert all(one != other for one, other in pairwise(colours))


def test_axes_hold_every_value_and_every_difference() -> None:
    made = report(3)
    for place in range(len(made.scores[0].measures)):
        axes = axes_of(made.scores, place)
        values = [one.values[:, place] for one in made.scores]
        assert axes.gap >= max(abs(a - b).max() for a in values for b in values)
        assert axes.low <= min(each.min() for each in values)
        assert axes.high >= max(each.max() for each in values)


def test_an_attribute_cannot_be_left() -> None:
    made = tag("text", "<b>", class_='"><script>', x=1.26)
    assert made == '<text class="&#34;&gt;&lt;script&gt;" x="1.3">&lt;b&gt;</text>'


def test_names_are_shortened_in_the_middle_and_texts_at_the_end() -> None:
    assert short("a-long-name-v1", 10) == "a-long…-v1"
    assert len(short("x" * 90, 15)) == 15
    assert cut("one two three", 9) == "one two…"


def test_what_is_not_printable_is_written_out() -> None:
    assert plain("a\x00b\udcff") == "a\\x00b\\xff"
    assert plain("می\u200cخواهم") == "می\u200cخواهم"
    assert plain("right\u202eleft") == "right\\u202eleft"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (float("nan"), "–"), (0.12345, "0.123"), (-0.5, "−0.500"), (123.456, "123.5"), (12345.6, "12,346")],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


def test_no_coordinate_is_missing_from_a_picture() -> None:
    from rankgauge.render.html import as_html

    page = as_html(report(2, 3))
    for path in re.findall(r' d="([^"]*)"', page):
        assert re.fullmatch(r"[MLHVCZhv\d. -]*", path), path
