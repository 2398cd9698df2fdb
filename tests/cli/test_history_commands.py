"""``--save`` in every command that scores runs, and the commands of ``rankgauge history``."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate
from rankgauge.benchmark.folder import MANIFEST
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
    with History.open(create=False) as history:
        return history.entries()


def test_evaluate_saves_each_run(command: Command) -> None:
    done = command(
        "evaluate", "labels.json", "one.json", "two.json", "--save", "--tag", "a", "--set", "history.date=2026-11-02"
    )
    assert "saved one.json as 2026-11-02 in .rankgauge/history.db" in done.err
    first, second = entries()
    assert (first.name, second.name) == ("2026-11-02", "2026-11-02-2")
    assert (first.system, second.system, first.collection) == ("one.json", "two.json", "labels.json")
    assert (first.tags, first.has_run, first.facts["command"]) == (("a",), False, "evaluate")
    assert first.facts["run_sha256"] is not None
    assert first.facts["coverage"] == pytest.approx(2 / 3)
    assert second.means["RR@10"].value == evaluate(LABELS, TWO, "RR@10")["RR@10"]


def test_what_is_saved_is_what_is_printed_without_saving(command: Command) -> None:
    arguments = ("evaluate", "labels.json", "one.json", "--format", "json")
    assert command(*arguments).out == command(*arguments, "--save").out


def test_compare_saves_each_run_with_its_ranking(command: Command) -> None:
    command("compare", "labels.json", "one.json", "two.json", "--save", "--save-run")
    assert [(entry.system, entry.has_run, entry.facts["command"]) for entry in entries()] == [
        ("one.json", True, "compare"),
        ("two.json", True, "compare"),
    ]


def test_a_gate_saves_its_run_and_its_verdict(command: Command) -> None:
    gate = ("gate", "labels.json", "one.json", "--save")
    assert command(*gate, "--require", "RR>=0.1").code == 0
    assert command(*gate, "--require", "P@5>=0.9", "--baseline", "two.json", "-m", "RR").code == 1
    command(*gate, "--write-baseline", "b.json", "--save-run")
    found = [(entry.facts["verdict"], entry.has_run) for entry in entries()]
    assert found == [("pass", False), ("fail", False), (None, True)]
    assert "rankings" in json.loads(Path("b.json").read_text())
    command("gate", "labels.json", "one.json", "--write-baseline", "b.json")
    assert "rankings" not in json.loads(Path("b.json").read_text())


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
    assert entry.has_run
    failed = command(*live, "broken.jsonl", "my_history_app:retrieve")
    assert failed.code == 1
    assert "not saved: too many queries failed" in failed.err
    assert len(entries()) == 1


@pytest.mark.slow
def test_a_benchmark_saves_each_system_with_its_cost(command: Command) -> None:
    command("benchmark", "run", "--retriever", "lexical", "--latency", "3", "--save", "--save-run", "-o", "out")
    (entry,) = entries()
    assert (entry.system, entry.facts["command"], entry.has_run) == ("lexical", "benchmark run", True)
    assert entry.cost is not None
    assert entry.cost.calls == 3
    assert entry.cost.index_bytes is not None
    assert "--save" not in (Path("out") / MANIFEST).read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tag", "a"], "--tag is for a result that is saved"),
        (["--save-run"], "--save-run is for a result that is saved"),
        (["--history", "x.db"], "--history is for a result that is saved"),
        (["--set", "history.date=2026-11-02"], "--set history.date is for a result that is saved"),
        (["--save", "--set", "history.date=soon"], "expected a time, found 'soon'"),
        (["--save", "--tag", "two words"], "'two words' cannot be a tag"),
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
    assert "cannot use notes as a history" in done.err


def test_a_failed_evaluation_saves_nothing(command: Command) -> None:
    assert command("evaluate", "labels.json", "missing.json", "--save").code == 2
    assert not Path(".rankgauge").exists()


@pytest.fixture
def saved(command: Command) -> None:
    command(
        "evaluate",
        "labels.json",
        "one.json",
        "--save",
        "--save-run",
        "--tag",
        "base",
        "--set",
        "history.date=2026-11-01",
    )
    command("evaluate", "grown.json", "two.json", "--save", "--save-run", "--set", "history.date=2026-11-02")


@pytest.mark.usefixtures("saved")
def test_the_listing_shows_the_newest_first_and_fits(command: Command) -> None:
    lines = command("history", "list").out.splitlines()
    assert lines[0].split() == ["entry", "system", "labels", "nDCG@10", "RR@10", "R@10", "tags"]
    assert [line.split()[0] for line in lines[1:]] == ["2026-11-02", "2026-11-01"]
    assert max(map(len, lines)) <= 80
    assert "1 older entry not shown" in command("history", "list", "-n", "1").out
    assert "2026-11-02" not in command("history", "list", "--tag", "base").out
    assert command("history", "list", "--since", "2027-01-01").out == "no entries\n"
    data = json.loads(command("history", "list", "--format", "json").out)
    assert (data["schema"], data["count"]) == ("rankgauge.history/1", 2)
    assert [entry["name"] for entry in data["entries"]] == ["2026-11-02", "2026-11-01"]


@pytest.mark.usefixtures("saved")
def test_one_entry_is_shown(command: Command) -> None:
    text = command("history", "show", "base").out
    assert "saved     2026-11-01 00:00:00 UTC by rankgauge evaluate\n" in text
    assert "run       stored" in text
    assert "q11" in command("history", "show", "-q").out
    data = json.loads(command("history", "show", "base", "-q", "--format", "json").out)
    assert data["entry"]["name"] == "2026-11-01"
    assert len(data["scores"]["per_query"]) == 12
    assert command("history", "show", "nothing").code == 2


@pytest.mark.usefixtures("saved")
def test_two_entries_are_compared(command: Command) -> None:
    text = command("history", "compare", "base").out
    assert "labels: 1 query added; 1 query removed; 11 judgments added in 11 queries" in text
    assert "each run was scored with both versions of the labels" in text
    (change,) = json.loads(command("history", "compare", "base", "latest", "-m", "RR@10", "--format", "json").out)[
        "change"
    ]["parts"]
    assert change["system"] + change["labels"] + change["queries"] == change["total"]
    assert command("history", "compare", "base", "latest", "-m", "AP").code == 64


@pytest.mark.usefixtures("saved")
def test_entries_are_tagged_exported_imported_and_pruned(command: Command) -> None:
    assert command("history", "tag", "latest", "x", "y").err == "2026-11-02: x, y\n"
    assert command("history", "tag", "latest", "x", "--remove").err == "2026-11-02: y\n"
    assert command("history", "export").err == "exported 2 entries to history\n"
    assert sorted(path.name for path in Path("history").glob("*.jsonl")) == ["2026-11-01.jsonl", "2026-11-02.jsonl"]
    assert command("history", "import", "history", "--history", "copy.db").err == "imported 2 entries\n"
    again = command("history", "import", "history", "--history", "copy.db")
    assert again.err == "imported 0 entries, 2 known already\n"
    dry = command("history", "prune", "--keep", "0", "--tagged", "--dry-run")
    assert (dry.out, dry.err) == ("2026-11-01\n2026-11-02\n", "2 entries would be deleted\n")
    assert command("history", "prune", "--before", "2027-01-01", "--tagged", "--runs-only").err == "2 runs deleted\n"
    assert command("history", "prune", "--keep", "0").err == "0 entries deleted\n"
    assert command("history", "prune", "base").err == "1 entry deleted\n"
    assert [entry.name for entry in entries()] == ["2026-11-02"]
    assert command("history", "prune").code == 64


def test_without_a_history_every_command_says_so(command: Command) -> None:
    for arguments in (["list"], ["show"], ["compare", "a"], ["tag", "a", "b"], ["export"], ["prune", "a"]):
        done = command("history", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: no history at .rankgauge/history.db\nhint: ")


def test_a_page_of_the_history_is_written(command: Command, folder: Path) -> None:
    command("evaluate", "labels.json", "one.json", "two.json", "--save", "--set", "history.date=2026-11-02")
    done = command("history", "trend", "--html", "page.html")
    assert (done.code, done.err) == (0, "wrote page.html\n")
    assert "Results over time" in (folder / "page.html").read_text()
    named = command("history", "trend", "--system", "one.json", "--html", "one.html")
    assert named.code == 0
    assert "two.json" not in (folder / "one.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ((), 2, "no history at .rankgauge/history.db"),
        (("-m", "AP", "--branch", "main"), 64, "--measure does not change the page of --html"),
        (("--last", "3"), 64, "--last does not change the page of --html"),
        (("--history", "other.db"), 2, "other.db"),
        (("--history", "labels.json"), 2, "labels.json"),
        (("--history", "foreign.db"), 2, "foreign.db"),
    ],
)
def test_a_page_of_the_history_needs_a_history(
    command: Command, folder: Path, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    with closing(sqlite3.connect("foreign.db")) as foreign:
        foreign.execute("CREATE TABLE notes (text)")
    before = (folder / "foreign.db").read_bytes()
    done = command("history", "trend", "--html", "report.html", *arguments)
    assert done.code == code
    assert expected in done.err
    assert not (folder / "report.html").exists()
    assert not (folder / "other.db").exists()
    assert (folder / "foreign.db").read_bytes() == before


def test_the_page_never_replaces_the_history(command: Command, folder: Path) -> None:
    command("evaluate", "labels.json", "one.json", "--save", "--history", "own.db")
    done = command("history", "trend", "--history", "own.db", "--html", "own.db")
    assert done.code == 2
    with History.open("own.db", create=False) as history:
        assert history.count() == 1
