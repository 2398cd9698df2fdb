"""The first documents of each ranking, kept while a source is read, are those of the whole run; and reading again."""

from __future__ import annotations

import json
import os
import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import Qrels, Reading, Run, compare
from rankgauge.core import compiled
from rankgauge.core.ranking import Compat
from rankgauge.io.formats import arrow, text_blocks
from rankgauge.io.pipeline.joining import join_any
from rankgauge.io.read import documents_of
from rankgauge.io.sources import can_read_again
from rankgauge.render.html import as_html

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import ipc, parquet  # noqa: E402 - after the check above

DEPTH = 3
COMPATS: tuple[Compat, ...] = ("trec_eval-9", "trec_eval-10")
QRELS = Qrels.from_dict({f"q{n}": {f"d{n}": 2, f"d{n + 3}": 1} for n in range(6)})
Row = tuple[str, str, str, float]  # run, query, document, score
Write = Callable[[Path, list[Row]], Path]


@pytest.fixture(autouse=True, params=["python", "compiled"])
def small_batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs with both implementations, and in batches of a few rows."""
    if request.param == "python":
        monkeypatch.setattr(compiled, "scanner", None)
    elif compiled.scanner is None:
        pytest.skip("the extension is not compiled")
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 256)
    monkeypatch.setattr(arrow, "BATCH_ROWS", 16)


def rows_of(seed: int, *, scattered: bool = False, runs: int = 1) -> list[Row]:
    """Rows with ties, with scores that are equal as float32 only, and with queries without judgments."""
    rng = random.Random(seed)
    rows = [
        (f"run{run}", f"q{query}", f"d{doc}", rng.choice([1.0, 2.0, 2.00000001, 3.5, 0.25]))
        for run in range(runs)
        for query in range(8)
        for doc in rng.sample(range(12), rng.randrange(1, 10))
    ]
    return rng.sample(rows, len(rows)) if scattered else rows


def write_trec(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(f"{query} Q0 {doc} 1 {score!r} {run}\n" for run, query, doc, score in rows))
    return path


def write_csv(path: Path, rows: list[Row]) -> Path:
    lines = [f"{run},{query},{doc},{score!r}\n" for run, query, doc, score in rows]
    path.write_text("run,query_id,doc_id,score\n" + "".join(lines))
    return path


def write_ranks(path: Path, rows: list[Row]) -> Path:
    ranks = Counter[str]()
    lines = ["query_id,doc_id,rank\n"]
    for _, query, doc, _ in rows:
        ranks[query] += 1
        lines.append(f"{query},{doc},{ranks[query]}\n")
    path.write_text("".join(lines))
    return path


def write_lines(path: Path, rows: list[Row]) -> Path:
    keys = ("run", "query_id", "doc_id", "score")
    path.write_text("".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows))
    return path


def write_mapping(path: Path, rows: list[Row]) -> Path:
    results: dict[str, dict[str, float]] = {"q5": {}}
    for _, query, doc, score in rows:
        results.setdefault(query, {})[doc] = score
    path.write_text(json.dumps(results))
    return path


def write_parquet(path: Path, rows: list[Row]) -> Path:
    parquet.write_table(_table(rows), path)
    return path


def write_arrow(path: Path, rows: list[Row]) -> Path:
    table = _table(rows)
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path


def write_folder(path: Path, rows: list[Row]) -> Path:
    path.mkdir()
    half = len(rows) // 2
    write_parquet(path / "1.parquet", rows[:half])
    write_parquet(path / "2.parquet", rows[half:])
    return path


def _table(rows: list[Row]) -> Any:
    keys = ("run", "query_id", "doc_id", "score")
    return pyarrow.table(dict(zip(keys, zip(*rows, strict=True), strict=True)))


WRITERS: list[Write] = [
    write_trec,
    write_csv,
    write_ranks,
    write_lines,
    write_mapping,
    write_parquet,
    write_arrow,
    write_folder,
]


def rankings_of(run: Run | None) -> dict[str, list[str]]:
    """The documents of each query that has any."""
    assert run is not None
    docs, bounds = run.docs.to_text(), run.offsets.tolist()
    rankings = zip(run.queries.to_text(), bounds[:-1], bounds[1:], strict=True)
    return {query: docs[begin:end] for query, begin, end in rankings if begin < end}


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize("scattered", [False, True], ids=["grouped", "scattered"])
@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__.removeprefix("write_"))
def test_the_first_documents_are_those_of_the_whole_run(
    tmp_path: Path, write: Write, scattered: bool, compat: Compat
) -> None:
    for seed in range(5):
        path = write(tmp_path / f"run{seed}", rows_of(seed, scattered=scattered))
        (whole,) = join_any(QRELS, path, Reading(keep_rankings=True), compat)
        (plain,) = join_any(QRELS, path, Reading(fingerprint=True), compat)
        (joined,) = join_any(QRELS, path, Reading(fingerprint=True, keep_top=DEPTH), compat)
        assert whole.run is not None
        assert joined.run is None
        assert rankings_of(joined.shown) == rankings_of(whole.run.top(DEPTH, compat))
        assert (joined.name, joined.sha256, joined.notes) == (plain.name, plain.sha256, plain.notes)
        np.testing.assert_array_equal(joined.hits.rank, whole.hits.rank)
        documents = {doc for column in documents_of(path, Reading()) for doc in column}
        assert documents == set(whole.run.docs)


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
@pytest.mark.parametrize("scattered", [False, True], ids=["grouped", "scattered"])
@pytest.mark.parametrize("write", [write_csv, write_lines, write_parquet, write_folder])
def test_each_run_of_a_table_has_its_own_first_documents(tmp_path: Path, write: Write, scattered: bool) -> None:
    path = write(tmp_path / "runs", rows_of(1, scattered=scattered, runs=3))
    whole = join_any(QRELS, path, Reading(keep_rankings=True), "trec_eval-9")
    joins = join_any(QRELS, path, Reading(keep_top=DEPTH), "trec_eval-9")
    assert [joined.name for joined in joins] == [one.name for one in whole]
    assert len(joins) == 3
    for joined, one in zip(joins, whole, strict=True):
        assert one.run is not None
        assert rankings_of(joined.shown) == rankings_of(one.run.top(DEPTH))


def test_the_tags_of_a_trec_file_do_not_separate_runs(tmp_path: Path) -> None:
    rows = [(f"tag{place % 2}", *row[1:]) for place, row in enumerate(rows_of(1))]
    (joined,) = join_any(QRELS, write_trec(tmp_path / "run", rows), Reading(keep_top=99), "trec_eval-9")
    assert joined.shown is not None
    assert len(joined.shown) == len(rows)


def test_the_first_of_two_equal_documents_counts_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / "run"
    lines = [f"q1 Q0 d{n} 1 {30 - n} tag\n" for n in range(30)]
    path.write_text("".join([*lines, "q1 Q0 d29 1 99 tag\n"]))
    reading = Reading(keep_top=DEPTH, on_duplicate="first")
    (joined,) = join_any(QRELS, path, reading, "trec_eval-9")
    assert joined.shown is not None
    assert rankings_of(joined.shown.top(DEPTH)) == {"q1": ["d0", "d1", "d2"]}


def test_a_run_that_is_to_be_stored_is_kept_whole(tmp_path: Path) -> None:
    path = write_trec(tmp_path / "run", rows_of(1))
    (joined,) = join_any(QRELS, path, Reading(keep_top=DEPTH, keep_rankings=True), "trec_eval-9")
    assert joined.run is not None
    assert joined.shown is joined.run
    assert len(joined.run) == len(rows_of(1))


def test_the_first_documents_of_a_pipe_are_kept(tmp_path: Path) -> None:
    pipe, rows = tmp_path / "pipe", rows_of(1)
    os.mkfifo(pipe)
    text = write_trec(tmp_path / "run", rows).read_text()
    thread = threading.Thread(target=lambda: pipe.write_text(text))
    thread.start()
    (joined,) = join_any(QRELS, pipe, Reading(keep_top=DEPTH), "trec_eval-9")
    thread.join()
    assert joined.run is None
    assert rankings_of(joined.shown) == rankings_of(
        Run.from_columns(*zip(*[row[1:] for row in rows], strict=True)).top(DEPTH)
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [("run", True), (".", True), ("irds:some/run", True), ("-", False), ("missing", False), ("pipe", False)],
)
def test_files_folders_and_collections_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, expected: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run").write_text("")
    os.mkfifo("pipe")
    assert can_read_again(source) is expected


def test_what_is_in_memory_can_be_read_again() -> None:
    run = Run.from_dict({"q1": {"d1": 1.0}})
    assert can_read_again(run)
    assert can_read_again({"q1": ["d1"]})
    assert [list(column) for column in documents_of(run, Reading())] == [[b"d1"]]


def test_a_lazy_table_is_not_computed_again() -> None:
    duckdb = pytest.importorskip("duckdb")
    assert not can_read_again(duckdb.sql("SELECT 'q1' AS query_id, 'd1' AS doc_id, 1.0 AS score"))


def test_the_page_of_the_first_documents_is_that_of_whole_runs(tmp_path: Path) -> None:
    paths = [write_trec(tmp_path / f"run{seed}", rows_of(seed)) for seed in (1, 2)]
    pages = [
        as_html(compare(QRELS, paths, "nDCG@10 AP", reading=Reading(fingerprint=True, **kept)))
        for kept in ({"keep_rankings": True}, {"keep_top": 20})
    ]
    assert pages[0] == pages[1]
