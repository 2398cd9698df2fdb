"""Options for large runs, and tables that hold several runs, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
CSV = ("--set", "reading.run_format=csv", "--column", "query=who")
ROWS = [("q1", "a", 3.0), ("q2", "b", 1.0), ("q1", "b", 1.0), ("q2", "a", 2.0)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    header = "who,doc_id,score,system\n"
    rows = [(*row, "bm25") for row in ROWS] + [(query, doc, -score, "dense") for query, doc, score in ROWS]
    Path("runs.csv").write_text(header + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_table_gives_one_row_per_run(command: Command) -> None:
    done = command("evaluate", "qrels", "runs.csv", *CSV, "-m", "RR", "--format", "json")
    assert done.code == 0, done.err
    runs = json.loads(done.out)["runs"]
    assert [(run["name"], run["measures"]["RR"]["value"]) for run in runs] == [("bm25", 0.75), ("dense", 0.75)]


@pytest.mark.usefixtures("folder")
def test_the_runs_of_one_table_are_compared(command: Command) -> None:
    words = ("compare", "qrels", "runs.csv", *CSV, "-m", "RR", "--baseline")
    done = command(*words, "dense")
    assert done.code == 0, done.err
    assert "bm25" in done.out
    wrong = command(*words, "runs.csv")
    assert wrong.code == 64
    assert "--baseline names a file, and 2 runs are in 1 file" in wrong.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("size", "code"), [("1", 0), ("64K", 0), ("2 GiB", 0), ("much", 64), ("-1", 64)])
def test_a_size_has_a_number_and_perhaps_a_unit(command: Command, size: str, code: int) -> None:
    done = command("evaluate", "qrels", "runs.csv", *CSV, "--set", f"reading.memory={size}")
    assert done.code == code, done.err
    assert ("--set reading.memory: expected a number of bytes, or a size such as 512M" in done.err) == bool(code)
