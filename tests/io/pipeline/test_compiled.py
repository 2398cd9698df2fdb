"""The compiled scanner finds what NumPy finds, releases the interpreter lock, and no byte makes it stumble."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scripts import fuzz_scanner
from scripts.compile_scanner import FOLDER, compile_scanner, load
from scripts.fuzz_scanner import Case, compare, make_case

from rankgauge.core import compiled
from rankgauge.core.ids import Ids, repeated
from rankgauge.io import text_checks
from rankgauge.io.formats.white_space import pad, split_columns
from tests.needs import ROOT, require


@pytest.fixture
def extension() -> Any:
    require("compiler", compiled.scanner is not None)
    return compiled.scanner


def test_no_format_ties_a_build_to_the_python_that_made_it() -> None:
    """A `#` that is compiled by 3.13 raises SystemError on 3.11 and 3.12, which the same wheel serves."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / FOLDER).glob("*.c"))
    formats = re.findall(r'Py(?:Arg_Parse\w*|_BuildValue)\([^"]*"([^"]*)"', sources)
    assert len(formats) > 10
    assert [text for text in formats if "#" in text] == []


@pytest.mark.slow
def test_damaged_files_are_read_as_numpy_reads_them(extension: Any) -> None:
    rng = np.random.default_rng(2024)
    for _ in range(600):
        difference = compare(make_case(rng), extension)
        assert difference is None, difference


scores = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(min_value=-1e6, max_value=1e6).map(lambda number: f"{number:.6f}"),
    st.decimals(allow_nan=False, allow_infinity=False, places=17).map(str),
    st.from_regex(r"\A[+-]?[0-9]{0,21}\.?[0-9]{0,21}(e[+-]?[0-9]{1,3})?\Z"),
    st.text("0123456789.e+-", min_size=1, max_size=12),
)


@pytest.mark.parametrize("compat", ["trec_eval-9", "trec_eval-10"])
@given(texts=st.lists(scores, min_size=1, max_size=30))
@example(texts=["9007199254740993", "9007199254740992.99999", "9007199254740993.0000001"])
@example(texts=["1e22", "1e23", "123456789012345678e-27", "18446744073709551615e27", "1e-28", "9.5367431640625e-07"])
@settings(max_examples=100)
def test_scores_are_ordered_as_numpy_orders_them(compat: str, texts: list[str]) -> None:
    require("compiler", compiled.scanner is not None)
    data = b"".join(b"1 Q0 d%d 0 %s t\n" % (n, text.encode()) for n, text in enumerate(texts))
    difference = compare(Case(data, 1 << 16, compat), compiled.scanner)
    assert difference is None, difference


@given(texts=st.lists(scores, min_size=1, max_size=30))
@example(texts=["9007199254740993", "9007199254740995", "18014398509481990", "36028797018963972"])
@example(texts=["5e-1", "1e27", "1e-27", "1.5e+22", "0.1e-5", "4503599627370497.5", "4503599627370496.5", "1e400", "."])
def test_numbers_are_those_that_python_reads(texts: list[str]) -> None:
    require("compiler", compiled.scanner is not None)
    values, bad_rows = text_checks.read(Ids.from_bytes([text.encode() for text in texts]))
    for row, text in enumerate(texts):
        is_number = text_checks.DECIMAL.fullmatch(text.encode()) is not None
        assert (row in bad_rows) == (not is_number)
        assert not is_number or (values[row], np.signbit(values[row])) == (float(text), np.signbit(float(text)))


PLAIN = b"".join(b"1 Q0 d%d 0 1.5 t\n" % number for number in range(20))
ODD_LINES = [
    b"1 Q0 e 0 1e999 t", b"1 Q0 e 0 -inf t", b"1 Q0 e 0 nan t", b"1 Q0 e 0 1 t\0", b"1 Q0 e 0 1", b"1 Q0 e 0 1 t t",
    b"1 Q0 d3 0 1 t", b"1 Q0 e -1 2 t", b"1 Q0 \xc2\xad 0 1 t", b"1\x01 Q0 e 0 1 t", b"1 Q0 " + b"e" * 99 + b" 0 1 t",
]  # fmt: skip


@pytest.mark.parametrize("line", ODD_LINES)
@pytest.mark.parametrize("block", [200, 1 << 16])
def test_an_odd_line_is_reported_as_numpy_reports_it(extension: Any, line: bytes, block: int) -> None:
    for data in (PLAIN + line + b"\n" + PLAIN.replace(b"1 Q0", b"2 Q0"), PLAIN + line):
        case = Case(data, block, max_line=64)
        difference = compare(case, extension)
        assert difference is None, difference
        assert fuzz_scanner.outcome(case, None) != fuzz_scanner.outcome(Case(PLAIN, block), None)


@pytest.mark.slow
def test_the_code_for_other_processors_agrees_too(tmp_path: Path) -> None:
    """Without 128-bit numbers and SSE2: what a compiler for another machine gets to see, except for its byte order."""
    require("compiler", compiled.scanner is not None)
    portable = load(compile_scanner(ROOT, ["-U__SIZEOF_INT128__", "-U__SSE2__"], tmp_path / "_scanner.abi3.so"))
    rng = np.random.default_rng(3)
    for _ in range(100):
        difference = compare(make_case(rng), portable)
        assert difference is None, difference
    texts = [repr(number) for number in rng.random(500).tolist()] + [
        f"{number:.16e}" for number in rng.normal(0, 1e9, 500).tolist()
    ]
    values, statuses = portable.decimals(Ids.from_bytes([text.encode() for text in texts]).parts)
    assert not any(statuses)
    assert np.frombuffer(values).tolist() == [float(text) for text in texts]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([b"a", b"b", b"c" * 8, b"c" * 9, b"d" * 20])), max_size=30),
    st.booleans(),
)
def test_repeated_ids_are_found_as_numpy_finds_them(pairs: list[tuple[int, bytes]], is_sorted: bool) -> None:
    require("compiler", compiled.scanner is not None)
    rows = sorted(pairs, key=lambda pair: pair[0]) if is_sorted else pairs
    ids, group = Ids.from_bytes([name for _, name in rows]), np.array([number for number, _ in rows], dtype=np.int64)
    found = [part.tolist() for part in repeated(ids, group)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "scanner", None)
        assert found == [part.tolist() for part in repeated(ids, group)]
    assert bool(found[0]) == (len(set(rows)) < len(rows))


@given(
    st.text("ab 1\t\n\r\x0b\x1cé", max_size=60), st.lists(st.sampled_from(["a b c\n", "dd ee f\n", "g\th\ti\n"])),
    st.integers(1, 4),
)  # fmt: skip
def test_columns_are_found_as_numpy_finds_them(odd: str, usual: list[str], columns: int) -> None:
    require("compiler", compiled.scanner is not None)
    for text in ("".join(usual), "".join(usual) + odd, odd + "".join(usual)):
        found = split_columns(pad(text.encode()), columns)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled, "scanner", None)
            expected = split_columns(pad(text.encode()), columns)
        assert not expected.regular
        for name in ("line", "count", "short", "short_count", "blank", "end"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()
        assert [list(found.column(n)) for n in range(columns)] == [list(expected.column(n)) for n in range(columns)]


def test_a_scanner_refuses_what_would_lead_outside_of_its_buffers(extension: Any) -> None:
    ids = Ids.from_bytes([b"a", b"b"])
    good, offsets = ids.parts, np.array([0, 1, 2])
    extension.Scanner(good, good, offsets, False, 100, 1)
    for bad in (
        (good[0][:-1], *good[1:]),  # too little padding
        (good[0], good[1] + 1, good[2]),
        (good[0], good[1] - 1, good[2]),
        (good[0], good[1], good[2][:1]),
        (good[0], good[1], -good[2]),
    ):
        with pytest.raises(ValueError, match="outside their buffer"):
            extension.Scanner(good, bad, offsets, False, 100, 1)
    for wrong in ([0, 1], [0, 1, 3], [1, 1, 2], [0, 2, 1]):
        with pytest.raises(ValueError, match="offsets do not fit"):
            extension.Scanner(good, good, np.array(wrong), False, 100, 1)
    with pytest.raises(ValueError, match="needs padding"):
        extension.Scanner(good, good, offsets, False, 100, 1).scan(b"", True)
    with pytest.raises(ValueError, match="aligned"):
        extension.Scanner(good, good, memoryview(bytes(32))[1:25], False, 100, 1)


def test_other_threads_run_during_a_scan(extension: Any) -> None:
    rows = b"".join(b"1 Q0 d%d 0 %d t\n" % (number, 100_000 - number) for number in range(100_000))
    ids, buffer = Ids.from_bytes([b"1"]), pad(rows)
    scanner = extension.Scanner(ids.parts, ids.parts, np.array([0, 1]), False, 100, 1)
    may_run, has_run = threading.Event(), []
    thread = threading.Thread(target=lambda: has_run.append(may_run.wait()))
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # from here on the other thread runs only if this one gives up the lock
    try:
        may_run.set()
        for _ in range(200):
            if not has_run:
                assert scanner.scan(buffer, True)[2] == 100_000
        assert has_run
    finally:
        sys.setswitchinterval(interval)
        thread.join()
