"""The journal of a fetch, beside its output, so that an interrupted fetch can resume.

The first line is a header that identifies the fetch; then follows one line per query, empty results and failures
included; a query that failed and was asked again has a second line, which counts. An incomplete last line is dropped. A
journal of another version is refused, and so is one with another header, which belongs to another fetch. The answers of
a fetch with an embedder or a reranker that cannot be hashed are not used again.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from rankgauge.core.run import Status
from rankgauge.errors import InputError, other_version, printable, shown, warn_user, write_errors
from rankgauge.io.owned import open_locked, read_locked, remove_locked
from rankgauge.io.records import parse_record
from rankgauge.io.shapes import Matching
from rankgauge.io.trec_writer import is_word
from rankgauge.retrieval.asking.failures import AnswerFacts
from rankgauge.retrieval.embedders.base import code_note, unhashed_note

JOURNAL_VERSION = "rankgauge.journal/2"
JOURNAL_MAGIC = b'{"journal":"rankgauge.journal/'  # what a file begins with that may be emptied or deleted
INFINITE = ("inf", "-inf")
FACT_FIELDS = ("repeated", "collapsed", "fault", "short_of")
ID_SHAPE = Matching("an id without white space", is_word)
ANSWER_SHAPE = {
    "query": ID_SHAPE,
    "docs": [ID_SHAPE],
    "scores": [(float, str)],
    "failed?": (str, bool),
    "repeated?": int,
    "collapsed?": int,
    "fault?": str,
    "short_of?": int,
    "decision?": dict,
    "texts?": [[str]],
}
SYNC_INTERVAL = 1.0  # seconds between two calls of fsync
SHOWN_DIFFERENCES = 3


@dataclass(frozen=True)
class FetchedAnswer:
    """One query's results, best first.

    ``texts`` are those of results that no earlier answer of the journal has, as pairs of an id and a text.
    """

    query: str
    docs: list[str]
    scores: list[float]
    status: int
    decision: dict[str, Any] = field(default_factory=dict)
    facts: AnswerFacts = field(default_factory=AnswerFacts)
    texts: Sequence[tuple[str, str]] = ()

    def to_line(self) -> bytes:
        """The line of the journal."""
        scores = [score if math.isfinite(score) else str(score) for score in self.scores]
        row: dict[str, Any] = {"query": self.query, "docs": self.docs, "scores": scores}
        if self.status == Status.FAILED:
            row["failed"] = self.facts.error or True
        row |= {name: value for name in FACT_FIELDS if (value := getattr(self.facts, name))}
        if self.decision:
            row["decision"] = self.decision
        if self.texts:
            row["texts"] = self.texts
        return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> FetchedAnswer:
        """Parse a line; raise InputError if it is not an answer."""
        row = parse_record("journal", None, line, shape=ANSWER_SHAPE)
        docs, scores = row["docs"], [_score(score) for score in row["scores"]]
        if len(docs) != len(scores):
            raise InputError("expected as many scores as documents")
        failed = row.get("failed")
        status = Status.FAILED if failed else Status.ANSWERED if docs else Status.EMPTY
        error = failed if isinstance(failed, str) else None
        facts = AnswerFacts(error, **{name: row[name] for name in FACT_FIELDS if name in row})
        pairs = row.get("texts", [])
        if any(len(pair) != 2 for pair in pairs):
            raise InputError("expected pairs of an id and a text")
        texts = [(name, text) for name, text in pairs]
        return cls(row["query"], docs, scores, status, row.get("decision", {}), facts, texts)


class Journal:
    """An open journal: the answers it already holds, and a file to append to; ``restart`` discards the answers.

    A file of the same name that is not a journal, or a link to any file, is an error and stays as it is.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, restart: bool = False) -> None:
        self.path = path
        self.answers: dict[str, FetchedAnswer] = {}
        header_line = json.dumps({"journal": JOURNAL_VERSION, **header}, sort_keys=True, separators=(",", ":"))
        self._file = open_locked(path, JOURNAL_MAGIC, "a journal")
        try:
            size = 0 if restart else self._load(header_line.encode("ascii"), read_locked(self._file, path))
            size = self._reusable(header, size)
            with write_errors(path):
                self._file.truncate(size)
                self._file.seek(size)
                if not size:
                    self._file.write(header_line.encode("ascii") + b"\n")
                    self._flush(sync=True)
        except BaseException:
            self._close()
            raise
        self._last_sync = time.monotonic()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with write_errors(self.path):
                self._flush(sync=False)
        finally:
            self._close()

    def add(self, answers: Iterable[FetchedAnswer]) -> None:
        """Append answers. The operating system has them when this returns, so a killed process loses none."""
        added = list(answers)
        with write_errors(self.path):
            self._file.write(b"".join(answer.to_line() for answer in added))
            self._flush(sync=time.monotonic() - self._last_sync > SYNC_INTERVAL)
        self.answers.update({answer.query: answer for answer in added})

    def remove(self) -> None:
        """Delete the journal: the fetch is complete."""
        remove_locked(self._file, self.path)

    def _close(self) -> None:
        with suppress(OSError):  # what could not be written has been reported
            self._file.close()

    def _flush(self, *, sync: bool) -> None:
        self._file.flush()
        if sync:
            os.fsync(self._file.fileno())
            self._last_sync = time.monotonic()

    def _reusable(self, header: Mapping[str, Any], size: int) -> int:
        """The bytes to keep: none if nothing shows that the answers are those of the same model."""
        problem, caveat, name = unhashed_note(header), code_note(header), printable(str(self.path), None)
        if self.answers and problem is not None:
            warn_user(f"{name}: every query is asked again: {problem}")
            self.answers.clear()
            return 0
        if self.answers and caveat is not None:
            warn_user(f"{name}: stored answers are used again: {caveat}")
        return size

    def _load(self, header: bytes, data: bytes) -> int:
        """Load the complete lines, and return their size in bytes."""
        size = data.rfind(b"\n") + 1
        first, *rest = data[:size].split(b"\n")[:-1] or [b""]
        if not size:
            return 0  # stopped before the header was complete
        if first != header:
            raise _other_journal(self.path, first, header)
        for number, line in enumerate(rest, start=2):
            try:
                answer = FetchedAnswer.from_line(line)
            except InputError:
                raise InputError.at(
                    self.path, number, f"damaged: {shown(line)}", hint="delete this file to start over"
                ) from None
            self.answers[answer.query] = answer
        return size


def _score(value: float | str) -> float:
    """A score; JSON has no infinite numbers, which are written as text."""
    if isinstance(value, str) and value not in INFINITE:
        raise InputError(f"expected a number, found {shown(value)}")
    return float(value)


def _other_journal(path: Path, stored_header: bytes, header: bytes) -> InputError:
    """The error for a journal that this fetch cannot use: of another version, or of another fetch."""
    try:
        stored = parse_record("journal", None, stored_header, shape={"journal": str})
    except InputError:
        difference = "its first line is not a header"
    else:
        if stored["journal"] != JOURNAL_VERSION:
            found, expected = (text.rpartition("/")[2] for text in (stored["journal"], JOURNAL_VERSION))
            action = "finish the fetch with the rankgauge that wrote it, or delete this file to start over"
            return other_version(path, "a journal", found, expected, action)
        difference = _describe_difference(stored, json.loads(header))
    return InputError.at(
        path,
        None,
        f"belongs to another fetch: {difference}",
        hint="finish that fetch, name another output, or delete this file to discard its partial results",
    )


def _describe_difference(stored: dict[str, Any], current: dict[str, Any]) -> str:
    """The fields in which two headers differ, in words."""
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
