"""Where a history is, a named folder or ``.rankgauge/history`` of the project; and the state of its code."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(".rankgauge", "history")
VARIABLE = "RANKGAUGE_HISTORY"


def history_folder(given: str | Path | None = None) -> Path:
    """The folder that is named, here or in the environment, or that of the project.

    The project is the nearest folder, from the working folder upward, that has a history or is a git repository; else
    the working folder.
    """
    if given is not None or os.environ.get(VARIABLE):
        return Path(given if given is not None else os.environ[VARIABLE])
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FOLDER).exists() or (folder / ".git").exists():
            return (folder if folder != here else Path()) / FOLDER
    return FOLDER


# The git commit, branch and state of the working folder: what ``git status`` says,
# without any network.

GIT_SECONDS = 20.0
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# A monitor of files is a program that the repository names: it is not started.
STATUS = ("git", "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "--untracked-files=no")


@dataclass(frozen=True)
class GitState:
    """A commit, its branch, and whether tracked files differ from it; nothing outside of a repository."""

    commit: str | None = None
    branch: str | None = None  # None if no branch is checked out
    dirty: bool | None = None


def git_state(folder: str | Path = ".") -> GitState:
    """The state of a folder; empty if git is not installed, fails, or the folder is in no repository."""
    import subprocess

    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            STATUS, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=GIT_SECONDS,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return GitState()
    return parse_status(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else GitState()


def parse_status(text: str) -> GitState:
    """What ``git status --porcelain=v2 --branch`` says."""
    headers, changes = {}, 0
    for line in text.splitlines():
        if line.startswith("# "):
            key, _, value = line[2:].partition(" ")
            headers[key] = value
        else:
            changes += 1
    commit, branch = headers.get("branch.oid", ""), headers.get("branch.head", "")
    return GitState(
        commit if COMMIT.fullmatch(commit) else None,
        None if branch in ("", "(detached)") else branch,
        changes > 0,
    )
