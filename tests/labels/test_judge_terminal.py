"""The terminal judge through a pseudo-terminal: keys without Enter, notes, undo, and a process that is killed."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rankgauge.io.formats.judgment_lines import current_judgments
from rankgauge.labels import read_judgments
from tests.labels.pools import pool_file

pty = pytest.importorskip("pty")
SECONDS = 30


class Terminal:
    """A process whose terminal is ours."""

    def __init__(self, process: subprocess.Popen[bytes], handle: int) -> None:
        self.process, self.handle, self.seen = process, handle, ""

    def read_until(self, pattern: str) -> str:
        """Everything shown since the last call, up to a pattern."""
        deadline = time.monotonic() + SECONDS
        while not (match := re.search(pattern, self.seen)):
            assert time.monotonic() < deadline, self.seen
            if select.select([self.handle], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.handle, 65536).decode("utf-8", "replace")
                except OSError:  # the process has ended, and its terminal with it
                    assert re.search(pattern, self.seen), self.seen
        shown, self.seen = self.seen[: match.end()], self.seen[match.end() :]
        return shown

    def type(self, keys: str) -> None:
        os.write(self.handle, keys.encode())


@contextmanager
def judging(pool: Path, out: Path, *options: str) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "rankgauge", "judge", str(pool), "-o", str(out), *options]
    environment = {**os.environ, "TERM": "xterm", "LINES": "24", "COLUMNS": "80"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(ours)


def grades(out: Path) -> list[float | None]:
    return [judgment.grade for judgment in current_judgments(read_judgments(out))]


@pytest.mark.slow
def test_an_assessor_judges_with_single_keys(tmp_path: Path) -> None:
    pool, out = pool_file(tmp_path), tmp_path / "judgments.jsonl"
    with judging(pool, out, "--assessor", "ann") as terminal:
        screen = terminal.read_until("q quit")
        assert "1 of 6 (0% done) · ann" in screen
        assert re.search(r"\x1b\[1m[Qq]uery\x1b\[0m", screen)  # a word of the query, in the passage
        assert not re.search(r"\bd[123]\b", screen)  # no id, which may say where it is from
        terminal.type("2")
        assert "2 of 6" in terminal.read_until("q quit")
        terminal.type("n")
        terminal.read_until("note: ")
        terminal.type("not sure\n")
        assert "note: not sure" in terminal.read_until("q quit")
        terminal.type("1")
        terminal.read_until("3 of 6")
        terminal.read_until("q quit")
        terminal.type("\x1b[A")  # an arrow key does nothing
        terminal.type("x")
        assert "3 of 6" in terminal.read_until("no such key: x")
        terminal.type("u")
        assert "2 of 6" in terminal.read_until("q quit")
        terminal.type("0")
        terminal.read_until("3 of 6")
        terminal.type("q")
        terminal.read_until("2 of 6 documents judged by ann, 4 left; saved in")
        assert terminal.process.wait(SECONDS) == 0
    assert grades(out) == [2, 0]
    with judging(pool, out, "--assessor", "ann") as terminal:  # and goes on later
        terminal.read_until("3 of 6")
        terminal.read_until("q quit")
        terminal.type("3333")
        terminal.read_until("6 of 6 documents judged by ann; saved in")
        assert terminal.process.wait(SECONDS) == 0
    assert grades(out) == [2, 0, 3, 3, 3, 3]


@pytest.mark.slow
def test_a_killed_process_loses_at_most_the_judgment_being_typed(tmp_path: Path) -> None:
    pool, out = pool_file(tmp_path, 3, 4), tmp_path / "judgments.jsonl"
    typed: list[int] = []
    for round_number in range(3):
        with judging(pool, out, "--assessor", "ann") as terminal:
            terminal.read_until("q quit")
            for key in (round_number, 1, 3):
                terminal.type(str(key))
                typed.append(key)
                terminal.read_until(f"{len(typed) + 1} of 12")  # the next document is on the screen
            terminal.type("nhalf a no")  # typed, and not finished
            terminal.process.send_signal(signal.SIGKILL)
            terminal.process.wait(SECONDS)
        assert grades(out) == typed
        assert out.read_bytes().endswith(b"\n")


@pytest.mark.slow
def test_an_interrupt_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    pool, out = pool_file(tmp_path), tmp_path / "judgments.jsonl"
    with judging(pool, out) as terminal:
        import termios

        terminal.read_until("q quit")
        assert not termios.tcgetattr(terminal.handle)[3] & termios.ECHO
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.process.wait(SECONDS) == 130
        assert termios.tcgetattr(terminal.handle)[3] & termios.ECHO
