from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.io.formats.white_space import pad, split_columns

pieces = st.sampled_from(
    [b"a", b"bc", b"\xc2\xa0", b"\x1c", b" ", b"  ", b"\t", b"\v", b"\f", b"\r", b"\n", b"\n\n", b"\r\n", b"#"]
)

words = st.sampled_from(
    [b"a", b"1234567", b"12345678", b"123456789", b"x" * 20, b"\xff\xfe", b"\x1c", b"\xc2\xa0b", b"!"]
)
separators = st.sampled_from([b" ", b" ", b" ", b"\t", b"\r"])
regular = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(words, min_size=n, max_size=n), max_size=12).flatmap(
        lambda rows: separators.map(lambda sep: b"".join(sep.join(row) + b"\n" for row in rows))
    )
)


@pytest.mark.slow
@given(st.one_of(st.lists(pieces, max_size=60).map(b"".join), regular), st.integers(1, 4))
@settings(max_examples=1000)
def test_columns_are_those_of_splitting_each_line(data: bytes, columns: int) -> None:
    found = split_columns(pad(data), columns)
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    fields = [(number, line.split()) for number, line in enumerate(lines, start=1)]
    rows = [(number, row) for number, row in fields if len(row) >= columns]
    assert found.line.tolist() == [number for number, _ in rows]
    assert found.count.tolist() == [len(row) for _, row in rows]
    for column in range(columns):
        assert list(found.column(column)) == [row[column] for _, row in rows]
    assert found.short.tolist() == [number for number, row in fields if 0 < len(row) < columns]
    assert found.blank.tolist() == [number for number, row in fields if not row]
    for number, line in enumerate(lines, start=1):
        assert found.text(number) == line.rstrip(b"\r")
