from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n"
GOOD = "1 Q0 a 1 2 good\n1 Q0 b 2 1 good\n2 Q0 c 1 1 good\n"
BAD = "1 Q0 b 1 2 bad\n1 Q0 a 2 1 bad\n2 Q0 x 1 1 bad\n"
Command = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, text in (("qrels", QRELS), ("good", GOOD), ("bad", BAD)):
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in ("qrels", "good", "bad")]


def test_the_table_has_runs_as_rows_and_stars_the_best(command: Command, files: list[Path]) -> None:
    outcome = command("evaluate", *files, "-m", "RR", "-m", "P@1")
    assert outcome.code == 0
    assert outcome.out.splitlines()[:3] == [
        "          RR      P@1",
        "good  1.0000*  1.0000*",
        "bad   0.2500   0.0000",
    ]
    assert "averaged over 2 of 2 queries" in outcome.out
    assert "conventions: linear gain" in outcome.out
    assert "warning: bad: 33.3% of the documents in the top 10 are unjudged (1 of 3) [unjudged]" in outcome.err


def test_many_measures_become_rows(command: Command, files: list[Path]) -> None:
    outcome = command("evaluate", *files, "-m", "all_trec")
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["good", "bad"]
    assert lines[1].split() == ["NumQ", "2", "2"]


def test_json_has_the_documented_schema_and_full_precision(command: Command, files: list[Path]) -> None:
    outcome = command("evaluate", *files, "-m", "nDCG@10", "-m", "FirstRel", "--per-query", "--format", "json")
    data = json.loads(outcome.out)
    assert list(data) == ["schema", "conventions", "qrels", "runs", "labels", "warnings"]
    assert data["schema"] == "rankgauge.scores/1"
    assert set(data["qrels"]) == {"name", "sha256", "queries"}
    run = data["runs"][1]
    assert set(run) == {"name", "sha256", "queries", "depth", "measures", "per_query"}
    assert set(run["queries"]) == {"averaged", "missing", "failed", "without_relevant"}
    value = evaluate(*map(str, (files[0], files[2])))["nDCG@10"]
    reason = "the run has at most 2 documents per query, fewer than @10 needs"
    assert run["measures"]["nDCG@10"] == {"value": value, "n": 2, "incomplete": reason}
    assert run["per_query"]["2"] == {"nDCG@10": 0.0, "FirstRel": None}
    assert {"code", "message", "run"} == set(data["warnings"][0])
    plain = json.loads(command("evaluate", *files, "--format", "json").out)
    assert "per_query" not in plain["runs"][0]


def test_csv_has_a_row_for_each_value(command: Command, files: list[Path]) -> None:
    rows = list(csv.DictReader(io.StringIO(command("evaluate", *files, "-m", "RR", "-q", "--format", "csv").out)))
    assert [(row["run"], row["query"], row["value"], row["n"]) for row in rows] == [
        ("good", "", "1.0", "2"), ("good", "1", "1.0", ""), ("good", "2", "1.0", ""),
        ("bad", "", "0.25", "2"), ("bad", "1", "0.5", ""), ("bad", "2", "0.0", ""),
    ]  # fmt: skip
    assert "float32" in rows[0]["conventions"]


def test_three_columns_under_our_names(command: Command, files: list[Path]) -> None:
    outcome = command("evaluate", *files[:2], "-m", "P@2", "-m", "NumRet", "-q", "--format", "trec")
    assert outcome.out.splitlines()[-1] == "NumRet                \tall\t3"
    assert outcome.out.splitlines()[0] == "P@2                   \t1\t0.5000"
    assert command("evaluate", *files, "--format", "trec").code == 2


def test_a_query_named_all_has_no_place_in_three_columns(command: Command, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("all 0 a 1\n")
    (tmp_path / "r").write_text("all Q0 a 1 1 x\n")
    outcome = command("evaluate", tmp_path / "q", tmp_path / "r", "-q", "--format", "trec")
    assert outcome.code == 2
    assert "named 'all'" in outcome.err
    assert json.loads(command("evaluate", tmp_path / "q", tmp_path / "r", "-q", "--format", "json").out)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-m", "ndgc@10"], 64, "error: unknown measure 'ndgc'\nhint: did you mean nDCG@10?"),
        (["-m", "recip_rank.10"], 64, "RR@10"),
        (["--set", "measures.compat=9"], 64, "--set measures.compat: expected one of trec_eval-9, trec_eval-10"),
        (["--nonsense"], 64, "No such option"),
        (["-l", "-1"], 64, "Invalid value for '-l'"),
    ],
)
def test_wrong_calls_exit_64_and_say_what_to_do(
    command: Command, files: list[Path], arguments: list[str], code: int, message: str
) -> None:
    outcome = command("evaluate", *files, *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


def test_wrong_files_exit_2_with_file_and_line(command: Command, files: list[Path]) -> None:
    files[1].write_text("1 Q0 a 1 2.0\n")
    outcome = command("evaluate", *files)
    assert (outcome.code, outcome.out) == (2, "")
    assert (
        outcome.err
        == f"error: {files[1]}:1: expected 6 columns (query Q0 document rank score tag), found 5: '1 Q0 a 1 2.0'\n"
    )


def test_warnings_of_the_readers_are_printed_and_are_in_the_json(command: Command, files: list[Path]) -> None:
    files[1].write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert "byte order mark" in command("evaluate", *files[:2]).err
    data = json.loads(command("evaluate", *files[:2], "--format", "json").out)
    assert data["warnings"][0]["code"] == "input"


def test_ids_that_are_not_utf8_come_out_as_they_went_in(command: Command, tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(b"caf\xe9 0 a 1\n")
    (tmp_path / "r").write_bytes(b"caf\xe9 Q0 a 1 1 x\n")
    outcome = command("evaluate", tmp_path / "q", tmp_path / "r", "-m", "RR", "-q", "--format", "trec")
    assert outcome.out.encode("utf-8", "surrogateescape").startswith(b"RR                    \tcaf\xe9\t1.0000")
    table = command("evaluate", tmp_path / "q", tmp_path / "r", "-m", "RR", "-q")
    assert "caf\\xe9" in table.out


def test_nothing_from_data_reaches_the_terminal_as_a_command(command: Command, tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(b"\x1b]0;x\x07 0 a 1\n")
    (tmp_path / "r").write_bytes(b"\x1b]0;x\x07 Q0 a 1 1 \x1b[31mrun\n")
    outcome = command("evaluate", tmp_path / "q", tmp_path / "r", "-m", "P@5", "-q")
    assert "\x1b" not in outcome.out + outcome.err


def test_files_of_other_formats_are_detected_from_their_content(command: Command, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n")
    (tmp_path / "r").write_text('{"1": {"b": 2.5, "a": 1.5}}')
    outcome = command("evaluate", tmp_path / "q", tmp_path / "r", "-m", "RR", "--format", "trec")
    assert (outcome.code, outcome.out) == (0, "RR                    \tall\t0.5000\n")
