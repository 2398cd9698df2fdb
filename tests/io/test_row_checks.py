"""Characters that nobody can see are found wherever they stand."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from rankgauge import InputError, read_run
from rankgauge.core.ids import Ids
from rankgauge.io import row_checks
from rankgauge.io.faults import Faults

WHITE = " \t\n\v\f\r"
MARKS = "\u2028\u2029\u202f\u205f\u3000\xa0\xad\ufeff"


@pytest.mark.slow
def test_what_unicode_calls_a_space_or_a_format_character_is_found() -> None:
    for code in range(1, 0x3100):
        sign = chr(code)
        if sign in WHITE:
            continue
        found = len(row_checks.rows_with_invisible(Ids.from_bytes([f"a{sign}b".encode()]))) == 1
        kind = unicodedata.category(sign)
        if 0x2000 <= code <= 0x200F or 0x2060 <= code <= 0x206F or sign in MARKS or kind == "Cc":
            assert found, hex(code)
        elif kind not in ("Cf", "Zs", "Zl", "Zp"):
            assert not found, hex(code)


@pytest.mark.parametrize("chunk", [1, 2, 3, 1 << 18])
def test_it_does_not_matter_where_a_chunk_ends(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(row_checks, "SEARCHED_BYTES", chunk)
    ids = [b"a", "b\u200b".encode(), "é".encode(), b"\x1c", "\xa0c".encode(), b"\xe2\x80", b"d"]
    assert row_checks.rows_with_invisible(Ids.from_bytes(ids)).tolist() == [1, 3, 4]


def test_a_query_is_named_once_and_a_document_each_time() -> None:
    faults = Faults("run")
    query = Ids.from_bytes([b"q\x01", b"q\x01", b"p"])
    doc = Ids.from_bytes([b"a", b"b\x7f", b"b\x7f"])
    row_checks.report_invisible(faults, np.array([1, 2, 3]), query, doc)
    assert [(fault.line, fault.found) for fault in faults.examples] == [
        (1, r"query 'q\x01'"),
        (2, r"document 'b\x7f'"),
        (3, r"document 'b\x7f'"),
    ]


@pytest.mark.parametrize(
    ("docs", "hint"),
    [
        (["guides/getting-st", "guides/getting-st", "faq.md"], "look truncated, at 17 bytes"),
        (["guides/get...", "guides/get...", "x"], "look truncated"),
        (["faq.md", "faq.md", "guides/getting-started.md"], "--set reading.on_duplicate=first"),
        (["0123456789abcdef", "0123456789abcdef", "fedcba9876543210"], "--set reading.on_duplicate=first"),
    ],
)
def test_keeping_the_first_is_not_suggested_if_ids_were_truncated(docs: list[str], hint: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("".join(f"q Q0 {doc} {n} {9 - n} x\n" for n, doc in enumerate(docs, 1)))
    with pytest.raises(InputError) as error:
        read_run(tmp_path / "run")
    assert hint in str(error.value.hint)
    assert ("--on-duplicate" in str(error.value.hint)) == ("--on-duplicate" in hint)
