"""Nothing lost, nothing half-written: a few trials of every write path here, all of them with ``FAULTS=all``."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from rankgauge.cli.command_tree import cli
from rankgauge.errors import write_error
from tests.faults.injection import Fault
from tests.faults.scenarios import SCENARIOS, WRITERS
from tests.needs import ROOT

TRIALS = 3
WRITE_NO_FILE = {  # some print what they compute, `index` loads a server
    *("measures", "pipeline", "rq", "trec_eval", "agreement", "index", "benchmark verify"),
    *("labels agree", "labels estimate"),
    *("history list", "history show", "history check"),
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the trials need os.fork"),
]


def test_a_target_is_old_or_new_and_the_next_run_succeeds() -> None:
    pytest.importorskip("bm25s")
    limit = 0 if os.environ.get("FAULTS") == "all" else TRIALS
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.driver", "--limit", str(limit)],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert f"{len(SCENARIOS)} write paths" in done.stdout


def commands(command: click.Command, path: str = "") -> Iterator[str]:
    """The words of every command."""
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from commands(inner, f"{path} {name}".strip())


def test_every_command_that_writes_a_file_has_a_scenario() -> None:
    assert set(commands(cli)) == {*WRITERS, *WRITE_NO_FILE}
    used = {name for names in WRITERS.values() for name in names}
    assert used == set(SCENARIOS)


@pytest.mark.parametrize(
    ("code", "exit_code", "hint"),
    [(errno.ENOSPC, 71, "free space on this disk"), (errno.EIO, 71, "check this disk"), (errno.EACCES, 2, None)],
)
def test_a_failure_of_the_system_is_told_from_a_wrong_file(code: int, exit_code: int, hint: str | None) -> None:
    error = write_error("out.trec", OSError(code, os.strerror(code)))
    assert error.message == f"out.trec: cannot write: {os.strerror(code)}"
    assert error.exit_code == exit_code
    assert (error.hint or "").startswith(hint or "")


def test_the_chosen_operation_fails_and_no_other() -> None:
    fault = Fault(index=1, action="error")
    assert fault.perform("open", "a", lambda: 1) == 1
    with pytest.raises(OSError, match="Input/output error"):
        fault.perform("write", "b", lambda: 2)
    assert fault.perform("write", "c", lambda: 3) == 3
    assert fault.operations == ["open a", "write b", "write c"]


def test_a_full_disk_stays_full() -> None:
    fault = Fault(index=0, action="full")
    for operation in ("write", "open", "mkdir"):
        with pytest.raises(OSError, match="No space left"):
            fault.perform(operation, "a", lambda: 1)
    assert fault.perform("unlink", "a", lambda: 1) == 1
