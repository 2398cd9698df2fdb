"""Code in a warm process has what it would have in a process of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.warm_process import WarmProcess

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")]


def test_code_has_its_own_folder_arguments_environment_and_streams(warm_python: WarmProcess, tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), sys.argv, os.environ); print('ö', file=sys.stderr); print(__name__)"
    done = warm_python.run(code, "a", "b c", cwd=tmp_path, env={"ONLY": "this"})
    assert done.stdout == f"{tmp_path} ['-c', 'a', 'b c'] environ({{'ONLY': 'this'}})\n__main__\n"
    assert (done.stderr, done.returncode) == ("ö\n", 0)


def test_libraries_are_imported_and_rankgauge_is_not(warm_python: WarmProcess, tmp_path: Path) -> None:
    code = "import sys; print('scipy.stats' in sys.modules, 'rankgauge' in sys.modules)"
    assert warm_python.run(code, cwd=tmp_path).stdout == "True False\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [("", 0), ("raise SystemExit(3)", 3), ("raise SystemExit('no')", 1), ("1 / 0", 1), ("import os; os._exit(7)", 7)],
)
def test_the_exit_code_is_that_of_the_code(code: str, expected: int, warm_python: WarmProcess, tmp_path: Path) -> None:
    assert warm_python.run(code, cwd=tmp_path).returncode == expected


def test_warnings_are_errors_if_asked_for(warm_python: WarmProcess, tmp_path: Path) -> None:
    code = "import warnings; warnings.warn('old', DeprecationWarning)"
    assert warm_python.run(code, cwd=tmp_path).returncode == 0
    done = warm_python.run(code, cwd=tmp_path, on_warning="error")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "DeprecationWarning: old")


def test_its_program_works_in_a_shell(warm_rankgauge: WarmProcess, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1 x\n")
    script = "cat qrels | rankgauge evaluate - run -m RR --format trec | cut -f 3 && rankgauge evaluate no run; echo $?"
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=warm_rankgauge.on_path(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "1.0000\n2\n"
    assert "cannot read" in done.stderr
