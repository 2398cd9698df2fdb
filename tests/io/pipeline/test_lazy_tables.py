"""A relation of duckdb and a LazyFrame of polars are read in batches, and scored as the file behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow
import pytest
from pyarrow import parquet

from rankgauge import InputError, Reading, compare, evaluate, evaluate_runs
from rankgauge.io.formats import frames
from tests.distributed import cases

JUDGED = cases.judgments()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = cases.results(runs="a")
    table = {"qid": [row[1] for row in rows], "docno": [row[2] for row in rows], "score": [row[3] for row in rows]}
    parquet.write_table(pyarrow.table(table), tmp_path / "run.parquet")
    return tmp_path / "run.parquet"


def duckdb_relation(path: Path) -> Any:
    return pytest.importorskip("duckdb").sql(f"select * from '{path}'")


def polars_frame(path: Path) -> Any:
    return polars.scan_parquet(path)


@pytest.mark.filterwarnings("ignore:.*contiguous")
@pytest.mark.parametrize("table", [duckdb_relation, polars_frame])
def test_a_lazy_table_has_the_scores_of_its_file(table: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "BATCH_ROWS", 50)
    expected = evaluate(JUDGED, path, "nDCG@10 AP")
    scores = evaluate(JUDGED, table(path), "nDCG@10 AP")
    assert np.array_equal(scores.values, expected.values)
    assert scores.notes[1:] == expected.notes[1:]  # the first one, on scattered queries, names the source
    kept = evaluate_runs(JUDGED, [table(path)], "AP", reading=Reading(keep_rankings=True))
    assert kept.scores[0]["AP"] == expected["AP"]
    assert compare(JUDGED, [table(path), path], "AP").differences[0].difference == 0


@pytest.mark.filterwarnings("ignore:.*contiguous")
@pytest.mark.parametrize("table", [duckdb_relation, polars_frame])
def test_a_lazy_table_never_becomes_a_run(table: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the table is in memory")

    monkeypatch.setattr("rankgauge.io.pipeline.joining.as_run", refuse)
    assert evaluate(JUDGED, table(path), "AP")["AP"] is not None


@pytest.mark.parametrize("table", [duckdb_relation, polars_frame])
def test_a_column_of_run_names_gives_one_result_each(table: Any, tmp_path: Path) -> None:
    rows = cases.results()
    names = {"run": 0, "qid": 1, "docno": 2, "score": 3}
    columns = {name: [row[at] for row in sorted(rows)] for name, at in names.items()}
    parquet.write_table(pyarrow.table(columns), tmp_path / "runs.parquet")
    evaluation = evaluate_runs(JUDGED, [table(tmp_path / "runs.parquet")], "AP")
    assert [run.run for run in evaluation.scores] == ["a", "b"]
    for scores in evaluation.scores:
        assert np.array_equal(scores.values, cases.local_scores(JUDGED, rows, scores.run, "AP").values)


@pytest.mark.parametrize("table", [duckdb_relation, polars_frame])
def test_a_duplicate_in_a_lazy_table_is_an_error(table: Any, tmp_path: Path) -> None:
    columns = {"qid": ["q1", "q1"], "docno": ["d1", "d1"], "score": [1.0, 2.0]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "twice.parquet")
    with pytest.raises(InputError, match="document 'd1' again for query 'q1'"):
        evaluate(JUDGED, table(tmp_path / "twice.parquet"), "AP")
