"""How a command ends, whatever ends it: a message, an exit code, and nothing left behind."""

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

from rankgauge.cli import process
from rankgauge.io.owned_files import TEMPORARY_SUFFIX

Command = Callable[..., Any]
PROGRAM = [sys.executable, "-m", "rankgauge"]
RUN = b"1 Q0 a 1 1 x\n"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs the signals and descriptors of POSIX")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with judgments and a run."""
    (tmp_path / "qrels").write_bytes(b"1 0 a 1\n")
    (tmp_path / "run").write_bytes(RUN)
    return tmp_path


def in_shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    line = line.replace("rankgauge", f"'{sys.executable}' -m rankgauge")
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)


FULL_OUTPUT = (
    "error: standard output: cannot write: No space left on device\n"
    "hint: free space on this disk, or name an output on another one, and run the command again\n"
)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("rankgauge evaluate qrels run >&-", 2, "error: standard output: cannot write: Bad file descriptor\n"),
        ("rankgauge --help >&-", 2, "error: standard output: cannot write: Bad file descriptor\n"),
        ("rankgauge --help >/dev/full", 71, FULL_OUTPUT),
        ("rankgauge evaluate qrels run 2>&- | grep -c nDCG", 0, ""),
        ("rankgauge evaluate qrels missing 2>&-", 2, ""),
        ("rankgauge evaluate - run <&-", 2, "error: -: cannot read: Bad file descriptor\n"),
        ("rankgauge convert run out.csv <&- >&- 2>&-", 0, ""),
    ],
)
def test_a_closed_stream_is_an_error_if_it_is_needed(files: Path, line: str, code: int, message: str) -> None:
    done = in_shell(files, line)
    assert (done.returncode, done.stderr) == (code, message)
    if "convert" in line:
        assert (files / "out.csv").read_bytes() == b"query_id,doc_id,rank,tag,score\n1,a,1,x,1\n"


INTERRUPTED_IMPORT = """
import os, signal, sys
from rankgauge.cli.main import main

class Interrupter:
    left = int(sys.argv.pop(1))

    def find_spec(self, name, path=None, target=None):
        Interrupter.left -= 1
        if Interrupter.left == 0:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
main()
"""


@pytest.mark.parametrize("count", [1, 3, 12, 40, 90])
def test_an_interrupt_at_any_import_ends_without_a_traceback(files: Path, count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT, str(count), "evaluate", "qrels", "run"],
        cwd=files, capture_output=True, text=True, check=False, preexec_fn=heed_signals,
    )  # fmt: skip
    assert done.returncode == 130
    assert done.stderr in ("", "interrupted\n")


def heed_signals() -> None:
    """Undo what a shell does for a process in the background, perhaps for these tests: ignore signals."""
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


def waiting(folder: Path, target: str = "out.csv") -> subprocess.Popen[bytes]:
    """A conversion that waits for its input, with its temporary file open."""
    process = subprocess.Popen(
        [*PROGRAM, "convert", "-", target, "--kind", "run"],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals,
    )  # fmt: skip
    while process.poll() is None and not any(name.startswith(f".{target}.") for name in temporaries(folder)):
        time.sleep(0.01)
    return process


def temporaries(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(TEMPORARY_SUFFIX)]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_a_command_leaves_no_temporary_file(files: Path, name: str) -> None:
    (files / "out.csv").write_bytes(b"old")
    process = waiting(files)
    process.send_signal(getattr(signal, name))
    _, message = process.communicate()
    assert process.returncode == 128 + getattr(signal, name)
    assert message.decode() == ("interrupted\n" if name == "SIGINT" else f"ended by {name}\n")
    assert temporaries(files) == []
    assert (files / "out.csv").read_bytes() == b"old"


def test_what_kill_9_leaves_is_removed_by_the_next_command_in_that_folder(files: Path, command: Command) -> None:
    killed = waiting(files)
    killed.kill()
    killed.communicate()
    assert len(temporaries(files)) == 1
    alive = waiting(files, "alive.csv")
    done = subprocess.run([*PROGRAM, "convert", "run", "other.csv"], cwd=files, capture_output=True, check=False)
    assert done.returncode == 0
    assert [name.startswith(".alive.csv.") for name in temporaries(files)] == [True]
    _, message = alive.communicate(RUN)
    assert alive.returncode == 0, message
    assert temporaries(files) == []
    assert (files / "alive.csv").exists()


def test_running_out_of_memory_says_what_to_do(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import rankgauge.cli.commands.measures as module

    def exhausted() -> str:
        raise MemoryError

    monkeypatch.setattr(module, "listing", exhausted)
    outcome = command("measures")
    assert outcome.code == 71
    assert outcome.err == f"error: out of memory\nhint: {process.MEMORY_HINT}\n"


def test_a_library_that_cannot_be_loaded_is_not_a_bug(files: Path) -> None:
    (files / "numpy").mkdir()
    (files / "numpy" / "__init__.py").write_text("raise ImportError('\\nread this first\\ncannot map segment\\n\\n')\n")
    done = in_shell(files, "PYTHONPATH=.:$PYTHONPATH rankgauge evaluate qrels run")
    assert done.returncode == 71
    assert done.stderr == f"error: cannot load a library: cannot map segment\nhint: {process.LIBRARY_HINT}\n"


def test_a_bug_has_a_traceback_and_says_where_to_report_it(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import rankgauge.cli.commands.measures as module

    monkeypatch.setattr(module, "listing", lambda: dict[str, str]()["missing"])
    monkeypatch.setattr(process, "_line_of_user_code", lambda _: None)  # this test is somebody's code, too
    outcome = command("measures")
    assert outcome.code == 70
    assert "Traceback (most recent call last)" in outcome.err
    last, hint = outcome.err.splitlines()[-2:]
    assert last.startswith("error: this is a bug in rankgauge ")
    assert last.endswith(": KeyError: 'missing'")
    assert hint == f"hint: {process.BUG_HINT}"


def test_an_error_of_a_users_own_code_is_one_line(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    import rankgauge.cli.commands.measures as module

    monkeypatch.setattr(module, "listing", lambda: dict[str, str]()["missing"])
    outcome = command("measures")
    assert outcome.code == 2
    assert outcome.err.splitlines()[0].endswith(": KeyError: 'missing'")
    assert outcome.err.startswith(f"error: {__file__}:")
    assert "Traceback" not in outcome.err
    monkeypatch.setenv(process.DEBUG_VARIABLE, "1")
    assert "Traceback" in command("measures").err


@pytest.mark.parametrize("words", [("evaluate", "a\0b", "run"), ("convert", "run", "a\0b.csv")])
def test_a_nul_in_an_argument_is_a_usage_error(command: Command, words: tuple[str, ...]) -> None:
    outcome = command(*words)
    assert outcome.code in (2, 64)
    assert "Traceback" not in outcome.err
