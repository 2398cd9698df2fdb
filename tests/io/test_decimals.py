from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.core.ids import Ids
from rankgauge.io.decimals import DECIMAL, LONGEST, parse

FILLER = b"x" * LONGEST  # tokens within the first bytes of a buffer are left to the slow way
plain = st.from_regex(rb"-?[0-9]{0,9}\.?[0-9]{0,9}", fullmatch=True)
near = st.text("0123456789.-+eE ", max_size=18).map(lambda text: text.replace(" ", "").encode())
tokens = st.lists(st.one_of(plain, near, st.floats().map(lambda x: repr(x).encode())).filter(bool), max_size=40)


@given(tokens)
@settings(max_examples=300)
def test_a_number_that_is_read_is_the_one_that_python_reads(texts: list[bytes]) -> None:
    values, ok = parse(Ids.from_bytes([FILLER, *texts]))
    for text, value, good in zip(texts, values[1:].tolist(), ok[1:].tolist(), strict=True):
        if good:
            assert DECIMAL.fullmatch(text), text
            assert float(text) == value
            assert str(float(text)) == str(value)  # the sign of zero too


@given(st.lists(st.from_regex(rb"-?[0-9]{1,7}\.[0-9]{1,7}", fullmatch=True), min_size=1))
def test_plain_decimals_need_no_slow_way(texts: list[bytes]) -> None:
    _, ok = parse(Ids.from_bytes([FILLER, *texts]))
    assert ok[1:].all()


def test_the_hard_ones() -> None:
    good = [b"5.", b".5", b"-.5", b"0000000000000001", b"1234567.89012345", b".123456789012345", b"-0", b"-0.0"]
    bad = [
        b".",
        b"-",
        b"-.",
        b"..",
        b"1.2.3",
        b"1e3",
        b"+1",
        b"9007199254740993",
        b"0x1",
        b"nan",
        b"--1",
        b"1-",
        b"12345678901234567",
    ]
    values, ok = parse(Ids.from_bytes([FILLER, *good, *bad]))
    assert ok[1:].tolist() == [True] * len(good) + [False] * len(bad)
    assert values[1 : len(good) + 1].tolist() == [float(text) for text in good]
