"""A file of judgments that only grows: a line is on the disk before the next document is shown.

Several processes may write into one file: each line is written at once, under a lock that is held only for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rankgauge.errors import InputError, write_error
from rankgauge.io.formats.judgment_lines import Judgment, parse_judgments

LINE_START = b'{"query_id":'


class JudgmentFile:
    """The judgments that a file has, and a way to add more. It is created if it does not exist."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.judgments: list[Judgment] = []
        with _locked(self.path) as file:
            self._load(file)

    def add(self, judgment: Judgment) -> None:
        """Append a judgment; when this returns, it survives a crash of the machine."""
        line = memoryview(judgment.to_line())
        with _locked(self.path) as file:
            size = self._cut_incomplete_line(file)
            try:
                while line:
                    line = line[file.write(line) :]  # a disk that is nearly full takes a part
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
        self.judgments.append(judgment)

    def _load(self, file: IO[bytes]) -> None:
        """Read the judgments."""
        size = self._cut_incomplete_line(file)
        file.seek(0)
        if size:
            self.judgments = parse_judgments(str(self.path), file.read(size))

    def _cut_incomplete_line(self, file: IO[bytes]) -> int:
        """Remove a last line without an end, which a crash left, perhaps of another assessor; return the size."""
        size = file.seek(0, os.SEEK_END)
        tail = b""
        while size > len(tail) and b"\n" not in tail:
            begin = max(0, size - 2 * len(tail) - len(LINE_START))
            file.seek(begin)
            tail = file.read(size - begin)
        rest = tail[tail.rfind(b"\n") + 1 :]
        if not rest.startswith(LINE_START[: len(rest)]):
            raise InputError.at(self.path, None, "not a file of judgments", hint="name another output: -o FILE")
        if rest:
            file.truncate(size - len(rest))
        return size - len(rest)


@contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    """The file, open to append to, and locked on systems that have such locks; elsewhere lines are written at once."""
    try:
        with path.open("a+b", buffering=0) as file:
            try:
                import fcntl
            except ImportError:
                pass
            else:
                fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
            yield file
    except OSError as error:
        raise write_error(path, error) from None
