"""A run in batches gives what the same run in memory gives, in whatever order and batches its rows come."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from rankgauge import Qrels, RankgaugeError, evaluate
from rankgauge.core import compiled
from rankgauge.core.hits import Joined
from rankgauge.io.formats import arrow, text_blocks
from rankgauge.io.pipeline import grouping, joining
from rankgauge.io.pipeline.joining import join_any
from rankgauge.io.reading_options import Reading
from tests.needs import require

pyarrow = pytest.importorskip("pyarrow")

QUERIES = ["1", "2", "10", "query-number-eleven", "é", "01", "q\u00a07"]
DOCS = ["a", "b", "doc-12345678", "doc-12345679", "clueweb09-en0000-00-00001", "é", "A", "x\u00a0y", " c", "e\u0301"]
SCORES = [3.0, 2.5, 10.0, -0.0, 0.0, 12.345678, 1.00000001, 1.0, float("inf"), float("nan"), None]
QRELS = Qrels.from_dict(
    {
        query: {doc: (place + at) % 4 - 1 for at, doc in enumerate(DOCS[place % 2 : 6])}
        for place, query in enumerate(QUERIES[:4])
    }
)


class Row(NamedTuple):
    run: str | None
    query: str | None
    doc: str
    rank: int
    score: float | None


class Outcome(NamedTuple):
    """The joins, and all that was said on the way."""

    joins: list[Joined]
    said: list[str]


@pytest.fixture(autouse=True, params=["python", "compiled"])
def scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of this file runs with both implementations."""
    if request.param == "python":
        monkeypatch.setattr(compiled, "scanner", None)
    else:
        require("compiler", compiled.scanner is not None)


def outcome(path: Path, reading: Reading) -> Outcome | str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            joins = join_any(QRELS, path, reading, "trec_eval-9")
        except RankgaugeError as error:
            return f"{error} {getattr(error, 'hint', None)}"
    return Outcome(joins, [str(item.message) for item in caught])


def assert_same(one: Outcome | str, other: Outcome | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert one.said == other.said
    for here, there in zip(one.joins, other.joins, strict=True):
        assert (here.name, here.queries, here.sample, here.notes) == (
            there.name,
            there.queries,
            there.sample,
            there.notes,
        )
        for name in ("status", "retrieved", "offsets", "rank", "grade", "ordinal", "tie_first", "tie_last", "judged"):
            assert np.array_equal(getattr(here.hits, name), getattr(there.hits, name)), name


def rows(*, plain: bool) -> st.SearchStrategy[list[Row]]:
    """Rows of a few queries, contiguous or not; ``plain`` ones have no faults."""
    scores = SCORES[:8] if plain else SCORES
    row = st.builds(
        Row,
        st.just("one"),
        st.sampled_from(QUERIES if plain else [*QUERIES, None]),
        st.sampled_from(DOCS),
        st.integers(0, 12),
        st.sampled_from(scores),
    )
    unique = (lambda row: row[1:3]) if plain else None
    return st.lists(row, max_size=40, unique_by=unique).flatmap(
        lambda chosen: st.sampled_from([chosen, sorted(chosen, key=lambda row: row.query or "")])
    )


COLUMNS = {"run": ("run",), "query": ("query_id",), "doc": ("doc_id",), "rank": ("rank",), "score": ("score",)}


def write(path: Path, listed: list[Row], row_group: int, kinds: tuple[str, ...], *, is_arrow: bool) -> None:
    types = {"rank": pyarrow.int64(), "score": pyarrow.float64()}
    table = pyarrow.table(
        {
            COLUMNS[kind][0]: pyarrow.array([getattr(row, kind) for row in listed], types.get(kind, pyarrow.string()))
            for kind in kinds
        }
    )
    if is_arrow:
        with pyarrow.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=row_group)
    else:
        parquet.write_table(table, path, row_group_size=row_group)


sizes = st.sampled_from([1, 2, 3, 7, 1000])
kinds = st.sampled_from(
    [("query", "doc", "score"), ("query", "doc", "rank", "score"), ("query", "doc", "rank"), tuple(COLUMNS)]
)
examples = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@examples
@given(
    listed=st.one_of(rows(plain=True), rows(plain=False)),
    row_group=sizes,
    batch=sizes,
    kinds=kinds,
    memory=st.sampled_from([1, 800, 4000, 1 << 29]),
    on_duplicate=st.sampled_from(["error", "first"]),
    is_arrow=st.booleans(),
    strict=st.booleans(),
)
def test_batches_give_what_memory_gives(
    tmp_path_factory: pytest.TempPathFactory,
    listed: list[Row],
    row_group: int,
    batch: int,
    kinds: tuple[str, ...],
    memory: int,
    on_duplicate: str,
    is_arrow: bool,
    strict: bool,
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.bin"
    write(path, listed, row_group, kinds, is_arrow=is_arrow)
    reading = Reading(on_duplicate=on_duplicate, memory=memory)  # type: ignore[arg-type]  # one of two words
    reading = replace(reading, limits=replace(reading.limits, strict=strict))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "BATCH_ROWS", batch)
        streamed = outcome(path, reading)
    assert_same(streamed, outcome(path, replace(reading, keep_rankings=True)))


@examples
@given(listed=rows(plain=False), memory=st.sampled_from([1, 2000]), block=st.sampled_from([64, 300]))
def test_a_scattered_trec_file_in_little_memory_gives_what_memory_gives(
    tmp_path_factory: pytest.TempPathFactory, listed: list[Row], memory: int, block: int
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.txt"
    lines = (
        f"{row.query or 'q'} Q0 {row.doc.strip()} {row.rank} {'x' if row.score is None else row.score} tag\n"
        for row in listed
    )
    path.write_text("".join(lines), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "BLOCK_BYTES", block)
        spilled = outcome(path, Reading(run_format="trec", memory=memory))
    assert_same(spilled, outcome(path, Reading(run_format="trec", keep_rankings=True)))


def test_every_row_is_looked_at_once_for_the_notes_on_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [Row("one", query, doc.upper(), 1, 1.0) for doc in DOCS[1:4] for query in QUERIES[:4]]
    write(tmp_path / "run.parquet", listed, 3, ("query", "doc", "score"), is_arrow=False)
    monkeypatch.setattr(joining, "EXAMINED_ROWS", 4)
    monkeypatch.setattr(arrow, "BATCH_ROWS", 2)
    streamed = outcome(tmp_path / "run.parquet", Reading(memory=1))
    assert_same(streamed, outcome(tmp_path / "run.parquet", Reading(keep_rankings=True)))
    assert not isinstance(streamed, str)
    assert any(note.code == "ids-case" for note in streamed.joins[0].notes)


KILLED = """
import os, signal, sys
from rankgauge import Qrels, evaluate
from rankgauge.io.pipeline import grouping
from rankgauge.io.reading_options import Reading

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

grouping.Grouping.by_query = die
evaluate(Qrels.from_dict({"1": {"a": 1}}), sys.argv[1], "RR", reading=Reading(memory=1))
"""


def test_a_killed_process_leaves_nothing_behind(tmp_path: Path) -> None:
    listed = [Row(None, query, doc, 1, 1.0) for doc in DOCS[:4] for query in QUERIES[:4]]
    write(tmp_path / "run.parquet", listed, 100, ("query", "doc", "score"), is_arrow=False)
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "run.parquet")],
        env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [Row(None, query, doc, 1, 1.0) for doc in DOCS[:4] for query in QUERIES[:4]]
    write(tmp_path / "run.parquet", listed, 100, ("query", "doc", "score"), is_arrow=False)
    full = Path("/dev/full").open("w+b", buffering=0)  # noqa: SIM115 - the spill closes it
    monkeypatch.setattr(grouping, "nameless_file", lambda: full)
    found = outcome(tmp_path / "run.parquet", Reading(memory=1))
    assert isinstance(found, str)
    assert "a temporary file: cannot write: No space left on device" in found
    assert "TMPDIR" in found


def test_progress_reaches_the_end_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [Row(None, query, doc, 1, 1.0) for doc in DOCS[:4] for query in QUERIES[:4]]
    path = tmp_path / "run.parquet"
    write(path, listed, 3, ("query", "doc", "score"), is_arrow=False)
    monkeypatch.setattr(arrow, "BATCH_ROWS", 3)
    reports: list[tuple[int, int]] = []
    evaluate(QRELS, path, "RR", reading=Reading(memory=1, progress=lambda at, total: reports.append((at, total))))
    assert reports[-1] == (path.stat().st_size, path.stat().st_size)
    assert len(reports) > 4
