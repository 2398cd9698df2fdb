from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core.ids import Ids
from rankgauge.errors import InputError
from rankgauge.retrieval.ranked_scores import contenders, ranked_run, round_scores

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE))
def test_rounding_keeps_six_digits_of_any_number(values: list[float]) -> None:
    for before, after in zip(values, round_scores(np.array(values, dtype=float)).tolist(), strict=True):
        assert after == float(f"{after:.6g}")
        if 1e-300 < abs(before) < 1e300:
            assert abs(after - before) <= 0.5000001e-5 * abs(before)


@given(st.lists(FINITE))
def test_rounding_twice_changes_nothing(values: list[float]) -> None:
    once = round_scores(np.array(values, dtype=float))
    assert (round_scores(once) == once).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=2))
def test_rounding_never_reverses_an_order(values: list[float]) -> None:
    assert (np.diff(round_scores(np.sort(np.array(values)))) >= 0).all()


@given(st.integers(-999_999, 999_999), st.integers(-15, 15))
def test_a_number_of_six_digits_is_left_as_it_is(digits: int, exponent: int) -> None:
    number = float(f"{digits}e{exponent}")
    assert round_scores(np.array([number]))[0] == number


def test_half_a_digit_goes_the_same_way_whatever_the_noise_in_the_last_bit() -> None:
    half = 0.1234565
    near = np.array([np.nextafter(half, 0), half, np.nextafter(half, 1), half * (1 + 4e-16)])
    assert len(set(round_scores(near).tolist())) == 1


def test_infinity_and_zero_stay_and_minus_zero_becomes_zero() -> None:
    out = round_scores(np.array([np.inf, -np.inf, 0.0, -0.0, 5e-324, 1.7e308]))
    assert out[:3].tolist() == [np.inf, -np.inf, 0.0]
    assert not np.signbit(out[3])


def test_distinct_six_digit_numbers_are_distinct_as_float32() -> None:
    numbers = np.arange(100_000, 1_000_000) / 1e6
    assert (np.diff(round_scores(numbers).astype(np.float32)) > 0).all()


@given(st.lists(st.sampled_from([0.0, 0.5, 0.5000001, 0.500001, 1.0, -1.0, -0.3]), min_size=1), st.integers(1, 9))
def test_contenders_include_the_top_k(values: list[float], k: int) -> None:
    scores = np.array(values)
    names = Ids.from_text([f"d{number}" for number in range(len(values))])
    everything = np.arange(len(values))
    rows = contenders(scores, k)
    complete = ranked_run("r", Ids.from_text(["q"]), names, [(everything, scores)], k)
    cut = ranked_run("r", Ids.from_text(["q"]), names, [(rows, scores[rows])], k)
    assert list(complete.docs) == list(cut.docs)
    assert complete.scores.tolist() == cut.scores.tolist()


def test_ties_go_by_document_id_descending_also_at_the_cut() -> None:
    names = Ids.from_text(["a", "c", "b", "d"])
    run = ranked_run("r", Ids.from_text(["q"]), names, [(np.arange(4), np.array([1, 1.0000001, 1, 0.5]))], 2)
    assert list(run.docs) == [b"c", b"b"]


def test_a_nan_score_is_an_error_that_names_the_document() -> None:
    with pytest.raises(InputError, match="document 'b' for query 'q' is NaN"):
        ranked_run("r", Ids.from_text(["q"]), Ids.from_text(["a", "b"]), [(np.arange(2), np.array([1, np.nan]))], 2)
