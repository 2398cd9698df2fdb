"""What was fetched so far, beside the output, so that a fetch that was stopped goes on where it stopped.

The first line is a header that says what is being fetched; then follows a line a query, an empty result too. A line
that was not finished is dropped. A journal with another header belongs to another fetch and is refused.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from rankgauge.core.run import Status
from rankgauge.errors import InputError, shown

VERSION = "rankgauge.journal/1"
SYNCED = 1.0  # seconds between two times that the disk is waited for


@dataclass(frozen=True)
class Answer:
    """One query's result, best first."""

    query: str
    docs: list[str]
    scores: list[float]
    status: int
    decision: dict[str, Any] = field(default_factory=dict)

    def line(self) -> bytes:
        """As it stands in the journal."""
        row: dict[str, Any] = {"query": self.query, "docs": self.docs, "scores": self.scores}
        if self.status == Status.FAILED:
            row["failed"] = True
        if self.decision:
            row["decision"] = self.decision
        return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"

    @classmethod
    def parsed(cls, line: bytes) -> Answer:
        """From a line; raises ValueError, KeyError or TypeError where it is none."""
        row = json.loads(line)
        docs, scores = list(map(str, row["docs"])), list(map(float, row["scores"]))
        if len(docs) != len(scores):
            raise ValueError("as many scores as documents")
        status = Status.FAILED if row.get("failed") else Status.ANSWERED if docs else Status.EMPTY
        return cls(str(row["query"]), docs, scores, status, dict(row.get("decision", {})))


class Journal:
    """An open journal: what it holds already, and a place to add to."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path = path
        self.answers: dict[str, Answer] = {}
        text = json.dumps({"journal": VERSION, **header}, sort_keys=True, separators=(",", ":")).encode("ascii")
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise InputError.at(path, None, f"cannot write: {error.strerror or error}") from None
        try:
            _lock(self._file, path)
            self._file.seek(0)
            whole = self._read(text, self._file.read())
        except BaseException:
            self._file.close()
            raise
        self._file.truncate(whole)
        self._file.seek(whole)
        if not whole:
            self._file.write(text + b"\n")
            self._flush(sync=True)
        self._synced = time.monotonic()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush(sync=False)
        self._file.close()

    def add(self, answers: Iterable[Answer]) -> None:
        """Add results. They are with the system when this returns, so that a killed process loses none."""
        added = list(answers)
        self._file.write(b"".join(answer.line() for answer in added))
        self._flush(sync=time.monotonic() - self._synced > SYNCED)
        self.answers.update({answer.query: answer for answer in added})

    def remove(self) -> None:
        """Done with."""
        self.path.unlink(missing_ok=True)

    def _flush(self, *, sync: bool) -> None:
        self._file.flush()
        if sync:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def _read(self, header: bytes, data: bytes) -> int:
        """Take in what is there; the length of what is whole."""
        whole = data.rfind(b"\n") + 1
        first, *rest = data[:whole].split(b"\n")[:-1] or [b""]
        if not whole:
            return 0  # stopped before the header was whole
        if first != header:
            raise InputError.at(
                self.path,
                None,
                f"belongs to another fetch: {_difference(first, header)}",
                hint="finish that one, name another output, or start anew: --restart",
            )
        for number, line in enumerate(rest, start=2):
            try:
                answer = Answer.parsed(line)
            except (ValueError, KeyError, TypeError):
                raise InputError.at(
                    self.path, number, f"damaged: {shown(line)}", hint="start anew: --restart"
                ) from None
            self.answers[answer.query] = answer
        return whole


def _lock(file: IO[bytes], path: Path) -> None:
    """One process at a time; where the system has no such locks, the user must see to it."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise InputError.at(
            path, None, "another process is fetching into it", hint="wait, or name another output"
        ) from None


def _difference(one: bytes, other: bytes) -> str:
    """Which part of two headers differs, in words."""
    try:
        before, after = json.loads(one), json.loads(other)
    except ValueError:
        return "its first line is no header"
    if not isinstance(before, dict):
        return "its first line is no header"
    flat_before, flat_after = _flat(before), _flat(after)
    keys = [key for key in {**flat_before, **flat_after} if flat_before.get(key) != flat_after.get(key)]
    told = [f"{key} was {_short(flat_before.get(key))} and is {_short(flat_after.get(key))}" for key in keys[:3]]
    return "; ".join(told) + (f"; and {len(keys) - 3} more" if len(keys) > 3 else "")


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {name: value}
    out: dict[str, Any] = {}
    for key, inner in value.items():
        out.update(_flat(inner, f"{name}.{key}" if name else key))
    return out


def _short(value: Any) -> str:
    return "not there" if value is None else shown(value if isinstance(value, str) else json.dumps(value), 40)
