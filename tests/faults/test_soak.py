"""A small part of the soak: ``python -m tests.faults.soak --count 300000`` is the long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.plain_numbers import WrongNumberError, check_run
from tests.faults.readers import READERS
from tests.needs import ROOT

COUNT = 1_500


@pytest.mark.slow
def test_mutated_inputs_are_read_or_refused_with_a_message() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.soak", "--count", str(COUNT)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_the_plain_reader_finds_a_wrong_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"q0 Q0 d1 1 2 t\nq0 Q0 d0 2 1 t\n")
    check_run(path)
    monkeypatch.setattr("tests.faults.plain_numbers._dcg", lambda gains: float(sum(gains)) + 1)
    with pytest.raises(WrongNumberError, match="q0: expected"):
        check_run(path)


@pytest.mark.filterwarnings("ignore::rankgauge.errors.RankgaugeWarning")
def test_every_reader_takes_its_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.faults.readers import make_seeds

    monkeypatch.chdir(tmp_path)
    seeds = make_seeds(tmp_path)
    for reader in READERS.values():
        for suffix, data in seeds[reader.seeds]:
            path = tmp_path / f"input{suffix}"
            path.write_bytes(data)
            reader.read(path)
