"""Parquet, Arrow and data frames."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from rankgauge import InputError, Qrels, RankgaugeWarning, evaluate, read_qrels, read_queries, read_run
from rankgauge.errors import InputTypeError, MissingExtraError
from rankgauge.io import qrels_from_frame, run_from_frame
from rankgauge.io.formats import arrow

RUN: dict[str, list[Any]] = {"query_id": ["q1", "q1", "q2"], "docno": ["a", "b", "caf\xe9"], "score": [2.5, 1.5, 0.5]}
GRADES = {"qid": [1, 1, 2], "pid": ["a", "b", "a"], "label": [1, 0, 2]}
FRAMES: list[Any] = [
    pd.DataFrame, pl.DataFrame, pa.table, lambda data: pl.DataFrame(data).lazy(),
    lambda data: pd.DataFrame(data).astype({"docno": "category"}) if "docno" in data else pd.DataFrame(data),
    lambda data: pl.DataFrame(data, schema_overrides={"docno": pl.Categorical} if "docno" in data else None),
    lambda data: narwhals.from_native(pl.DataFrame(data)),
]  # fmt: skip


@pytest.mark.parametrize("make", FRAMES)
@pytest.mark.parametrize("with_arrow", [True, False])
def test_frames_become_judgments_and_runs(make: Any, with_arrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not with_arrow:
        monkeypatch.setattr(arrow, "is_installed", lambda: False)
    run = run_from_frame(make(RUN))
    assert list(run.docs) == [b"a", b"b", "caf\xe9".encode()]
    assert run.scores.tolist() == [2.5, 1.5, 0.5]
    qrels = qrels_from_frame(make(GRADES), name="mine")
    assert (qrels.name, list(qrels.queries), qrels.grades.tolist()) == ("mine", [b"1", b"2"], [1, 0, 2])


@pytest.mark.parametrize("make", FRAMES)
def test_evaluating_takes_frames(make: Any) -> None:
    judged = {"q": ["q1", "q2"], "doc": ["b", "x"], "rel": [1, 1]}
    assert evaluate(make(judged), make(RUN), "RR")["RR"] == 0.25


@pytest.mark.parametrize("make", FRAMES)
def test_ranks_of_a_frame_are_checked_against_its_scores_as_those_of_a_file(make: Any, tmp_path: Path) -> None:
    ranked = {**RUN, "rank": [1, 2, 1]}
    distances = {**ranked, "score": [0.5, 1.5, 2.5]}
    run_from_frame(make(ranked))  # warnings are errors in these tests
    pd.DataFrame(distances).to_csv(tmp_path / "run.csv", index=False)
    with pytest.warns(RankgaugeWarning, match="score 1.5 at rank 2, 0.5 at rank 1") as of_file:
        read_run(tmp_path / "run.csv")
    with pytest.warns(RankgaugeWarning) as of_frame:
        run_from_frame(make(distances))
    texts = [[str(warning.message).partition(": ")[2] for warning in warned] for warned in (of_file, of_frame)]
    assert texts[0] == texts[1]
    with pytest.warns(RankgaugeWarning, match="at rank 2"):
        evaluate({"q1": {"a": 1}}, make(distances), "RR")


def test_ranks_may_be_floats_as_pandas_makes_them(tmp_path: Path) -> None:
    ranks = [1.0, 2.0, np.nan]
    frame = pd.DataFrame({**RUN, "rank": ranks, "score": [0.5, 1.5, 2.5]})
    with pytest.warns(RankgaugeWarning, match="score 1.5 at rank 2"):
        run_from_frame(frame)
    frame.to_parquet(tmp_path / "run.parquet")
    with pytest.warns(RankgaugeWarning, match="score 1.5 at rank 2"):
        read_run(tmp_path / "run.parquet")


def test_columns_are_found_or_named() -> None:
    frame = pd.DataFrame({"nr": ["q"], "stueck": ["a"], "punkte": [1.5]})
    columns = {"query": "nr", "doc": "stueck", "score": "punkte"}
    assert run_from_frame(frame, columns=columns).scores.tolist() == [1.5]
    with pytest.raises(InputError, match="run: expected a column for the query"):
        run_from_frame(frame)


@pytest.mark.parametrize("with_arrow", [True, False])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"qid": ["q"], "docno": ["a"], "score": [float("nan")]}, "run:1: expected a number as score"),
        ({"qid": ["q", "q"], "docno": ["a", None], "score": [1.0, 2.0]}, "run:2: expected"),
        ({"qid": ["q"], "docno": ["a"], "score": ["1"]}, "run:1: expected a number as score, found"),
        ({"qid": ["q", "q"], "docno": ["a", "a"], "score": [1.0, 2.0]}, "run:2: expected each document once"),
    ],
)
def test_what_is_wrong_in_a_frame_is_named_by_its_row(
    data: dict[str, Any], said: str, with_arrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not with_arrow:
        monkeypatch.setattr(arrow, "is_installed", lambda: False)
    for make in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(InputError) as error:
            run_from_frame(make(data))
        assert said in str(error.value)


def test_ids_of_mixed_types_are_an_error() -> None:
    for ids in ([1.5], [object()], [1, "a"]):
        with pytest.raises(InputError):
            run_from_frame(pd.DataFrame({"qid": ids, "docno": ["a"] * len(ids), "score": [1.0] * len(ids)}))
    with pytest.raises(InputTypeError, match="expected a pandas, polars or pyarrow frame, found int"):
        run_from_frame(3)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({**RUN, "extra": [None, None, None]}),
        pa.table(RUN).slice(0, 3),
        pa.concat_tables([pa.table(RUN).slice(0, 1), pa.table(RUN).slice(1)]),
        pa.table({**RUN, "docno": pa.array(RUN["docno"]).dictionary_encode()}),
        pa.table({**RUN, "docno": pa.array([text.encode() for text in RUN["docno"]], pa.binary())}),
        pa.table({**RUN, "docno": pa.array(RUN["docno"], pa.large_string())}),
        pa.table({**RUN, "score": pa.array(RUN["score"], pa.float32())}),
    ],
)
def test_parquet_and_arrow_files(tmp_path: Path, table: pa.Table) -> None:
    parquet.write_table(table, tmp_path / "parquet")
    feather.write_feather(table, str(tmp_path / "feather"))
    with pa.OSFile(str(tmp_path / "stream"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    for name in ("parquet", "feather", "stream"):
        run = read_run(tmp_path / name)
        assert list(run.docs) == [b"a", b"b", "caf\xe9".encode()]
        assert run.scores.tolist() == [2.5, 1.5, 0.5]


def test_numbers_and_flags_as_judgments(tmp_path: Path) -> None:
    table = pa.table({"qid": pa.array([7, 7], pa.int32()), "pid": [1, 2], "rel": [True, False]})
    parquet.write_table(table, tmp_path / "q")
    qrels = read_qrels(tmp_path / "q")
    assert (list(qrels.queries), list(qrels.docs), qrels.grades.tolist()) == ([b"7"], [b"1", b"2"], [1, 0])


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"qid": ["q"], "docno": ["a"], "score": ["1"]}, "expected numbers in column 'score', found 'string'"),
        ({"qid": [1.5], "docno": ["a"], "score": [1]}, "expected strings or whole numbers in column 'qid'"),
        ({"qid": ["q", None], "docno": ["a", "b"], "score": [1, 2]}, "run:2: expected a query id, found nothing"),
        ({"qid": ["q"], "docno": ["a\0"], "score": [1]}, "run:1: expected a document id, found 'a\\x00'"),
        ({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1, None]}, "run:2: expected a number as score"),
        ({"qid": ["q"], "docno": ["a"], "score": [float("nan")]}, "found NaN"),
        ({"qid": [["q"]], "docno": ["a"], "score": [1]}, "in column 'qid'"),
    ],
)  # fmt: skip
def test_faults_in_a_parquet_file_are_reported(tmp_path: Path, table: dict[str, Any], said: str) -> None:
    parquet.write_table(pa.table(table), tmp_path / "run")
    with pytest.raises(InputError) as error:
        read_run(tmp_path / "run")
    assert said in str(error.value)


def test_a_damaged_parquet_file_is_an_error(tmp_path: Path) -> None:
    parquet.write_table(pa.table(RUN), tmp_path / "run")
    data = (tmp_path / "run").read_bytes()
    for part in (data[:-10], data[:4] + data[-4:], data[:20] + b"\xff" * 20 + data[40:]):
        (tmp_path / "run").write_bytes(part)
        with pytest.raises(InputError, match="cannot be read as Parquet or Arrow"):
            read_run(tmp_path / "run")


def test_a_parquet_file_that_says_it_is_huge_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet.write_table(pa.table(RUN), tmp_path / "run")
    monkeypatch.setattr(arrow, "MAX_DECOMPRESSED_BYTES", 10)
    with pytest.raises(InputError, match="looks like a decompression bomb"):
        read_run(tmp_path / "run")


def test_a_parquet_file_without_rows_is_an_error(tmp_path: Path) -> None:
    parquet.write_table(pa.table(RUN).slice(0, 0), tmp_path / "run")
    with pytest.raises(InputError, match="run: no results in the file"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize("with_arrow", [True, False])
def test_ranks_in_a_frame_make_the_order(with_arrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not with_arrow:
        monkeypatch.setattr(arrow, "is_installed", lambda: False)
    frame = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "rank": [2, 1], "tag": ["x", "x"]})
    assert list(run_from_frame(frame).ranked().docs) == [b"b", b"a"]


def test_subtopics_in_a_frame() -> None:
    frame = pl.DataFrame({"qid": ["q", "q"], "docno": ["a", "a"], "subtopic": [1, 2], "rel": [1, 0]})
    assert len(qrels_from_frame(frame, by_subtopic=True)) == 2
    with pytest.raises(InputError, match="judged again"):
        qrels_from_frame(frame)


def test_queries_in_parquet(tmp_path: Path) -> None:
    table = {"query_id": ["1", "2"], "text": ["a b", "c"], "difficulty": [1, 2]}
    parquet.write_table(pa.table(table), tmp_path / "queries")
    queries = read_queries(tmp_path / "queries")
    assert queries.texts == ["a b", "c"]
    qrels = Qrels.from_dict({"1": {"a": 1}, "2": {"a": 1}}).with_columns(queries.columns)
    assert np.array_equal(qrels.columns["difficulty"], [1, 2])


@pytest.mark.parametrize(
    ("library", "extra", "call"),
    [
        ("pyarrow", "arrow", lambda folder: read_run(folder / "run")),
        ("narwhals", "frames", lambda folder: run_from_frame(pl.DataFrame(RUN))),
        ("ir_datasets", "datasets", lambda folder: read_qrels("irds:beir/scifact/test")),
    ],
)
def test_a_missing_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, extra: str, call: Any
) -> None:
    parquet.write_table(pa.table(RUN), tmp_path / "run")
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError) as error:
        call(tmp_path)
    assert error.value.hint == f"pip install 'rankgauge[{extra}]'"


def test_an_infinite_score_in_a_frame_is_warned_of() -> None:
    with pytest.warns(RankgaugeWarning, match="run:1: expected a finite score"):
        run_from_frame(pd.DataFrame({"qid": ["q"], "docno": ["a"], "score": [np.inf]}))
