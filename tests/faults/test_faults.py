"""Nothing lost, nothing half-written: a few trials of every write path here, all of them with ``FAULTS=all``."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.faults.injection import Fault
from tests.faults.scenarios import SCENARIOS
from tests.needs import ROOT

TRIALS = 6
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
