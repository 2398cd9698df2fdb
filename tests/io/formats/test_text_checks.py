from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rankgauge.core.ids import Ids
from rankgauge.io.text_checks import DECIMAL, parse_plain, read

FILLER = b"x" * 24  # tokens within the first bytes of a buffer are left to the slow way
plain = st.from_regex(rb"-?[0-9]{0,9}\.?[0-9]{0,9}", fullmatch=True)
near = st.text("0123456789.-+eE ", max_size=18).map(lambda text: text.replace(" ", "").encode())
tokens = st.lists(st.one_of(plain, near, st.floats().map(lambda x: repr(x).encode())).filter(bool), max_size=40)


def column(texts: list[bytes]) -> Ids:
    return Ids.from_bytes([FILLER, *texts]).take(np.arange(1, len(texts) + 1))


@pytest.mark.slow
@example([b"000.0001", b"00.0000"])  # one digit less, behind a digit that belongs to another number
@given(st.one_of(tokens, st.lists(st.from_regex(rb"-?[0-9]{0,9}\.[0-9]{4}", fullmatch=True), max_size=40)))
@settings(max_examples=300)
def test_a_number_that_is_read_is_the_one_that_python_reads(texts: list[bytes]) -> None:
    values, ok = parse_plain(column(texts))
    for text, value, good in zip(texts, values.tolist(), ok.tolist(), strict=True):
        if good:
            assert DECIMAL.fullmatch(text), text
            assert float(text) == value
            assert str(float(text)) == str(value)  # the sign of zero too


@pytest.mark.slow
@given(st.lists(st.from_regex(rb"-?[0-9]{1,7}\.[0-9]{1,7}", fullmatch=True), min_size=1))
def test_plain_decimals_need_no_slow_way(texts: list[bytes]) -> None:
    assert parse_plain(column(texts))[1].all()


@pytest.mark.slow
@given(st.lists(st.from_regex(rb"-?[0-9]{1,4}\.[0-9]{10,18}", fullmatch=True), min_size=1))
def test_long_decimals_are_exact_or_left_to_the_slow_way(texts: list[bytes]) -> None:
    values, ok = parse_plain(column(texts))
    assert values[ok].tolist() == [float(text) for text, good in zip(texts, ok.tolist(), strict=True) if good]
    again, bad = read(column(texts))
    assert len(bad) == 0
    assert again.tolist() == [float(text) for text in texts]


def test_the_hard_ones() -> None:
    good = [b"5.", b".5", b"-.5", b"0000000000000001", b"1234567.89012345", b".123456789012345", b"-0", b"-0.0"]
    bad = [
        b".",
        b"-",
        b"-.",
        b"..",
        b"1.2.3",
        b"0x1",
        b"nan",
        b"--1",
        b"1-",
        b"1_0",
        b"1e",
        b"e1",
        b"1.2.",
        b"+",
        b"\xb2",
    ]
    slow = [b"1e3", b"+1", b"9007199254740993", b"12345678901234567", b"1" * 30, b"inf", b"-Infinity", b"1e400"]
    fine = len(good) + len(slow)
    values, wrong = read(column([*good, *slow, *bad]))
    assert wrong.tolist() == list(range(fine, fine + len(bad)))
    assert values[:fine].tolist() == [float(text) for text in good + slow]
    assert parse_plain(column(good))[1].all()
    assert read(Ids.from_bytes([b"7.5"]))[0].tolist() == [7.5]  # at the very beginning of a buffer
