"""No code runs but that of the installed packages, and of the modules that a user names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import RankgaugeError, Reading, evaluate_runs
from rankgauge.io.pipeline import parallel

Command = Callable[..., Any]
TRAP = "open('ran', 'w').close()\nraise SystemExit('code of the working folder')\n"


@pytest.fixture
def in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with judgments and two runs, which are read by two processes however small they are."""
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    for name in ("one", "two"):
        (tmp_path / name).write_text("1 Q0 a 1 1 x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parallel, "MIN_BYTES_FOR_PROCESSES", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    return tmp_path


@pytest.mark.parametrize("module", ["numpy", "json", "rankgauge"])
def test_a_module_in_the_working_folder_is_not_imported_by_the_processes_that_read_runs(
    in_processes: Path, module: str
) -> None:
    (in_processes / f"{module}.py").write_text(TRAP)
    evaluation = evaluate_runs("qrels", ["one", "two"], "RR")
    assert [scores["RR"] for scores in evaluation.scores] == [1, 1]
    assert not (in_processes / "ran").exists()


@pytest.mark.parametrize(("code", "reason"), [("os.kill(os.getpid(), 9)", "ended by SIGKILL"), ("os._exit(3)", "3")])
def test_a_process_that_dies_is_an_error_that_names_its_run(
    in_processes: Path, monkeypatch: pytest.MonkeyPatch, code: str, reason: str
) -> None:
    monkeypatch.setattr(parallel, "WORKER_CODE", f"import os; {code}")
    with pytest.raises(RankgaugeError, match=f"one: the process that read it .*{reason}") as error:
        evaluate_runs("qrels", ["one", "two"], "RR")
    assert "parallel_processing: false" in (error.value.hint or "")


def test_an_error_in_one_process_is_that_of_its_run(in_processes: Path) -> None:
    (in_processes / "two").write_text("1 Q0 a 1 x x\n")
    with pytest.raises(RankgaugeError, match="two:1: expected a number as score"):
        evaluate_runs("qrels", ["one", "two"], "RR")


def test_an_error_that_is_a_bug_is_raised_as_it_is(in_processes: Path) -> None:
    with pytest.raises(AttributeError):
        evaluate_runs("qrels", ["one", "two"], "RR", reading=Reading(limits=None))  # type: ignore[arg-type]  # a bug


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs signals of threads")
def test_no_process_outlives_an_interrupt(in_processes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    original = subprocess.Popen.communicate

    def interrupted(process: subprocess.Popen[bytes], *more: Any) -> Any:
        started.append(process)
        if process is started[0]:
            os.kill(os.getpid(), signal.SIGINT)
        return original(process, *more)

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    monkeypatch.setattr(parallel, "WORKER_CODE", "import time; time.sleep(60)")
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            evaluate_runs("qrels", ["one", "two"], "RR")
    finally:
        signal.signal(signal.SIGINT, previous)
    deadline = time.monotonic() + 30  # a thread that was just starting is not waited for
    while any(process.returncode is None for process in started) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert {process.returncode for process in started} == {-signal.SIGKILL}


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("x = 1\ny = undefined", "mine.py:2: NameError: name 'undefined' is not defined"),
        ("def find(:", "mine.py:1: SyntaxError: invalid syntax"),
        ("import sys\nsys.exit('gone')", "mine.py:2: SystemExit: gone"),
        ("find = 3", "a retriever must be a function"),
    ],
)
@pytest.mark.parametrize("name", ["./mine.py:find", "mine:find"])
def test_an_error_in_the_users_module_is_named_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command, source: str, problem: str, name: str
) -> None:
    (tmp_path / "mine.py").write_text(source)
    (tmp_path / "cases.jsonl").write_text('{"query": "one", "relevant_ids": ["d1"]}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    outcome = command("evaluate", "--retriever", name, "--cases", "cases.jsonl")
    sys.modules.pop("mine", None)
    assert problem in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.code in (2, 64)
