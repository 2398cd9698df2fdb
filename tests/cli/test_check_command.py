"""``rankgauge history check`` and ``rankgauge history list --format openmetrics``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rankgauge import evaluate
from rankgauge.history import GitState, History
from rankgauge.history.entries import parse_time
from tests.conftest import Outcome

Command = Callable[..., Outcome]
LABELS = {f"query{number:02}": {"document": 1} for number in range(24)}
CHECK = ("history", "check", "--since", "2026-11-04")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A history of ten entries, the last four of them worse."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    history = History.open()
    for day in range(1, 11):
        rng = np.random.default_rng(day)
        run = {}
        for query in LABELS:
            place = int(rng.random() < 0.3) + 3 * int(rng.random() < (0.8 if day > 6 else 0))
            run[query] = {name: 9.0 - rank for rank, name in enumerate([*"xyzwv"])}
            run[query]["document"] = 9.5 - place
        scores = evaluate(LABELS, run, ["nDCG@10", "RR@10"])
        history.save(scores, date=parse_time(f"2026-11-{day:02}"), git=GitState("ab" * 20, "main", True))
    return tmp_path


def test_a_check_reports_changes(command: Command) -> None:
    done = command(*CHECK, "-m", "RR@10")
    assert (done.code, done.err) == (1, "")
    first, last, *made = done.out.splitlines()
    assert made == ["", "a series is a system on a collection on a branch"]
    assert first.startswith("RR@10 of run on qrels, branch main: −0.")
    assert "since 2026-11-07, commit abababababab (p " in first
    assert last == "1 change; 1 series checked, alpha 0.01 each"
    late = command("history", "check", "--since", "2026-11-09")
    assert (late.code, late.out) == (0, "\n".join(["no change; 1 series checked, alpha 0.01 each", *made, ""]))
    none = command("history", "check", "--since", "2030-01-01")
    assert (none.code, none.err[:8]) == (0, "warning:")
    assert command(*CHECK, "-m", "P@3").code == 64
    assert command(*CHECK, "--history", "other").code == 2


def test_a_check_as_json_has_no_ids_of_queries(command: Command) -> None:
    done = command(*CHECK, "--format", "json")
    data = json.loads(done.out)
    assert (data["schema"], len(data["changes"])) == ("rankgauge.alert/2", 1)
    assert data["changes"][0]["entry"].startswith("2026-11-07T00-00-00Z-run-")
    assert "query" not in done.out
    assert "document" not in done.out


def test_openmetrics_is_a_format_of_the_list(command: Command) -> None:
    done = command("history", "list", "--format", "openmetrics")
    assert done.code == 0
    assert 'rankgauge_score{collection="qrels",system="run",branch="main",measure="nDCG@10"} 0.' in done.out
    assert done.out.endswith("\n# EOF\n")
