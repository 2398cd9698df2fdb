"""The compiled scanner finds what NumPy finds, releases the interpreter lock, and no byte makes it stumble."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scripts import fuzz_scanner
from scripts.fuzz_scanner import Case, compare, make_case

from rankgauge.core import compiled
from tests.needs import require


@pytest.fixture
def extension() -> Any:
    require("compiler", compiled.scanner is not None)
    return compiled.scanner


@pytest.mark.slow
def test_damaged_files_are_read_as_numpy_reads_them(extension: Any) -> None:
    rng = np.random.default_rng(2024)
    for _ in range(600):
        difference = compare(make_case(rng), extension)
        assert difference is None, difference


@pytest.mark.slow
def test_no_sanitizer_complains() -> None:
    done = subprocess.run(["cc", "--version"], capture_output=True, check=False)
    require("compiler", done.returncode == 0)
    assert fuzz_scanner.run_sanitized(300, 5) == 0


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
@settings(max_examples=200)
def test_scores_are_ordered_as_numpy_orders_them(compat: str, texts: list[str]) -> None:
    require("compiler", compiled.scanner is not None)
    data = b"".join(b"1 Q0 d%d 0 %s t\n" % (n, text.encode()) for n, text in enumerate(texts))
    difference = compare(Case(data, 1 << 16, compat), compiled.scanner)
    assert difference is None, difference
