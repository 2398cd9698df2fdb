from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rankgauge.history import GitState
from rankgauge.history.location import git_state, parse_status

Git = Callable[..., str]


def test_commit_branch_and_changes_are_those_of_git(tmp_path: Path, git: Git) -> None:
    git("init", "-q", "-b", "work")
    assert git_state(tmp_path) == GitState(None, "work", dirty=False)  # no commit yet
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-q", "-m", "first")
    commit = git("rev-parse", "HEAD")
    assert git_state(tmp_path) == GitState(commit, "work", dirty=False)
    (tmp_path / "untracked").write_text("1")
    assert git_state(tmp_path).dirty is False
    (tmp_path / "file").write_text("2")
    assert git_state(tmp_path) == GitState(commit, "work", dirty=True)
    git("checkout", "-q", "--detach")
    assert git_state(tmp_path) == GitState(commit, None, dirty=True)


def test_without_a_repository_or_without_git_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert git_state(tmp_path) == GitState()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(tmp_path) == GitState()


def test_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **options: float) -> None:
        raise subprocess.TimeoutExpired("git", options["timeout"])

    monkeypatch.setattr(subprocess, "run", hang)
    assert git_state(tmp_path) == GitState()


def test_what_git_says_is_read() -> None:
    text = "# branch.oid " + "a" * 40 + "\n# branch.head feature/x\n1 .M N... 100644 100644 100644 f f file\n"
    assert parse_status(text) == GitState("a" * 40, "feature/x", dirty=True)
