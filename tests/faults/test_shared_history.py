"""Many processes save into one history at once, and are killed: no entry is lost, and none is half there."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rankgauge import Run, evaluate
from rankgauge.evaluation.scores import Scores
from rankgauge.history import GitState, History
from rankgauge.io.owned_files import TEMPORARY_SUFFIX

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the trials need os.fork")
LABELS = {"q1": {"a": 1}, "q2": {"b": 2}}
RANKED = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
DAY = datetime(2026, 11, 2, tzinfo=UTC)  # the same for all, as are their names but for a random part


def scores_of(system: str) -> Scores:
    return evaluate(LABELS, Run.from_dict(RANKED, name=system), "RR")


def child(work: Callable[[int], None]) -> tuple[int, int]:
    """A forked process that does something with a pipe to write to; its id, and the pipe to read from."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    code = 1
    try:
        os.close(reader)
        work(writer)
        code = 0
    except BaseException:
        sys.stderr.write(traceback.format_exc())
    finally:
        os._exit(code)


def reported(reader: int) -> list[str]:
    """What a process wrote to its pipe, until it ended; the last line may not be whole."""
    with os.fdopen(reader) as lines:
        return lines.read().split("\n")[:-1]


def saver(folder: Path, scores: Scores, count: int, start: int) -> Callable[[int], None]:
    """Wait until all are there, then save several times, and report each entry."""

    def work(writer: int) -> None:
        os.read(start, 1)
        history = History.open(folder)
        for _ in range(count):
            entry = history.save(scores, date=DAY, git=GitState())
            os.write(writer, f"{entry.name}\n".encode())

    return work


def test_of_64_savers_none_loses_an_entry(tmp_path: Path) -> None:
    folder, scores = tmp_path / "new" / "history", scores_of("one")
    waiting, go = os.pipe()
    children = [child(saver(folder, scores, 4, waiting)) for _ in range(64)]
    os.write(go, b"g" * len(children))
    names = [name for _, reader in children for name in reported(reader)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid, _ in children]
    os.close(waiting)
    os.close(go)
    assert codes == [0] * 64
    assert len(names) == len(set(names)) == 256
    history = History.open(folder, create=False)
    assert {path.name for path in folder.iterdir()} == {f"{name}.jsonl" for name in names}
    assert {entry.name for entry in history.entries()} == set(names)
    assert all(history.entry(name).scores["RR"] == 0.75 for name in names[::16])


def test_who_reads_meanwhile_sees_whole_entries_and_loses_none(tmp_path: Path) -> None:
    """Warnings are errors here: a file that is half there would be one."""
    folder, scores = tmp_path / "history", scores_of("one")
    waiting, go = os.pipe()
    history = History.open(folder)
    history.save(scores, date=DAY, git=GitState())
    children = [child(saver(folder, scores, 30, waiting)) for _ in range(4)]
    os.write(go, b"g" * len(children))
    seen: set[str] = set()
    alive = dict(children)
    while alive:
        now = {entry.name for entry in history.entries()}
        assert seen <= now
        assert all(history.entry(name).scores["RR"] == 0.75 for name in now - seen)
        seen = now
        for pid in [*alive]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                assert (os.waitstatus_to_exitcode(status), len(reported(alive.pop(pid)))) == (0, 30)
    os.close(waiting)
    os.close(go)
    assert history.count() == 121


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_killed_saver_loses_nothing_that_it_saved(tmp_path: Path) -> None:
    folder, scores = tmp_path / "history", scores_of("one")
    known: list[str] = []
    for delay in (0.02, 0.05, 0.1):
        waiting, go = os.pipe()
        (killed, first), (other, second) = (child(saver(folder, scores, count, waiting)) for count in (100_000, 5))
        os.write(go, b"gg")
        time.sleep(delay)
        os.kill(killed, signal.SIGKILL)
        known += reported(first) + reported(second)  # what was said to be saved
        os.waitpid(killed, 0)
        assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 0
        os.close(waiting)
        os.close(go)
    history = History.open(folder, create=False)
    names = {entry.name for entry in history.entries()}
    assert set(known) <= names
    assert len(names) <= len(known) + 3  # the last of each killed saver may be saved but not yet reported
    assert all(history.entry(name).scores["RR"] == 0.75 for name in names)
    pid, reader = child(lambda _: saved_by_next(folder, scores))  # a process of its own: each sweeps a folder once
    assert (reported(reader), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])) == ([], 0)
    assert not [path.name for path in folder.iterdir() if path.name.endswith(TEMPORARY_SUFFIX)]


def saved_by_next(folder: Path, scores: Scores) -> None:
    """Save one more entry."""
    History.open(folder).save(scores, date=DAY, git=GitState())


def test_two_machines_save_into_copies_of_a_folder_that_are_merged(tmp_path: Path) -> None:
    """Both begin with the same entry, and have the same clock; nothing is overwritten, and the order is the same."""
    here = History.open(tmp_path / "here")
    base = here.save(scores_of("one"), date=DAY, git=GitState())
    shutil.copytree(here.folder, tmp_path / "there")
    there = History.open(tmp_path / "there")
    names = {base.name}
    for number in range(10):
        history = (here, there)[number % 2]
        names.add(history.save(scores_of("one"), date=DAY, git=GitState()).name)
    for source, target in ((here, there), (there, here)):
        for path in source.folder.iterdir():
            shutil.copy(path, target.folder)
    assert {entry.name for entry in here.entries()} == names
    assert [entry.name for entry in here.entries()] == [entry.name for entry in there.entries()]
    assert here.entries()[0].name == base.name
