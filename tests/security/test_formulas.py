"""No cell of a CSV that rankgauge writes is a formula, numbers stay numbers, and everything reads back as it was."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import RankgaugeWarning, convert, read_run
from rankgauge.io.formats.delimited import guard_formula, guard_marked, unguard_formula
from rankgauge.render.document import Rows
from rankgauge.render.formats.data_rows import as_csv

Command = Callable[..., Any]
FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "=",
    "-",
    "+",
    "@",
    "-x",
    "\t=1",
    "\r=1",
    "--5",
    "+-1",
    "-1e",
]
NUMBERS = ["-1", "+2", "-0.5", "-.5", "+1e-3", "-12345678901234567890", "-3."]
TEXTS = st.text(alphabet="'=+-@0123456789.e \t\rax\"", max_size=8)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_gets_a_mark(text: str) -> None:
    assert guard_formula(text) == f"'{text}"
    assert guard_formula(f"1{text}") == f"1{text}"


@pytest.mark.parametrize("text", NUMBERS)
def test_a_number_stays_a_number(text: str) -> None:
    assert guard_formula(text) == text
    assert float(text) == float(guard_formula(text))


@given(TEXTS)
def test_a_mark_is_undone_and_no_two_texts_become_the_same(text: str) -> None:
    assert unguard_formula(guard_formula(text)) == text
    assert unguard_formula(guard_marked(text)) == text
    is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text)
    assert guard_formula(text)[:1] not in tuple("=+-@\t\r") or is_number


@given(st.lists(st.tuples(TEXTS, st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_results_as_csv_have_no_formula_and_the_same_numbers(rows: list[tuple[str, float]]) -> None:
    text = as_csv(Rows(["name", "value"], ({"name": name, "value": value} for name, value in rows)))
    cells = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [(unguard_formula(name), float(value)) for name, value in cells] == rows
    assert [name for name, _ in cells] == [guard_formula(name) for name, _ in rows]


def test_the_csv_of_an_evaluation_has_no_formula(tmp_path: Path, command: Command) -> None:
    (tmp_path / "qrels").write_text("=cmd() 0 a 1\n-5 0 a 1\n")
    (tmp_path / "run").write_text("=cmd() Q0 a 1 1 @run\n-5 Q0 a 1 1 @run\n")
    outcome = command("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "RR", "-q", "--format", "csv")
    cells = [cell for row in csv.reader(io.StringIO(outcome.out)) for cell in row]
    assert {"'=cmd()", "'@run", "-5"} <= set(cells)


IDS = st.text(alphabet="'=+-@05.ax", min_size=1, max_size=5)


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize("escape", [False, True])
@settings(max_examples=40)
@given(ids=st.lists(IDS, min_size=1, max_size=5, unique=True))
def test_ids_survive_a_conversion(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, escape: bool, ids: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("ids")
    lines = [f"{name} Q0 {name} {rank} {-rank} {name}\n" for rank, name in enumerate(ids, 1)]
    (folder / "in.trec").write_text("".join(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankgaugeWarning)
        convert(folder / "in.trec", folder / f"out.{suffix}", kind="run", from_format="trec", escape_formulas=escape)
        run = read_run(folder / f"out.{suffix}", format=suffix)
    assert sorted(run.queries.to_text()) == sorted(ids)
    assert sorted(run.docs.to_text()) == sorted(ids)


def test_reading_a_mark_is_reported(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\nq,'=a,1\nq,'b,1\n")
    with pytest.warns(RankgaugeWarning, match="a ' before '=a', which is read without it"):
        run = read_run(tmp_path / "run.csv")
    assert run.docs.to_text() == ["=a", "'b"]
