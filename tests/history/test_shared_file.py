"""Several processes write at once, and are killed: nothing that was committed is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rankgauge.history import History

WRITE = """
import sys
from rankgauge import evaluate
from rankgauge.history import GitState, History
labels, run = {"q1": {"a": 1}, "q2": {"b": 2}}, {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
scores = evaluate(labels, run, "RR")
print("ready", flush=True)
sys.stdin.readline()
with History.open(sys.argv[1]) as history:
    for _ in range(int(sys.argv[2])):
        print(history.save(scores, labels, git=GitState()).name, flush=True)
"""


def writer(path: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WRITE, str(path), str(count)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def start(*processes: subprocess.Popen[str]) -> None:
    """Let processes begin together."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


@pytest.mark.slow
def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    writers = [writer(path, 25), writer(path, 25)]
    start(*writers)
    ended = [process.communicate(timeout=120) for process in writers]
    assert [process.returncode for process in writers] == [0, 0], [err for _, err in ended]
    names = [name for out, _ in ended for name in out.split()]
    with History.open(path, create=False) as history:
        assert len(names) == len(set(names)) == 50
        assert {entry.name for entry in history.entries()} == set(names)
        assert history.entry(names[-1]).scores["RR"] == 0.75


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_killed_writer_loses_nothing_that_it_committed(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    reported: list[str] = []
    for delay in (0.05, 0.1, 0.2):
        killed, other = writer(path, 100_000), writer(path, 5)
        start(killed, other)
        time.sleep(delay)
        os.kill(killed.pid, signal.SIGKILL)
        out, _ = killed.communicate(timeout=60)
        reported += out.split("\n")[:-1]  # what was said to be saved
        out, err = other.communicate(timeout=60)
        assert other.returncode == 0, err
        reported += out.split()
    with History.open(path, create=False) as history:
        names = {entry.name for entry in history.entries()}
        assert set(reported) <= names
        assert len(names) <= len(reported) + 3  # the last of each killed writer may be saved but not yet reported
        assert all(history.entry(name).scores["RR"] == 0.75 for name in names)
        assert history.database.query("PRAGMA integrity_check") == [(b"ok",)]
        assert history.database.query("PRAGMA journal_mode") == [(b"wal",)]
