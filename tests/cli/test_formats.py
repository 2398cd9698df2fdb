from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.cli import printing

Command = Callable[..., Any]
QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n3 0 d 1\n"
GOOD = "1 Q0 a 1 2\n1 Q0 b 2 1\n2 Q0 c 1 1\n3 Q0 x 1 3\n3 Q0 y 2 2\n3 Q0 d 3 1\n"
BAD = "1 Q0 b 1 2\n1 Q0 a 2 1\n2 Q0 x 1 1\n3 Q0 x 1 1\n"
RUNS = {"good": GOOD.replace("\n", " go|od_1\n"), "bad": BAD.replace("\n", " bad\n")}
MEASURES = ("-m", "nDCG@10", "-m", "RR")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, text in {"qrels": QRELS, **RUNS}.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in ("qrels", "bad", "good")]


def jsonl(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_evaluate_writes_the_same_values_as_json_lines_and_csv(command: Command, files: list[Path]) -> None:
    data = json.loads(command("evaluate", *files, *MEASURES, "-q", "--format", "json").out)
    expected = [
        (run["name"], None, measure, result["value"], result["n"])
        for run in data["runs"]
        for measure, result in run["measures"].items()
    ]
    expected += [
        (run["name"], query, measure, value, None)
        for run in data["runs"]
        for query, values in run["per_query"].items()
        for measure, value in values.items()
    ]
    lines = jsonl(command("evaluate", *files, *MEASURES, "-q", "--format", "jsonl").out)
    written = [(row["run"], row["query"], row["measure"], row["value"], row["n"]) for row in lines]
    assert sorted(written, key=str) == sorted(expected, key=str)
    assert all("linear gain" in row["conventions"] for row in lines)
    rows = csv.DictReader(io.StringIO(command("evaluate", *files, *MEASURES, "-q", "--format", "csv").out))
    assert [float(row["value"]) for row in rows] == [row["value"] for row in lines]
    assert len(jsonl(command("evaluate", *files, *MEASURES, "--format", "jsonl").out)) == 4


def test_compare_writes_the_same_values_as_json_lines_and_csv(command: Command, files: list[Path]) -> None:
    data = json.loads(command("compare", *files, *MEASURES, "-q", "--format", "json").out)
    lines = jsonl(command("compare", *files, *MEASURES, "-q", "--format", "jsonl").out)
    for row, difference in zip(lines, data["comparison"]["differences"], strict=False):
        assert {key: row[key] for key in difference if key != "ci"} == {
            key: difference[key] for key in difference if key != "ci"
        }
        assert (row["low"], row["high"]) == (difference["ci"]["low"], difference["ci"]["high"])
        assert row["baseline_run"] == "bad"
    values = {run["name"]: run["per_query"] for run in data["runs"]}
    per_query = lines[2:]
    assert len(per_query) == 6
    for row in per_query:
        assert row["value"] == values["go|od_1"][row["query"]][row["measure"]]
        assert row["baseline"] == values["bad"][row["query"]][row["measure"]]
        assert row["difference"] == row["value"] - row["baseline"]
    rows = list(csv.DictReader(io.StringIO(command("compare", *files, *MEASURES, "-q", "--format", "csv").out)))
    assert [float(row["difference"]) for row in rows] == [row["difference"] for row in lines]
    assert rows[0]["query"] == rows[0]["by"] == ""


def test_groups_are_rows_and_tables_of_their_own(command: Command, files: list[Path], tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text("".join(f'{{"id": "{n}", "text": "t", "kind": "{"x" if n < 3 else "y"}"}}\n' for n in (1, 2, 3)))
    options = ("-m", "RR", "--by", "kind", "--queries", topics)
    lines = jsonl(command("compare", *files, *options, "--format", "jsonl").out)
    assert [(row["by"], row["label"]) for row in lines] == [(None, None), ("kind", "x")]
    assert "| by kind |" in command("compare", *files, *options, "--format", "markdown").out
    scored = command("evaluate", *files, *options, "--ci", "--format", "markdown").out
    assert "|  |  | bad | 2 | 0.2500 |" in scored
    assert "|  | bad | 0.1667 | 0.000 to 0.906 |" in scored
    assert r" &  & bad & 2 & 0.2500" in command("evaluate", *files, *options, "--format", "latex").out
    refused = command("evaluate", *files, *options, "--format", "jsonl")
    assert (refused.code, refused.out) == (64, "")


def test_pages_have_the_best_in_bold_and_names_that_do_nothing(command: Command, files: list[Path]) -> None:
    markdown = command("evaluate", *files, "-m", "RR", "--format", "markdown").out
    assert markdown.splitlines()[2:4] == ["| go\\|od\\_1 | **0.7778** |", "| bad | 0.1667 |"]
    assert "bold: the best" in markdown
    assert "averaged over 3 of 3 queries" in markdown
    latex = command("compare", *files, "-m", "RR", "--format", "latex").out
    assert r"go\textbar{}od\_1 & \textbf{0.7778}" in latex
    assert r"\uparrow" not in latex  # nothing is significant, so there is no mark to explain
    assert command("compare", *files, "-m", "RR", "--format", "markdown").out.startswith(
        "go\\|od\\_1 vs. bad is undecided: RR "
    )
    alone = command("evaluate", *files[:2], "-m", "RR", "--format", "latex").out
    assert r"\textbf" not in alone
    assert "bold" not in alone


def test_a_page_shows_what_a_configuration_asks_for(command: Command, files: list[Path], tmp_path: Path) -> None:
    config = tmp_path / "rankgauge.yaml"
    config.write_text("statistics: {confidence_intervals: true, significance_testing: true}\n")
    page = command("evaluate", *files, "-m", "RR", "--config", config, "--set", "kpi=none", "--format", "latex").out
    assert r"measure & run & mean & 95\% CI \\" in page
    assert r"RR & go\textbar{}od\_1 & 0.7778 & 0.094 to 1.000 \\" in page
    assert r"RR & go\textbar{}od\_1 & \textbf{0.7778} & +0.611 & $-$1.000 to +1.000 & 0.380 & 3/0/0 \\" in page


def test_many_measures_become_rows_on_a_page(command: Command, files: list[Path]) -> None:
    lines = command("evaluate", *files, "-m", "all_trec", "--set", "kpi=none", "--format", "markdown").out.splitlines()
    assert lines[0] == "|  | bad | go\\|od\\_1 |"
    assert "| NumQ | 3 | 3 |" in lines


def test_charts_are_below_the_table(command: Command, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    plain, drawn = (command("compare", *files, *MEASURES, *more).out for more in ((), ("--plot",)))
    assert drawn.startswith(plain)
    assert "├─●─┤ the mean and its 95% CI" in drawn
    assert "3 up" in drawn
    scored = command("evaluate", *files, *MEASURES, "--plot").out
    assert scored.startswith(command("evaluate", *files, *MEASURES).out)
    assert "●" in scored
    monkeypatch.setattr("rankgauge.cli.printing.ascii_only", lambda: True)
    assert "●" not in command("evaluate", *files, *MEASURES, "--plot").out


@pytest.mark.parametrize(("encoding", "plain"), [("utf-8", False), ("UTF8", False), ("ascii", True), ("cp1252", True)])
def test_charts_are_ascii_if_the_terminal_is_not_utf_8(
    encoding: str, plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert printing.ascii_only() is plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "--plot", "--format", "csv"], "--format csv has no charts\nhint: leave out --plot"),
        (["compare", "--plot", "--format", "latex"], "--format latex has no charts"),
        (["evaluate", "-q", "--format", "latex"], "no per-query values\nhint: use --format csv or markdown"),
        (["compare", "-q"], "--format table has no per-query values\nhint: use --format json, csv or jsonl"),
        (["evaluate", "--audit", "--format", "markdown"], "--format markdown has no audits"),
        (["evaluate", "--audit", "--format", "jsonl"], "--format jsonl has no audits"),
    ],
)
def test_what_a_format_cannot_show_is_refused(
    command: Command, files: list[Path], arguments: list[str], message: str
) -> None:
    name, *options = arguments
    outcome = command(name, *files, *options)
    assert (outcome.code, outcome.out) == (64, "")
    assert message in outcome.err


LOG = '{"question": "a?", "retrieved_ids": ["x", "d"], "relevant_ids": ["d"], "scores": [1, 2]}\n'


def test_a_log_is_read_as_the_options_say(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(LOG)
    done = command("evaluate", path, "-m", "RR")
    assert (done.code, "an increasing one" in done.err) == (0, True)
    assert command("evaluate", path, "-m", "RR", "--strict").code == 2
    assert "more than 20 bytes" in command("evaluate", path, "--set", "reading.max_bytes=20").err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    assert command("evaluate", "-", "-m", "RR").out.split()[:4] == done.out.replace("log.jsonl", "stdin").split()[:4]
