"""The journal of a fetch, beside its output, so that an interrupted fetch can resume.

The first line is a header that identifies the fetch; then follows one line per query, empty results and failures
included; a query that failed and was asked again has a second line, which counts. An incomplete last line is dropped. A
journal with another header belongs to another fetch and is refused.
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
from rankgauge.retrieval.asking.failures import AnswerFacts

JOURNAL_VERSION = "rankgauge.journal/2"
FACT_FIELDS = ("repeated", "collapsed", "fault", "short_of")
SYNC_INTERVAL = 1.0  # seconds between two calls of fsync
SHOWN_DIFFERENCES = 3


@dataclass(frozen=True)
class FetchedAnswer:
    """One query's results, best first."""

    query: str
    docs: list[str]
    scores: list[float]
    status: int
    decision: dict[str, Any] = field(default_factory=dict)
    facts: AnswerFacts = field(default_factory=AnswerFacts)

    def to_line(self) -> bytes:
        """The line of the journal."""
        row: dict[str, Any] = {"query": self.query, "docs": self.docs, "scores": self.scores}
        if self.status == Status.FAILED:
            row["failed"] = self.facts.error or True
        row |= {name: value for name in FACT_FIELDS if (value := getattr(self.facts, name))}
        if self.decision:
            row["decision"] = self.decision
        return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> FetchedAnswer:
        """Parse a line; raise ValueError, KeyError or TypeError if it is not an answer."""
        row = json.loads(line)
        docs, scores = list(map(str, row["docs"])), list(map(float, row["scores"]))
        if len(docs) != len(scores):
            raise ValueError("expected as many scores as documents")
        failed = row.get("failed")
        status = Status.FAILED if failed else Status.ANSWERED if docs else Status.EMPTY
        error = failed if isinstance(failed, str) else None
        facts = AnswerFacts(error, **{name: row[name] for name in FACT_FIELDS if name in row})
        return cls(str(row["query"]), docs, scores, status, dict(row.get("decision", {})), facts)


class Journal:
    """An open journal: the answers it already holds, and a file to append to."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path = path
        self.answers: dict[str, FetchedAnswer] = {}
        header_line = json.dumps({"journal": JOURNAL_VERSION, **header}, sort_keys=True, separators=(",", ":"))
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise InputError.at(path, None, f"cannot write: {error.strerror or error}") from None
        try:
            _lock(self._file, path)
            self._file.seek(0)
            size = self._load(header_line.encode("ascii"), self._file.read())
        except BaseException:
            self._file.close()
            raise
        self._file.truncate(size)
        self._file.seek(size)
        if not size:
            self._file.write(header_line.encode("ascii") + b"\n")
            self._flush(sync=True)
        self._last_sync = time.monotonic()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush(sync=False)
        self._file.close()

    def add(self, answers: Iterable[FetchedAnswer]) -> None:
        """Append answers. The operating system has them when this returns, so a killed process loses none."""
        added = list(answers)
        self._file.write(b"".join(answer.to_line() for answer in added))
        self._flush(sync=time.monotonic() - self._last_sync > SYNC_INTERVAL)
        self.answers.update({answer.query: answer for answer in added})

    def remove(self) -> None:
        """Delete the journal: the fetch is complete."""
        self.path.unlink(missing_ok=True)

    def _flush(self, *, sync: bool) -> None:
        self._file.flush()
        if sync:
            os.fsync(self._file.fileno())
            self._last_sync = time.monotonic()

    def _load(self, header: bytes, data: bytes) -> int:
        """Load the complete lines, and return their size in bytes."""
        size = data.rfind(b"\n") + 1
        first, *rest = data[:size].split(b"\n")[:-1] or [b""]
        if not size:
            return 0  # stopped before the header was complete
        if first != header:
            raise InputError.at(
                self.path,
                None,
                f"belongs to another fetch: {_describe_difference(first, header)}",
                hint="finish that fetch, name another output, or discard its partial results: --restart",
            )
        for number, line in enumerate(rest, start=2):
            try:
                answer = FetchedAnswer.from_line(line)
            except (ValueError, KeyError, TypeError):
                raise InputError.at(
                    self.path, number, f"damaged: {shown(line)}", hint="discard the journal and start over: --restart"
                ) from None
            self.answers[answer.query] = answer
        return size


def _lock(file: IO[bytes], path: Path) -> None:
    """Allow one process at a time; on a system without such locks, the user is responsible."""
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


def _describe_difference(stored_header: bytes, header: bytes) -> str:
    """The fields in which two headers differ, in words."""
    try:
        stored, current = json.loads(stored_header), json.loads(header)
    except ValueError:
        return "its first line is not a header"
    if not isinstance(stored, dict):
        return "its first line is not a header"
    before, after = _flatten(stored), _flatten(current)
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    changes = [f"{key} was {_short(before.get(key))}, is now {_short(after.get(key))}" for key in keys]
    extra = len(changes) - SHOWN_DIFFERENCES
    return "; ".join(changes[:SHOWN_DIFFERENCES]) + (f"; and {extra} more" if extra > 0 else "")


def _flatten(value: Any, name: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {name: value}
    out: dict[str, Any] = {}
    for key, inner in value.items():
        out.update(_flatten(inner, f"{name}.{key}" if name else key))
    return out


def _short(value: Any) -> str:
    return "absent" if value is None else shown(value if isinstance(value, str) else json.dumps(value), 40)
