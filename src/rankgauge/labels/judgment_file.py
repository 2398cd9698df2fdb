"""A file of judgments that only grows: a line is on the disk before the next document is shown.

Several processes may write into one file: each line is written at once, under a lock that is held only for it.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import IO

from rankgauge.errors import InputError
from rankgauge.labels.reading import parse_judgments
from rankgauge.labels.records import Judgment

LINE_START = b'{"query_id":'


class JudgmentFile:
    """The judgments that a file has, and a way to add more. It is created if it does not exist."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.judgments: list[Judgment] = []
        try:
            self._file = self.path.open("a+b", buffering=0)
            with _Locked(self._file):
                self._load()
        except OSError as error:
            raise InputError.at(self.path, None, f"cannot write: {error.strerror or error}") from None

    def _load(self) -> None:
        """Read the judgments, and remove a last line without an end, which a crash of the machine left."""
        self._file.seek(0)
        data = self._file.read()
        size = data.rfind(b"\n") + 1
        if size < len(data) and not data[size:].startswith(LINE_START[: len(data) - size]):
            raise InputError.at(self.path, None, "not a file of judgments", hint="name another output: -o FILE")
        if size:
            self.judgments = parse_judgments(str(self.path), data[:size])
        if size < len(data):
            self._file.truncate(size)

    def __enter__(self) -> JudgmentFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, judgment: Judgment) -> None:
        """Append a judgment; when this returns, it survives a crash of the machine."""
        try:
            with _Locked(self._file):
                self._file.write(judgment.to_line())
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError.at(self.path, None, f"cannot write: {error.strerror or error}") from None
        self.judgments.append(judgment)


class _Locked:
    """A lock on a file for the time of a block; on a system without such locks, lines are still written at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __enter__(self) -> None:
        self._lock("LOCK_EX")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock("LOCK_UN")

    def _lock(self, operation: str) -> None:
        try:
            import fcntl
        except ImportError:
            return
        fcntl.flock(self._file, getattr(fcntl, operation))
