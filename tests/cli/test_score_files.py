"""Scores as results, at the command line: which columns are measures, and what is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

from rankgauge import RankgaugeWarning, compare, evaluate, gate
from tests.conftest import Outcome

Command = Callable[..., Outcome]
pytestmark = pytest.mark.filterwarnings(f"ignore::{RankgaugeWarning.__module__}.{RankgaugeWarning.__name__}")
WIDE = "query,nDCG@10,helpful,seed,kind\nq1,0.5,0.9,1,a\nq2,0.25,0.8,2,b\nq3,1.0,0.7,3,b\n"


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    (tmp_path / "wide.csv").write_text(WIDE)
    return tmp_path / "wide.csv"


def measured(done: Outcome) -> list[str]:
    assert done.code == 0, done.err
    return list(json.loads(done.out)["runs"][0]["measures"])


def test_other_numeric_columns_are_listed_and_usable(wide: Path, command: Command) -> None:
    done = command("evaluate", wide, "--format", "json")
    assert measured(done) == ["nDCG@10"]
    assert "2 other numeric columns (-m measures one, --by groups): 'helpful', 'seed'" in done.err
    assert "other numeric" not in command("evaluate", wide, "-m", "helpful").err
    assert command("evaluate", wide, "--by", "seed").code == 0


def test_a_column_of_which_it_is_said_what_is_better_is_a_measure(wide: Path, command: Command) -> None:
    assert measured(command("evaluate", wide, "--set", "columns.helpful=higher", "--format", "json")) == [
        "nDCG@10",
        "helpful",
    ]
    done = command("gate", wide, "--baseline", wide, "--set", "columns.helpful=higher", "--format", "json")
    assert [row["measure"] for row in json.loads(done.out)["gate"]["compared"]] == ["nDCG@10", "helpful"]
    done = command("compare", wide, wide, "--set", "columns.unknown=higher")
    assert (done.code, done.err) == (
        2,
        "error: columns.unknown: no numeric column has this name\nhint: there are 'helpful', 'seed'\n",
    )


@pytest.mark.parametrize("wrong", ['"1,5"', "good", "inf"])
def test_a_wrong_value_of_a_named_column_is_an_error_with_its_line(
    tmp_path: Path, command: Command, wrong: str
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(f"query,nDCG@10,helpful\nq1,0.5,0.9\nq2,0.5,{wrong}\n")
    done = command("evaluate", path, "-m", "helpful")
    assert (done.code, f"{path}:3: helpful: expected a" in done.err) == (2, True), done.err
    assert command("evaluate", path).code == 0  # nobody asked for it


def test_the_first_value_may_be_missing(tmp_path: Path, command: Command) -> None:
    (tmp_path / "scores.csv").write_text("query,helpful\nq1,\nq2,0.8\nq3,0.7\n")
    done = command("evaluate", tmp_path / "scores.csv", "-m", "helpful", "--format", "json")
    assert json.loads(done.out)["runs"][0]["measures"]["helpful"] == {"value": 0.75, "n": 2}


def test_no_column_of_queries_is_an_error_that_names_the_columns(tmp_path: Path, command: Command) -> None:
    (tmp_path / "scores.csv").write_text("row_number,nDCG@10\n1,0.5\n2,0.25\n")
    done = command("evaluate", tmp_path / "scores.csv")
    assert (done.code, "no column identifies queries: 'row_number', 'nDCG@10'" in done.err) == (2, True)
    assert command("evaluate", tmp_path / "scores.csv", "--column", "query=row_number").code == 0


def test_the_order_of_rows_changes_neither_the_measures_nor_the_first_of_them(tmp_path: Path, command: Command) -> None:
    rows = [f"q{query},{name},{query / 10}\n" for query in range(9) for name in ("RR", "AP", "nDCG@10", "helpful")]
    path, outputs = tmp_path / "scores.csv", set()
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        path.write_text("query,metric,value\n" + "".join(rows))
        outputs.add(command("compare", path, path).out)
    assert len(outputs) == 1
    assert measured(command("evaluate", path, "--format", "json")) == ["nDCG@10", "AP", "RR"]


def test_queries_have_columns_and_texts_for_scores_too(wide: Path, tmp_path: Path, command: Command) -> None:
    rows = [{"_id": f"q{number}", "text": f"how {number}?", "team": "x" if number < 3 else "y"} for number in (1, 2, 3)]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = command("evaluate", wide, "--queries", tmp_path / "queries.jsonl", "--by", "team", "--format", "json")
    groups = {group["label"]: group["mean"] for group in json.loads(done.out)["runs"][0]["by"]}
    assert groups == {"x": 0.375, "y": 1.0}
    changed = tmp_path / "changed.csv"
    changed.write_text(WIDE.replace("q1,0.5", "q1,0.1"))
    assert "how 1?" in command("compare", wide, changed, "--queries", tmp_path / "queries.jsonl").out


@pytest.mark.parametrize("option", [("--ignore-case",), ("--match", "suffix"), ("--forbid", "id = z")])
def test_what_only_rankings_have_is_refused(wide: Path, command: Command, option: tuple[str, ...]) -> None:
    assert command("evaluate", wide, *option).code == 2


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow"])
def test_frames_of_every_library_are_scores(kind: str) -> None:
    data: dict[str, list[Any]] = {"query": ["q1", "q2", "q3"], "nDCG@10": [0.5, 0.25, 1.0], "helpful": [0.9, 0.8, 0.7]}
    made: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
        "pandas": pandas.DataFrame,
        "polars": polars.DataFrame,
        "lazy": polars.LazyFrame,
        "arrow": pyarrow.table,
    }
    before, now = made[kind](data), made[kind]({**data, "helpful": [0.8, 0.7, 0.6]})
    assert evaluate(before, measures="helpful")["helpful"] == pytest.approx(0.8)
    (change,) = compare(before, [now], "helpful").differences
    assert change.n == 3
    assert change.difference == pytest.approx(-0.1)
    assert gate(now, baseline=before, require="helpful>=0.9").exit_code == 1
