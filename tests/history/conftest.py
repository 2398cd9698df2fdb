from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Conventions, Qrels, Run, evaluate
from rankgauge.history import EntrySummary, GitState, History
from rankgauge.history.folder import compressed_log

LABELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}, "q3": {"e": 1}}
GROWN = {"q1": {"a": 1, "b": 1}, "q2": {"c": 2, "d": 1, "x": 1}, "q4": {"e": 1}}
FIRST = {query: {"a": 3.0, "c": 2.0, "b": 1.0, "e": 0.5} for query in ("q1", "q2", "q3", "q4")}
SECOND = {query: {"e": 3.0, "x": 2.5, "d": 2.0, "a": 1.0} for query in ("q1", "q2", "q3", "q4")}
MEASURES = ["nDCG@10", "RR", "ERR@5"]
DAY = datetime(2026, 11, 2, 10, 11, 12, tzinfo=UTC)
COMMIT = "abc1234" + "0" * 33
Save = Callable[..., EntrySummary]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in a folder of its own, in which no history is set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History.open(tmp_path / "history")


@pytest.fixture
def save(history: History) -> Save:
    """Save a run; its labels, whether its log is kept and its facts can be chosen."""

    def call(
        labels: Any = LABELS, run: Any = FIRST, *, keep: bool = False, into: History = history, **options: Any
    ) -> EntrySummary:
        qrels = labels if isinstance(labels, Qrels) else Qrels.from_dict(labels, name="workshop")
        ranking = run if isinstance(run, Run) else Run.from_dict(run, name="system")
        conventions = options.pop("conventions", Conventions())
        scores = evaluate(qrels, ranking, options.pop("measures", MEASURES), conventions=conventions)
        options = {"date": DAY, "git": GitState(COMMIT, "main", False), **options}
        log = partial(compressed_log, ranking, qrels, {}) if keep else None
        return into.save(scores, log=log, **options)

    return call


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    """Run git in the folder of the test, with an identity of its own."""

    def call(*arguments: str) -> str:
        identity = {f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(["git", *arguments], cwd=tmp_path, env=environment, capture_output=True, check=True)
        return done.stdout.decode().strip()

    return call
