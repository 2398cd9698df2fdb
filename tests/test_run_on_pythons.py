"""Interpreters to test on are found wherever people keep them, and what ran on each is said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from scripts import run_on_pythons
from scripts.run_on_pythons import Interpreter, candidates, inspect_interpreter, newest_of_each_minor

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the interpreters here are shell scripts")


def program(path: Path, answer: str, code: int = 0) -> Path:
    """A program that prints an answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {answer}\nexit {code}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Python: its PATH is bin, its pyenv is pyenv."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setattr(run_on_pythons, "FOLDER", tmp_path / "environments")
    return tmp_path


def test_interpreters_are_found_on_the_path_under_pyenv_and_with_uv(machine: Path) -> None:
    on_path = program(machine / "bin/python3.12", "3 12 0 /a")
    under_pyenv = program(machine / "pyenv/versions/3.13.0/bin/python3.13", "3 13 0 /b")
    for other in ("python3", "python3.10", "python3.12-config"):
        program(machine / "bin" / other, "")
    uv = machine / "bin/uv"
    uv.write_text('#!/bin/sh\nfor last; do :; done\n[ "$last" = 3.14 ] && echo /uv/python3.14\n')
    uv.chmod(0o755)
    assert list(candidates()) == [on_path, under_pyenv, Path("/uv/python3.14")]


def test_an_interpreter_is_asked_for_its_version_whatever_its_name(machine: Path) -> None:
    assert inspect_interpreter(program(machine / "python3.12", "3 13 1 /usr/bin/python3.13")) == Interpreter(
        (3, 13, 1), Path("/usr/bin/python3.13")
    )


@pytest.mark.parametrize(("answer", "code"), [("3 10 9 /old", 0), ("3 12 1 /broken", 127), ("", 0)])
def test_an_interpreter_that_is_old_or_does_not_work_is_left_out(machine: Path, answer: str, code: int) -> None:
    assert inspect_interpreter(program(machine / "python3.12", answer, code)) is None
    assert inspect_interpreter(machine / "absent") is None


def test_this_python_is_known_with_the_one_that_its_environment_was_made_from() -> None:
    found = inspect_interpreter(Path(sys.executable))
    assert found is not None
    assert found.version == sys.version_info[:3]
    assert not found.path.is_relative_to(sys.prefix) or sys.prefix == sys.base_prefix


def test_of_each_minor_version_the_newest_release_is_used_and_the_oldest_runs_first() -> None:
    found = [Interpreter((3, minor, patch), Path(f"/{minor}.{patch}")) for minor, patch in ((13, 0), (12, 9), (12, 10))]
    assert [str(interpreter.path) for interpreter in newest_of_each_minor(found)] == ["/12.10", "/13.0"]


def test_every_result_is_said_and_one_failure_fails_the_whole(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for minor in (12, 13):
        program(machine / f"bin/python3.{minor}", f"3 {minor} 1 /python3.{minor}")
    results = {"3.12": "failed", "3.13": "passed"}
    monkeypatch.setattr(run_on_pythons, "run_tests", lambda interpreter, workers: results[interpreter.minor])
    monkeypatch.setattr(sys, "argv", ["run_on_pythons"])
    assert run_on_pythons.main() == 1
    out = capsys.readouterr().out
    assert "fast tests on:\n  Python 3.12.1 (/python3.12)\n  Python 3.13.1 (/python3.13)\n" in out
    assert out.endswith("fast tests:\n  Python 3.12.1: failed (0 s)\n  Python 3.13.1: passed (0 s)\n")
    results["3.12"] = "passed"
    assert run_on_pythons.main() == 0


def test_the_newest_is_another_than_the_python_of_this_process(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = sys.version_info.minor
    monkeypatch.setattr(sys, "argv", ["run_on_pythons", "--newest"])
    program(machine / f"bin/python3.{own}", f"3 {own} 99 /own")
    assert run_on_pythons.main() == 0
    assert capsys.readouterr().out == "no other CPython from 3.11 up was found\n"
    for minor in (own + 1, own + 2):
        program(machine / f"bin/python3.{minor}", f"3 {minor} 0 /python3.{minor}")
    seen: list[Interpreter] = []

    def run_tests(interpreter: Interpreter, workers: str) -> str:
        seen.append(interpreter)
        return "passed"

    monkeypatch.setattr(run_on_pythons, "run_tests", run_tests)
    assert run_on_pythons.main() == 0
    assert [interpreter.version for interpreter in seen] == [(3, own + 2, 0)]


def test_an_environment_is_installed_once_for_an_interpreter_and_its_requirements(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = machine / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("first")
    monkeypatch.setattr(run_on_pythons, "ROOT", root)
    commands = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        commands.append(" ".join(command[1:4]))
        if command[2] == "venv":
            program(Path(command[-1]) / "bin/python", "")
        return subprocess.CompletedProcess([], returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    interpreter = Interpreter((3, 12, 1), Path("/python3.12"))
    once = ["-m venv --clear", "-m pip install"]
    for _ in range(2):
        assert run_on_pythons.environment(interpreter) == machine / "environments/3.12/bin/python"
    assert commands == once
    (root / "pyproject.toml").write_text("second")
    run_on_pythons.environment(interpreter)
    assert commands == 2 * once
    run_on_pythons.environment(Interpreter((3, 12, 2), Path("/python3.12")))
    assert commands == 3 * once


def test_an_installation_that_fails_is_the_result(machine: Path) -> None:
    interpreter = Interpreter((3, 12, 1), program(machine / "python3.12", "", code=1))
    assert run_on_pythons.run_tests(interpreter, "1") == "the installation failed"
