"""``rankgauge history trend``, and gates over time on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Outcome

Command = Callable[..., Outcome]
LABELS = {f"q{number:02}": {"a": 1} for number in range(24)}


def ranking(seed: int, drop: float = 0.0) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    run = {}
    for query in LABELS:
        docs = ["x", "y", "z", "w", "v"]
        docs[int(rng.random() < 0.3) + 3 * int(rng.random() < drop)] = "a"
        run[query] = {doc: 9.0 - place for place, doc in enumerate(docs)}
    return run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Path:
    """A repository of one branch with ten entries, the last four of them worse."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    monkeypatch.setattr("rankgauge.history.folder.git_state", lambda: _main())
    (tmp_path / "labels.json").write_text(json.dumps(LABELS))
    for day in range(1, 11):
        (tmp_path / "run.json").write_text(json.dumps(ranking(day, 0.0 if day < 7 else 0.7)))
        done = command("evaluate", "labels.json", "run.json", "--save", "--set", f"history.date=2026-11-{day:02}")
        assert done.code == 0, done.err
    return tmp_path


def _main() -> object:
    from rankgauge.history import GitState

    return GitState(None, "main", None)


def test_a_trend_fits_80_columns_and_marks_changes(command: Command) -> None:
    done = command("history", "trend", "-m", "RR@10", "--branch", "main")
    assert done.code == 0, done.err
    lines = done.out.split("\n")
    assert lines[0] == "RR@10 of run on labels.json, branch main"
    assert sum("●" in line for line in lines) == 10
    mark = next(index for index, line in enumerate(lines) if line.startswith("─ change"))
    assert lines[mark + 1].startswith("2026-11-07")
    assert all(len(line) <= 80 for line in lines[:mark])
    assert "1 change point: largest paired t over splits" in done.out


def test_a_trend_as_json(command: Command) -> None:
    data = json.loads(command("history", "trend", "-n", "0", "--format", "json").out)
    assert data["schema"] == "rankgauge.trend/3"
    assert data["measure"] == "nDCG@10"
    assert len(data["points"]) == len(data["series"][0]["values"]) == 10
    assert data["series"][0]["changes"][0]["entry"].startswith("2026-11-07")
    assert len(json.loads(command("history", "trend", "-n", "3", "--format", "json").out)["points"]) == 3


def test_a_gate_against_the_history_of_a_branch(command: Command, folder: Path) -> None:
    (folder / "now.json").write_text(json.dumps(ranking(50, 0.7)))
    gate = ("gate", "labels.json", "now.json", "--baseline", "history:main", "-m", "RR@10")
    assert command(*gate).code == 0  # the newest entry is as bad
    for path in (folder / ".rankgauge" / "history").glob("2026-11-0[7-9]*"):
        path.unlink()
    next((folder / ".rankgauge" / "history").glob("2026-11-10*")).unlink()
    done = command(*gate)
    assert done.code == 1
    assert "now.json is worse than run 2026-11-06 on RR@10" in done.out
    (folder / "config.yaml").write_text("gate:\n  baseline: history:main\n  measures: [RR@10]\n")
    assert command("gate", "labels.json", "now.json", "--config", "config.yaml").code == 1
    assert command("gate", "labels.json", "now.json", "--baseline", "history:").code == 64
    missing = command("gate", "labels.json", "now.json", "--baseline", "history:other")
    assert missing.code == 2
    assert "no entry of a branch or a system 'other'" in missing.err


def test_a_gate_that_neither_saves_nor_reads_a_history_refuses_one(command: Command) -> None:
    done = command("gate", "labels.json", "run.json", "--history", "h", "--baseline", "run.json")
    assert done.code == 64
    assert "--history is for a result that is saved" in done.err


def test_a_confidence_that_no_number_of_draws_can_reach_is_refused(command: Command) -> None:
    done = command("history", "trend", "--confidence", "0.999999")
    assert done.code == 64
    assert "needs more than 1,000,000 draws" in done.err
    assert "hint: lower the confidence" in done.err
