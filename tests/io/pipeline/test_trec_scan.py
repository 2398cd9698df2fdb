"""The scan of a TREC file gives what the pipeline gives, whatever the file looks like and wherever a block ends."""

from __future__ import annotations

import contextlib
import gzip
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankgauge import InputError, Qrels, RankgaugeError, evaluate, evaluate_runs
from rankgauge.core import compiled
from rankgauge.core.hits import Joined
from rankgauge.core.run import Run
from rankgauge.io.byte_streams import Limits
from rankgauge.io.formats import text_blocks
from rankgauge.io.pipeline import run_pipeline
from rankgauge.io.pipeline.joining import join_any
from rankgauge.io.reading_options import Reading
from tests.needs import require

QUERIES = ["1", "2", "10", "query-number-eleven", "é", "01"]
JUDGED = ["a", "b", "doc-12345678", "doc-12345679", "clueweb09-en0000-00-00001", "é"]
DOCS = [*JUDGED, "A", "DOC-12345678", "x\u00a0y", "e\u0301", "z\x1cz"]
RANKS = ["1", "2", "3", "10", "0", "-", "1.5", "02"]
SCORES = ["3", "2.5", "2.50", "1e1", "-0.0", "0", "12.345678", "0.8123456835746765", "1.00000001", "1.0", "inf", "+7"]
QRELS = Qrels.from_dict(
    {
        query: {doc: (place + at) % 4 - 1 for at, doc in enumerate(JUDGED[place % 2 :])}
        for place, query in enumerate(QUERIES[:4])
    }
)


@pytest.fixture(autouse=True, params=["python", "compiled"])
def scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test of this file runs with both scanners."""
    if request.param == "python":
        monkeypatch.setattr(compiled, "scanner", None)
    else:
        require("compiler", compiled.scanner is not None)
    return str(request.param)


rows = st.lists(
    st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCS), st.sampled_from(SCORES), st.sampled_from(RANKS)),
    max_size=40,
    unique_by=lambda row: row[:2],
)


@st.composite
def files(draw: st.DrawFn, *, broken: bool = False) -> bytes:
    """A run in one of the many ways to write it; by query or scattered, sorted or not."""
    listed = draw(rows)
    if draw(st.booleans()):
        listed.sort(key=lambda row: QUERIES.index(row[0]))
    rising = draw(st.booleans())
    style = draw(st.sampled_from(["plain", "plain", "tabs", "blanks", "leading", "extra", "crlf", "blank lines"]))
    sep = {"tabs": "\t", "blanks": "  \t"}.get(style, " ")
    end = {"crlf": "\r\n", "blank lines": "\n\n", "extra": " more\n"}.get(style, "\n")
    lines = [
        (" " if style == "leading" else "")
        + sep.join([query, "Q0", doc, str(line) if rising else rank, score, "tag"])
        + end
        for line, (query, doc, score, rank) in enumerate(listed, start=1)
    ]
    if broken and lines:
        wrong = draw(
            st.sampled_from(
                [f"1 Q0 a 1 2{end}", f"1 Q0 a 1 nan tag{end}", f"1 Q0 a 1 x tag{end}", lines[0], "1 Q0 a\0 1 1 t\n"]
            )
        )
        lines.insert(draw(st.integers(0, len(lines))), wrong)
    text = "".join(lines)
    return (text if draw(st.booleans()) else text.removesuffix("\n")).encode()


class Found(NamedTuple):
    """A join, and all that was said on the way."""

    joined: Joined
    said: list[str]


def same(one: Found, other: Found) -> bool:
    names = ("status", "retrieved", "offsets", "rank", "grade", "ordinal", "tie_first", "tie_last", "judged")
    here, there = one.joined.hits, other.joined.hits
    assert (one.said, one.joined.notes) == (other.said, other.joined.notes)
    return all(np.array_equal(getattr(here, name), getattr(there, name)) for name in names)


def outcome(path: Path, way: str) -> Found | str:
    """What comes of a file by the scanner where it can, or by the plain way."""
    with warnings.catch_warnings(record=True) as caught, pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("always")
        if way == "plain":
            patch.setattr(run_pipeline, "SHORTCUTS", run_pipeline.SHORTCUTS - {"trec"})
        try:
            joined = join_any(QRELS, path, Reading(run_format="trec"), "trec_eval-9")[0]
        except RankgaugeError as error:
            return str(error)
    return Found(joined, sorted(str(item.message) for item in caught))


ways = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.slow
@pytest.mark.parametrize("block", [48, 200, 1 << 20])
@given(data=files())
@ways
def test_the_scan_and_the_pipeline_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, data: bytes
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", block)
    path = tmp_path / "run"
    path.write_bytes(data)
    scanned, plain = outcome(path, "scan"), outcome(path, "plain")
    if isinstance(scanned, Found) and isinstance(plain, Found):
        assert same(scanned, plain)
    else:
        assert scanned == plain


@pytest.mark.slow
@pytest.mark.parametrize("block", [48, 1 << 20])
@given(data=files(broken=True))
@ways
def test_what_is_wrong_is_found_on_the_same_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, data: bytes
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", block)
    path = tmp_path / "run"
    path.write_bytes(data)
    scanned, plain = outcome(path, "scan"), outcome(path, "plain")
    if isinstance(plain, Found) and isinstance(scanned, Found):
        assert same(scanned, plain)
    else:
        assert scanned == plain


@pytest.mark.slow
@given(data=st.binary(max_size=400))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
def test_any_bytes_are_a_result_or_one_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "run"
    path.write_bytes(data)
    for form in ("trec", None):
        with contextlib.suppress(RankgaugeError):
            join_any(QRELS, path, Reading(run_format=form), "trec_eval-9")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
def test_a_byte_changed_anywhere_is_a_result_or_one_error(tmp_path: Path) -> None:
    data = b"".join(b"%d Q0 doc-%d %d %.4f tag\n" % (q, d, d, 9 - d / 7) for q in (1, 2, 10) for d in range(12))
    rng = np.random.default_rng(5)
    path = tmp_path / "run"
    for _ in range(200):
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
        path.write_bytes(bytes(changed))
        scanned, plain = outcome(path, "scan"), outcome(path, "plain")
        if isinstance(scanned, Found) and isinstance(plain, Found):
            assert same(scanned, plain)
        else:
            assert scanned == plain


def test_a_query_larger_than_a_block_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 1 << 10)
    path = tmp_path / "run"
    path.write_bytes(b"".join(b"1 Q0 d%d 1 %d tag\n" % (n, 5000 - n) for n in range(5000)))
    hits = join_any(Qrels.from_dict({"1": {"d4999": 1}}), path, Reading(), "trec_eval-9")[0].hits
    assert hits.rank.tolist() == [5000]
    assert hits.retrieved.tolist() == [5000]


def test_a_scan_keeps_no_run_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 a 1 2 tag\n1 Q0 b 2 1 tag\n")
    monkeypatch.setattr(Run, "build", lambda *_, **__: pytest.fail("a run was built"))
    assert evaluate({"1": {"a": 1}}, path, "RR")["RR"] == 1.0


def test_scattered_queries_go_the_plain_way(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 a 2 1 tag\n2 Q0 a 1 1 tag\n1 Q0 b 1 2 tag\n")
    scores = evaluate({"1": {"a": 1}, "2": {"a": 1}}, path, "RR")
    assert scores.per_query("RR") == {"1": 0.5, "2": 1.0}
    assert [note.code for note in scores.notes] == ["split-query"]
    assert "run:3: expected the lines of each query to be contiguous, found query '1' again" in scores.notes[0].message


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_compressed_files_are_known_by_their_first_bytes(tmp_path: Path, kind: str) -> None:
    import bz2
    import lzma

    data = b"1 Q0 b 1 2 tag\n1 Q0 a 2 1 tag\n"
    path = tmp_path / "run.txt"
    if kind == "zst":
        zstandard = pytest.importorskip("zstandard")
        path.write_bytes(zstandard.ZstdCompressor().compress(data))
    else:
        packed = {"gz": gzip.compress(data), "bz2": bz2.compress(data), "xz": lzma.compress(data)}
        path.write_bytes(packed[kind])
    assert evaluate({"1": {"a": 1}}, path, "RR")["RR"] == 0.5


@pytest.mark.parametrize("cut", [5, 20, -6])
def test_a_compressed_file_that_ends_early_is_an_error(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"1 Q0 a 1 2 tag\n" * 1)[:cut])
    with pytest.raises(InputError, match=r"compressed stream (ends early|is damaged)|file is empty"):
        evaluate({"1": {"a": 1}}, path, "RR")


@pytest.mark.slow
def test_a_bomb_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as out:
        for _ in range(100):
            out.write(b"1 Q0 a 1 2 tag\n" * (1 << 16))
    with pytest.raises(InputError, match="looks like a decompression bomb"):
        evaluate({"1": {"a": 1}}, path, "RR")
    with pytest.raises(InputError, match="more than 1000 bytes"):
        evaluate({"1": {"a": 1}}, path, "RR", reading=Reading(limits=Limits(max_bytes=1000)))


def test_an_endless_line_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 " + b"x" * (3 << 20))
    with pytest.raises(InputError, match="a line of more than 1048576 bytes"):
        evaluate({"1": {"a": 1}}, path, "RR", reading=Reading(run_format="trec"))
    path.write_bytes(b"1 Q0 " + b"x" * 1_000_000 + b" 1 2 tag\n1 Q0 a 2 1 tag\n")
    assert evaluate({"1": {"a": 1}}, path, "RR")["RR"] == 0.5


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = b"1 Q0 a 2 1 tag\n2 Q0 a 1 1 tag\n1 Q0 b 1 2 tag\n"
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert evaluate({"1": {"a": 1}}, pipe, "RR")["RR"] == 0.5
    writer.join()


@pytest.mark.slow
@pytest.mark.parametrize("side", ["qrels", "run"])
def test_standard_input_may_be_one_of_the_files(tmp_path: Path, side: str) -> None:
    texts = {"qrels": "1 0 a 1\n", "run": "1 Q0 a 1 1 tag\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    arguments = ["-" if name == side else str(tmp_path / name) for name in texts]
    done = subprocess.run(
        [sys.executable, "-m", "rankgauge", "evaluate", *arguments, "-m", "RR", "--format", "trec"],
        input=texts[side],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "RR                    \tall\t1.0000\n"


def test_progress_is_reported_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 64)
    path = tmp_path / "run"
    path.write_bytes(b"".join(b"%d Q0 a 1 2 tag\n" % n for n in range(50)))
    seen: list[tuple[int, int]] = []
    reading = Reading(progress=lambda done, total: seen.append((done, total)))
    evaluate_runs({"1": {"a": 1}}, [path], "RR", reading=reading)
    assert len(seen) > 5
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_the_hash_is_computed_only_if_requested(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 a 1 2 tag\n")
    assert evaluate({"1": {"a": 1}}, path, "RR").run_sha256 is None
    scores = evaluate({"1": {"a": 1}}, path, "RR", reading=Reading(fingerprint=True))
    assert scores.run_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert scores.qrels_sha256 == Qrels.from_dict({"1": {"a": 1}}).sha256


def test_a_warning_about_scattered_rows_is_issued_once_although_few_documents_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"\xef\xbb\xbfq1 Q0 d1 1 3 r\nq2 Q0 d1 1 2 r\nq1 Q0 d2 2 1 r\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate({"q1": ["d9"], "q2": ["d8"]}, path, "RR")
    assert sum("byte order mark" in str(warning.message) for warning in caught) == 1
