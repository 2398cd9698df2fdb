"""``--save`` in every command that scores runs, and the commands of ``rankgauge history``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate
from rankgauge.benchmark.folder import MANIFEST
from rankgauge.benchmark.plan import SHIPPED
from rankgauge.history import History
from tests.conftest import Outcome

Command = Callable[..., Outcome]
LABELS = {f"q{n}": {f"d{n}": 2, "x": 1, "y": 0} for n in range(12)}
GROWN = {**{query: {**grades, "z": 1} for query, grades in LABELS.items() if query != "q3"}, "new": {"x": 1}}
ONE = {query: {"x": 3.0, f"d{query[1:]}": 2.0, "z": 1.0} for query in LABELS}
TWO = {query: {f"d{query[1:]}": 3.0, "z": 2.0, "x": 1.0} for query in LABELS}
APP = """
def retrieve(query, k=5):
    if query == "broken":
        raise OSError("gone")
    return ["a", "b"][:k]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files, outside of any repository."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    for name, content in (("labels", LABELS), ("grown", GROWN), ("one", ONE), ("two", TWO)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def entries() -> list[Any]:
    return History.open(create=False).entries()


def test_evaluate_saves_each_run(command: Command) -> None:
    done = command("evaluate", "labels.json", "one.json", "two.json", "--save", "--set", "history.date=2026-11-02")
    assert "saved one as .rankgauge/history/2026-11-02T00-00-00Z-one-" in done.err
    first, second = entries()
    assert (first.system, second.system, first.collection) == ("one", "two", "labels.json")
    assert (first.log, first.facts["command"]) == (None, "evaluate")
    assert first.facts["coverage"] == pytest.approx(2 / 3)
    assert second.means["RR@10"].value == evaluate(LABELS, TWO, "RR@10")["RR@10"]


def test_a_series_is_a_system_whatever_its_files_are_called(command: Command, folder: Path) -> None:
    """Twelve daily logs of one system, which drops in the middle, are one series."""
    for day in range(1, 13):
        rows = [
            {
                "query": f"question {number}",
                "system": "search",
                "collection": "shop",
                "relevant": ["a"],
                "retrieved": ["a", "b", "c"] if day < 7 or number % 3 == 0 else ["b", "c", "a"],
            }
            for number in range(24)
        ]
        name = f"search-2026-11-{day:02}.jsonl"
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = command("evaluate", name, "-m", "RR", "--save", "--set", f"history.date=2026-11-{day:02}")
        assert done.code == 0, done.err
    assert {(entry.system, entry.collection) for entry in entries()} == {("search", "shop")}
    done = command("history", "check", "--since", "2026-11-01", "-m", "RR")
    assert done.code == 1
    assert done.out.startswith("RR of search on shop: −0.4444 since 2026-11-07 (p < 0.001)")
    named = command("evaluate", name, "-m", "RR", "--save", "--system", "other")
    assert named.code == 0
    assert entries()[-1].system == "other"
    assert command("evaluate", "labels.json", "one.json", "two.json", "--save", "--system", "x").code == 64


def test_series_of_one_entry_are_said(command: Command) -> None:
    command("evaluate", "labels.json", "one.json", "two.json", "--save")
    done = command("history", "check")
    assert done.code == 0
    assert "nothing was tested: 2 series with one entry, or one commit of one day" in done.err


def test_what_is_saved_is_what_is_printed_without_saving(command: Command) -> None:
    arguments = ("evaluate", "labels.json", "one.json", "--format", "json")
    assert command(*arguments).out == command(*arguments, "--save").out


def test_compare_saves_each_run_with_its_ranking(command: Command) -> None:
    command("compare", "labels.json", "one.json", "two.json", "--save", "--save-run")
    assert [(entry.system, entry.log is not None, entry.facts["command"]) for entry in entries()] == [
        ("one", True, "compare"),
        ("two", True, "compare"),
    ]


def test_a_gate_saves_its_run_and_its_verdict(command: Command) -> None:
    gate = ("gate", "labels.json", "one.json", "--save")
    assert command(*gate, "--require", "RR>=0.1").code == 0
    assert command(*gate, "--require", "P@5>=0.9", "--baseline", "two.json", "-m", "RR").code == 1
    assert command(*gate, "--save-run", "--baseline", "history:one").code == 0
    found = [(entry.facts["verdict"], entry.log is not None) for entry in entries()]
    assert found == [("pass", False), ("fail", False), ("pass", True)]


def test_a_live_evaluation_saves_its_latency(command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "my_history_app.py").write_text(APP)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "my_history_app", raising=False)
    rows = [
        {"id": "q1", "query": "fine", "relevant_ids": ["b"]},
        {"id": "q2", "query": "broken", "relevant_ids": ["a"]},
    ]
    (folder / "cases.jsonl").write_text(json.dumps(rows[0]) + "\n")
    (folder / "broken.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    live = ("evaluate", "--save", "--save-run")
    assert command(*live, "cases.jsonl", "my_history_app:retrieve").code == 0
    (entry,) = entries()
    assert entry.cost is not None
    assert entry.cost.calls == 1
    assert entry.cost.p50 == entry.cost.max > 0
    assert entry.log is not None
    failed = command(*live, "broken.jsonl", "my_history_app:retrieve")
    assert failed.code == 1
    assert "not saved: too many queries failed" in failed.err
    assert len(entries()) == 1


@pytest.mark.slow
def test_a_benchmark_saves_each_system_with_its_cost(command: Command) -> None:
    command(
        "benchmark",
        "run",
        "--corpus",
        SHIPPED,
        "--retriever",
        "lexical",
        "--latency",
        "3",
        "--save",
        "--save-run",
        "-o",
        "out",
    )
    (entry,) = entries()
    assert (entry.system, entry.facts["command"], entry.log is not None) == ("lexical", "benchmark run", True)
    assert entry.cost is not None
    assert entry.cost.calls == 3
    assert entry.cost.index_bytes is not None
    assert "--save" not in (Path("out") / MANIFEST).read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--system", "a"], "--system is for a result that is saved"),
        (["--save-run"], "--save-run is for a result that is saved"),
        (["--history", "x"], "--history is for a result that is saved"),
        (["--set", "history.date=2026-11-02"], "--set history.date is for a result that is saved"),
        (["--save", "--set", "history.date=soon"], "expected a time, found 'soon'"),
    ],
)
def test_options_that_contradict_each_other_are_refused(command: Command, options: list[str], message: str) -> None:
    done = command("evaluate", "labels.json", "one.json", *options)
    assert done.code == 64
    assert message in done.err
    assert not Path(".rankgauge").exists()


def test_a_file_that_is_not_a_history_is_refused_before_the_work(command: Command) -> None:
    Path("notes").write_text("my notes" * 200)
    done = command("evaluate", "labels.json", "one.json", "--save", "--history", "notes")
    assert (done.code, done.out) == (2, "")
    assert "notes: a history is a folder of files, and this is a file" in done.err


def test_a_failed_evaluation_saves_nothing(command: Command) -> None:
    assert command("evaluate", "labels.json", "missing.json", "--save").code == 2
    assert not Path(".rankgauge").exists()


@pytest.fixture
def saved(command: Command) -> None:
    save = ("--save", "--save-run", "--set")
    command("evaluate", "labels.json", "one.json", *save, "history.date=2026-11-01")
    command("evaluate", "grown.json", "two.json", *save, "history.date=2026-11-02")


@pytest.mark.usefixtures("saved")
def test_the_listing_shows_the_newest_first(command: Command) -> None:
    lines = command("history", "list").out.splitlines()
    assert lines[0].split()[:3] == ["entry", "saved", "system"]
    assert [line.split()[1] for line in lines[1:3]] == ["2026-11-02", "2026-11-01"]
    assert max(map(len, lines[:3])) <= 80
    assert "1 older entry not shown" in command("history", "list", "-n", "1").out
    assert "2026-11-02" not in command("history", "list", "--system", "one").out
    assert command("history", "list", "--since", "2027-01-01").out == "no entries\n"
    data = json.loads(command("history", "list", "--format", "json").out)
    assert (data["schema"], data["count"]) == ("rankgauge.history/2", 2)
    assert [entry["system"] for entry in data["entries"]] == ["two", "one"]


@pytest.mark.usefixtures("saved")
def test_one_entry_is_shown(command: Command) -> None:
    text = command("history", "show", "2026-11-01").out
    assert "saved     2026-11-01 00:00:00 UTC by rankgauge evaluate\n" in text
    assert "log       saved" in text
    assert "q11" in command("history", "show", "-q").out
    data = json.loads(command("history", "show", "2026-11-01", "-q", "--format", "json").out)
    assert data["entry"]["system"] == "one"
    assert len(data["scores"]["per_query"]) == 12
    assert command("history", "show", "nothing").code == 2


@pytest.mark.usefixtures("saved")
def test_entries_are_results_like_any_others(command: Command) -> None:
    older, newer = (entry.path for entry in entries())
    scores = json.loads(command("compare", older, newer, "--format", "json").out)
    assert [run["name"] for run in scores["runs"]] == ["one 2026-11-01", "two 2026-11-02"]
    assert scores["comparison"]["differences"][0]["n"] == 11
    logs = json.loads(command("compare", "labels.json", "history:one", "history:two", "--format", "json").out)
    assert logs["comparison"]["differences"][0]["n"] == 12


def test_without_a_history_every_command_says_so(command: Command) -> None:
    for arguments in (["list"], ["show"], ["trend"], ["check"]):
        done = command("history", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: no history at .rankgauge/history\nhint: ")


def test_a_page_of_the_history_is_written(command: Command, folder: Path) -> None:
    command("evaluate", "labels.json", "one.json", "two.json", "--save", "--set", "history.date=2026-11-02")
    done = command("history", "trend", "--html", "page.html")
    assert (done.code, done.err) == (0, "wrote page.html\n")
    assert "Results over time" in (folder / "page.html").read_text()
    named = command("history", "trend", "--system", "one", "--html", "one.html")
    assert named.code == 0
    assert "Z-two-" not in (folder / "one.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ((), 2, "no history at .rankgauge/history"),
        (("-m", "AP", "--branch", "main"), 64, "--measure does not change the page of --html"),
        (("--last", "3"), 64, "--last does not change the page of --html"),
        (("--history", "other"), 2, "other"),
        (("--history", "labels.json"), 2, "labels.json: a history is a folder of files"),
    ],
)
def test_a_page_of_the_history_needs_a_history(
    command: Command, folder: Path, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    done = command("history", "trend", "--html", "report.html", *arguments)
    assert done.code == code
    assert expected in done.err
    assert not (folder / "report.html").exists()
    assert not (folder / "other").exists()


def test_a_page_is_written_although_a_file_is_damaged(command: Command, folder: Path) -> None:
    command("evaluate", "labels.json", "one.json", "--save", "--history", "own")
    (folder / "own" / "x.jsonl").write_text("{")
    done = command("history", "trend", "--history", "own", "--html", "page.html")
    assert done.code == 0
    assert "left out: own/x.jsonl:1: is no entry of a history" in done.err
