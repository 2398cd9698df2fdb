"""A folder of Parquet files is a run, in whatever way it is laid out."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet

from rankgauge import InputError, Qrels, UsageError, evaluate, evaluate_runs, read_run
from rankgauge.io.reading_options import Reading

pyarrow = pytest.importorskip("pyarrow")

QRELS = Qrels.from_dict({"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"z": 1}})
ROWS = [("q1", "a", 3.0), ("q1", "x", 2.0), ("q1", "b", 1.0), ("q2", "y", 2.0), ("q2", "c", 1.0)]
EXPECTED = evaluate(QRELS, {"q1": {"a": 3, "x": 2, "b": 1}, "q2": {"y": 2, "c": 1}}, ["nDCG", "RR"])


def write(path: Path, rows: list[tuple[str, str, float]], **columns: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    query, doc, score = zip(*rows, strict=True) if rows else ((), (), ())
    schema = [("query_id", pyarrow.string()), ("doc_id", pyarrow.string()), ("score", pyarrow.float64())]
    table = pyarrow.table([list(query), list(doc), list(score)], schema=pyarrow.schema(schema))
    for name, values in columns.items():
        table = table.append_column(name, pyarrow.array(values))
    parquet.write_table(table, path)


def lay_out_flat(folder: Path) -> None:
    write(folder / "part-0.parquet", ROWS[:4])
    write(folder / "part-1.PARQUET", ROWS[4:])


def lay_out_scattered(folder: Path) -> None:
    write(folder / "a.parquet", ROWS[::2])
    write(folder / "b.pq", ROWS[1::2])


def lay_out_nested(folder: Path) -> None:
    write(folder / "date=2026-01-01" / "bucket=0" / "part-0.parquet", ROWS[:3])
    write(folder / "date=2026-01-02" / "bucket=1" / "part-0.parquet", ROWS[3:])


def lay_out_with_other_files(folder: Path) -> None:
    lay_out_flat(folder)
    (folder / "_SUCCESS").touch()
    (folder / "README.md").write_text("not a run")
    (folder / ".part-0.parquet.crc").write_bytes(b"crc")
    write(folder / "_temporary" / "0" / "part-0.parquet", ROWS)
    write(folder / ".hidden" / "part-0.parquet", ROWS)
    write(folder / "empty.parquet", [])


def lay_out_by_run(folder: Path) -> None:
    write(folder / "run=bm%2025" / "part-0.parquet", ROWS)


@pytest.mark.parametrize(
    "lay_out", [lay_out_flat, lay_out_scattered, lay_out_nested, lay_out_with_other_files, lay_out_by_run]
)
def test_every_layout_gives_the_same_scores(tmp_path: Path, lay_out: object) -> None:
    folder = tmp_path / "bm 25"
    lay_out(folder)  # type: ignore[operator]  # one of the functions above
    for reading in (Reading(), Reading(memory=1), Reading(keep_rankings=True)):
        scores = evaluate(QRELS, folder, ["nDCG", "RR"], reading=reading)
        assert scores.values.tolist() == EXPECTED.values.tolist()
        assert scores.run == "bm 25"
    assert len(read_run(folder)) == len(ROWS)


def test_the_folders_of_runs_give_one_result_each(tmp_path: Path) -> None:
    write(tmp_path / "run=bm25" / "part-0.parquet", ROWS)
    write(tmp_path / "run=dense" / "part-0.parquet", [(query, doc, -score) for query, doc, score in ROWS])
    for reading in (Reading(), Reading(keep_rankings=True)):
        first, second = evaluate_runs(QRELS, [tmp_path], "RR", reading=reading).scores
        assert (first.run, second.run) == ("bm25", "dense")
        assert first["RR"] != second["RR"]


def test_a_query_may_be_the_name_of_a_folder(tmp_path: Path) -> None:
    for query in ("q1", "q2"):
        path = tmp_path / f"query_id={query}" / "part.parquet"
        write(path, [row for row in ROWS if row[0] == query])
        parquet.write_table(parquet.read_table(path, partitioning=None).drop(["query_id"]), path)
    assert evaluate(QRELS, tmp_path, ["nDCG", "RR"]).values.tolist() == EXPECTED.values.tolist()


def test_errors_name_the_file_and_its_row(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", ROWS)
    write(tmp_path / "b.parquet", [("q4", "d", 1.0), ("q1", "a", 9.0)])
    for reading in (Reading(), Reading(memory=1), Reading(keep_rankings=True)):
        with pytest.raises(InputError, match=r"b\.parquet:2: .*'a' again for query 'q1' \(first on row 1 of 'a\.par"):
            evaluate(QRELS, tmp_path, "RR", reading=reading)


def test_a_folder_without_parquet_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 1 t\n")
    with pytest.raises(InputError, match="a folder without Parquet files"):
        evaluate(QRELS, tmp_path, "RR")


def test_files_with_different_columns_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", ROWS[:3])
    write(tmp_path / "b.parquet", ROWS[3:], tag=["x", "x"])
    with pytest.raises(InputError, match=r"b\.parquet: expected the columns of 'a\.parquet', found a difference: tag"):
        evaluate(QRELS, tmp_path, "RR")


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    write(path, ROWS)
    parquet.write_table(parquet.read_table(path).rename_columns(["who", "what", "how"]), path)
    with pytest.raises(InputError, match="expected a column for the query"):
        evaluate(QRELS, path, "RR")
    named = Reading(columns={"query": "who", "doc": "what", "score": "how"})
    assert evaluate(QRELS, path, ["nDCG", "RR"], reading=named).values.tolist() == EXPECTED.values.tolist()
    trec = tmp_path / "run.txt"
    trec.write_text("q1 Q0 a 1 1 t\n")
    with pytest.raises(UsageError, match="whose columns have no names"):
        evaluate(QRELS, trec, "RR", reading=named)


def test_a_table_with_several_runs_needs_a_call_that_gives_several_results(tmp_path: Path) -> None:
    rows = [*ROWS, *((query, doc, -score) for query, doc, score in ROWS)]
    for name, order in (("by run", range(10)), ("by query", [0, 5, 1, 6, 2, 7, 3, 8, 4, 9])):
        path = tmp_path / f"{name}.parquet"
        write(path, [rows[row] for row in order], run=[["bm25", "dense"][row // 5] for row in order])
        with pytest.raises(InputError, match="expected one run, found 2: 'bm25', 'dense'"):
            evaluate(QRELS, path, "RR")
        for reading in (Reading(), Reading(memory=1), Reading(keep_rankings=True)):
            first, second = evaluate_runs(QRELS, [path], ["nDCG", "RR"], reading=reading).scores
            assert (first.run, second.run) == ("bm25", "dense")
            assert first.values.tolist() == EXPECTED.values.tolist()
            assert second["RR"] != first["RR"]
