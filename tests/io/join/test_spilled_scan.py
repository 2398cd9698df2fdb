"""Scattered TREC runs beyond the memory budget: the lines of a query come together, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.core import compiled
from rankgauge.core.ids import PADDING
from rankgauge.io.formats.tokens import pad
from rankgauge.io.join import large, scan, spill, spilled_scan
from rankgauge.io.join.blocks import Scan
from rankgauge.io.join.line_spill import LineSpill
from rankgauge.io.options import Reading
from tests.io.join.test_table_join import QRELS, assert_same, outcome
from tests.needs import require

QUERIES = ["1", "2", "10", "query-number-eleven", "query-number-twelve", "é", "01", *map(str, range(300, 320))]
DOCS = ["a", "b", "doc-12345678", "doc-12345679", "clueweb09-en0000-00-00001", "é", "A", "c", "d", "e"]
SCORES = ["3", "2.5", "2.50", "1e1", "-0.0", "0", "12.345678", "1.00000001", "1.0", "+7"]
ODD_LINES = [
    "1 Q0 z 1 2",
    "1 Q0 z 1 nan t",
    "1 Q0 z 1 x t",
    "1 Q0 a 1 3 t",
    "1 Q0 z\0 1 1 t",
    "1 Q0 z 1 1 t u",
    "z\u00a0z Q0 d 1 1 t",
]
examples = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
Rows = list[tuple[str, str, str]]


@pytest.fixture(autouse=True)
def extension() -> Any:
    require("compiler", compiled.scanner is not None)
    return compiled.scanner


def rows() -> st.SearchStrategy[Rows]:
    row = st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCS), st.sampled_from(SCORES))
    return st.lists(row, min_size=3, max_size=60, unique_by=lambda row: row[:2])


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    """The lines of a run in which nothing is odd but the order of its rows."""
    begin, end = (
        draw(st.sampled_from(["", "", " ", "\t "])),
        draw(st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\n \n"])),
    )
    lines = [
        f"{begin}{query} Q0 {doc} 1 {score} {draw(st.sampled_from(['tag', 'other']))}{end}"
        for query, doc, score in draw(rows())
    ]
    return lines if draw(st.booleans()) else [*lines[:-1], lines[-1].rstrip()]


def spilled(path: Path, memory: int, block: int) -> tuple[Any, list[bool]]:
    """The outcome in little memory, and whether the extension scanned the partitions, if it came to that."""
    is_scanned = []

    def watched(*arguments: Any) -> Scan | None:
        found = spilled_scan.scan_spilled(*arguments)
        is_scanned.append(found is not None)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "BATCH_BYTES", block)
        patch.setattr(spilled_scan, "LEAST_BLOCK", block)
        patch.setattr(spilled_scan, "MOST_BLOCK", block)
        patch.setattr(large, "scan_spilled", watched)
        return outcome(path, Reading(run_format="trec", memory=memory)), is_scanned


@examples
@given(lines=texts(), memory=st.sampled_from([1, 300, 2000]), block=st.sampled_from([64, 300, 1 << 16]))
def test_a_plain_run_is_scanned_by_the_extension_and_gives_what_memory_gives(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], memory: int, block: int
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.txt"
    path.write_bytes("".join(lines).encode())
    found, is_scanned = spilled(path, memory, block)
    assert all(is_scanned)
    assert_same(found, outcome(path, Reading(run_format="trec", keep_rankings=True)))


@examples
@given(
    lines=texts(),
    odd=st.sampled_from([*ODD_LINES, "\ufeff"]),
    place=st.integers(0, 60),
    memory=st.sampled_from([1, 300]),
    block=st.sampled_from([64, 300]),
)
def test_an_odd_line_anywhere_gives_what_memory_gives(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], odd: str, place: int, memory: int, block: int
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.txt"
    with_odd = [odd, *lines] if odd == "\ufeff" else [*lines[:place], f"{odd}\n", *lines[place:]]
    path.write_bytes("".join(with_odd).encode())
    found, _ = spilled(path, memory, block)
    assert_same(found, outcome(path, Reading(run_format="trec", keep_rankings=True)))


def marked(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The mark and the content of each line that is not blank."""
    before = None
    for number, line in enumerate("".join(lines).split("\n"), start=1):
        if line.strip():
            query = line.split()[0]
            yield 2 * number + (query != before), line
            before = query


@examples
@given(lines=texts(), cuts=st.lists(st.integers(0, 60), max_size=4), limit=st.sampled_from([0, 100, 1000, 1 << 20]))
def test_every_line_is_in_one_part_and_a_query_too(lines: list[str], cuts: list[int], limit: int) -> None:
    if not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    seen: list[tuple[int, str]] = []
    queries: list[set[str]] = []
    with LineSpill() as lines_spill:
        for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(lines)], strict=True):
            block = pad("".join(lines[begin:end]).encode())
            assert lines_spill.add_block(block, False) == len(block) - PADDING
        for text, marks in lines_spill.parts(limit):
            part = text[:-PADDING].tobytes().decode().split("\n")
            assert part.pop() == ""
            assert np.all(np.diff(marks) > 0)
            seen += zip(marks.tolist(), part, strict=True)
            queries.append({line.split()[0] for line in part})
    assert sorted(seen) == list(marked(lines))
    assert sum(map(len, queries)) == len(set().union(*queries))
    if not limit:
        assert all(len(part) == 1 for part in queries)


@pytest.mark.parametrize(
    "arguments",
    [
        (b"", b"", None, 0, 1),
        (pad(b"1 Q0 a 1 1 t\n"), b"", None, 64, 1),
        (pad(b"1 Q0 a 1 1 t\n"), b"", b"", 0, 1),
        (pad(b"1 Q0 a 1 1 t\n"), b"", bytes(8), 0, 1),
        (pad(b"1 Q0 a 1 1 t\n"), b"", bytes(3), 0, 1),
    ],
)
def test_what_does_not_fit_is_refused(extension: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="expected"):
        extension.partition(*arguments)


def scattered_file(folder: Path) -> Path:
    path = folder / "run.txt"
    path.write_text("".join(f"{query} Q0 {doc} 1 1 tag\n" for doc in DOCS for query in QUERIES), encoding="utf-8")
    return path


def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full").open("w+b", buffering=0)  # noqa: SIM115 - the spill closes it
    monkeypatch.setattr(spill, "nameless_file", lambda: full)
    found = outcome(scattered_file(tmp_path), Reading(memory=1))
    assert isinstance(found, str)
    assert "cannot write a temporary file: No space left on device" in found
    assert "TMPDIR" in found


def test_progress_reaches_the_end_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scattered_file(tmp_path)
    monkeypatch.setattr(spilled_scan, "MOST_BLOCK", 1000)
    reports: list[int] = []
    evaluate(QRELS, path, "RR", reading=Reading(memory=1, progress=lambda at, _: reports.append(at)))
    assert reports[-1] == path.stat().st_size
    assert len(reports) > 4
