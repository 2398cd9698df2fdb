"""What is scores, and what its rows mean: by the names of columns alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import InputError, Reading
from rankgauge.io.formats.score_tables import ScoreTable, is_scores, read_scores

READING = Reading()
WIDE = "query,nDCG@10,faithfulness,kind\nq2,0.5,0.9,a\nq1,1.0,,b\n"
LONG = "query,measure,value\nq2,nDCG@10,0.5\nq1,nDCG@10,1.0\nq2,faithfulness,0.9\n"
ROWS = [
    {"query": "q2", "nDCG@10": 0.5, "faithfulness": 0.9, "kind": "a"},
    {"query": "q1", "nDCG@10": 1.0, "faithfulness": None, "kind": "b"},
]


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def sources(folder: Path) -> dict[str, Any]:
    """The same scores in every form."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), folder / "rows.parquet")
    by_query = {row["query"]: {"nDCG@10": row["nDCG@10"]} for row in ROWS}
    return {
        "csv": write(folder, "wide.csv", WIDE),
        "tsv": write(folder, "wide.tsv", WIDE.replace(",", "\t")),
        "semicolons": write(folder, "semicolons.csv", WIDE.replace(",", ";")),
        "jsonl": write(folder, "rows.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
        "json": write(folder, "rows.json", json.dumps(ROWS, indent=1)),
        "mapping": write(folder, "mapping.json", json.dumps(by_query, indent=1)),
        "parquet": folder / "rows.parquet",
        "pandas": pandas.DataFrame(ROWS),
        "polars": polars.DataFrame(ROWS),
        "dict": by_query,
        "long": write(folder, "long.csv", LONG),
    }


def test_every_form_is_the_same_table(tmp_path: Path) -> None:
    for name, source in sources(tmp_path).items():
        assert is_scores(source, READING), name
        (table,) = read_scores(source, READING)
        assert table.queries == ("q1", "q2"), name
        assert table.values["nDCG@10"].tolist() == [1.0, 0.5], name
        if "faithfulness" in table.values:
            np.testing.assert_array_equal(table.values["faithfulness"], [np.nan, 0.9], err_msg=name)
            assert table.foreign == ["faithfulness"]
        if "kind" in table.others:
            assert list(table.others["kind"]) == ["b", "a"], name


@pytest.mark.parametrize(
    "text",
    [
        "query,doc,score\nq1,d1,0.5\n",
        "query_id,chunk_id,nDCG@10\nq1,c1,0.5\n",
        '{"query": "q1", "doc": "d1", "score": 0.5}\n',
        '{"query": "q1", "retrieved": ["d1"], "nDCG@10": 0.5}\n',
        '{"query": "q1", "relevant": ["d1"]}\n',
        '{"q1": {"d1": 0.5, "d2": 1.0}}\n',
        "q1 Q0 d1 1 0.5 run\n",
        "q1\tQ0\td1\t1\t0.5\trun\n",
        "q1 0 d1 1\n",
        "question,expected\nhow,this\n",
        "",
    ],
)
def test_what_names_documents_or_no_query_is_no_scores(tmp_path: Path, text: str) -> None:
    assert not is_scores(write(tmp_path, "file", text), READING)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,RR\nq1,0.5\nq1,1\n", r":3: query 'q1' of 'x.csv' is there twice, first at line 2"),
        ("query,measure,value\nq1,RR,0.5\nq2,RR,1\nq1,RR,0.25\n", r":4: 'RR' of query 'q1' .* first at line 2"),
        ("query,RR\nq1,inf\n", r":2: RR: expected a finite number, found 'inf'"),
        ("query,RR\nq1,high\n", r":2: RR: expected a number, found 'high'"),
        ('query,RR\nq1,"0,5"\n', r":2: RR: expected a number, found '0,5'"),
        ("query,nDCG@10\nq1,85\n", r":2: nDCG@10: expected a number from 0 to 1, found '85'"),
        ("query,RR\nq1,-0.1\n", r":2: RR: expected a number from 0 to 1"),
        ("query,RR\n,0.5\n", r":2: query: expected a text, found nothing"),
        ("query,nDCG@10,ndcg_cut_10\nq1,0.5,0.5\n", "'nDCG@10' and 'ndcg_cut_10' are both nDCG@10"),
        ("query,RR,RR\nq1,0.5,0.5\n", "two columns are called 'RR'"),
        ("query,RR\nq1,0.5,7\n", r":2: expected 2 columns, found 3"),
        ("query,question,RR\nq1,a,0.5\n", "several columns may identify queries: 'query', 'question'"),
    ],
)
def test_a_row_that_means_nothing_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_scores(write(tmp_path, "x.csv", text), READING)


def test_a_column_may_be_named_as_the_query(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "row,RR\nq1,0.5\n")
    with pytest.raises(InputError, match="no column identifies queries: 'row', 'RR'"):
        read_scores(path, READING)
    named = Reading(columns={"query": "row"})
    assert is_scores(path, named)
    assert read_scores(path, named)[0].queries == ("q1",)


@pytest.mark.parametrize("empty", ["", "null", "NaN", "None", "n/a"])
def test_what_is_empty_is_no_value(tmp_path: Path, empty: str) -> None:
    (table,) = read_scores(write(tmp_path, "x.csv", f"query,RR\nq1,{empty}\nq2,0.5\n"), READING)
    assert np.isnan(table.values["RR"][0])
    assert table.values["RR"][1] == 0.5


def test_names_of_ours_are_measures_in_any_notation_and_others_are_not(tmp_path: Path) -> None:
    text = "query,ndcg_cut_10,recall,P@5,seed,timestamp\nq1,0.5,0.4,0.2,7,2026\n"
    (table,) = read_scores(write(tmp_path, "x.csv", text), READING)
    assert {name: measure.name for name, measure in table.measures.items()} == {"ndcg_cut_10": "nDCG@10", "P@5": "P@5"}
    assert table.foreign == ["recall", "seed", "timestamp"]


def test_several_systems_are_several_tables_and_one_can_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "system,query,RR\na,q1,0.5\nb,q1,1\na,q2,0\n")
    assert [(table.name, table.queries) for table in read_scores(path, READING)] == [
        ("a", ("q1", "q2")),
        ("b", ("q1",)),
    ]
    (only,) = read_scores(f"{path}#b", READING)
    assert only.name == "b"
    with pytest.raises(InputError, match="has no system 'c'; there are 'a', 'b'"):
        read_scores(f"{path}#c", READING)


def test_true_and_false_are_numbers(tmp_path: Path) -> None:
    (table,) = read_scores(write(tmp_path, "x.jsonl", '{"query": "q1", "passed": true}\n'), READING)
    assert table.values["passed"].tolist() == [1.0]


QUERIES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=5).map(lambda text: f"q{text}")


@given(st.lists(st.tuples(QUERIES, st.floats(0, 1)), min_size=1, unique_by=lambda row: row[0]), st.randoms())
def test_the_order_of_rows_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float]], random: Any
) -> None:
    def table(ordered: list[tuple[str, float]]) -> ScoreTable:
        path = tmp_path_factory.mktemp("scores") / "x.jsonl"
        path.write_text("".join(json.dumps({"query": query, "RR": value}) + "\n" for query, value in ordered))
        (found,) = read_scores(path, READING)
        return found

    shuffled = [*rows]
    random.shuffle(shuffled)
    first, second = table(rows), table(shuffled)
    assert first.queries == second.queries == tuple(sorted(dict(rows), key=str.encode))
    assert first.values["RR"].tolist() == second.values["RR"].tolist() == [dict(rows)[query] for query in first.queries]
