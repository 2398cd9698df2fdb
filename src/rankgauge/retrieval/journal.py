"""The journal of a fetch, beside its output, so that an interrupted fetch can resume.

The first line is a header that identifies the fetch; then follows one line per query, empty results and failures
included; a query that failed and was asked again has a second line, which counts. An incomplete last line is dropped. A
journal of another version is refused, and so is one with another header, which belongs to another fetch. The answers of
a fetch with an embedder or a reranker that cannot be hashed are not used again, and those that are older than a day
only if the caller says so.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from rankgauge.core.formatting import duration, plural
from rankgauge.core.run import Status
from rankgauge.errors import InputError, other_version, printable, shown, warn_user, write_errors
from rankgauge.io.formats.json_text import plain_json
from rankgauge.io.owned_files import open_locked, read_locked, remove_locked
from rankgauge.io.stored_json import MapOf, Matching, number_to_json, parse_record, stored_number
from rankgauge.retrieval.asking.answers import AnswerFacts
from rankgauge.retrieval.asking.documents import ResultDetail, ReturnedDetails
from rankgauge.retrieval.embedders.embedder import code_note, unhashed_note

JOURNAL_VERSION = "rankgauge.journal/3"
JOURNAL_MAGIC = b'{"journal":"rankgauge.journal/'  # what a file begins with that may be emptied or deleted
FACT_FIELDS = ("repeated", "collapsed", "fault", "short_of", "latency", "numbers")
ID_SHAPE = Matching("an id", bool)
ANSWER_SHAPE = {
    "query": ID_SHAPE,
    "docs": [ID_SHAPE],
    "scores": [(float, str)],
    "at": int,
    "failed?": (str, bool),
    "repeated?": int,
    "collapsed?": int,
    "fault?": str,
    "short_of?": int,
    "latency?": float,
    "given?": MapOf((float, str)),
    "numbers?": MapOf((float, str)),
    "decision?": dict,
    "details?": [[(str, dict, type(None))]],
}
SYNC_INTERVAL = 1.0  # seconds between two calls of fsync
SHOWN_DIFFERENCES = 3
MAX_AGE = 86_400  # seconds after which answers are not used again without being asked for


@dataclass(frozen=True)
class FetchedAnswer:
    """One query's results, best first; ``at`` is when it was answered, as a Unix time.

    The journal keeps the texts and metadata of each document once.
    """

    query: str
    docs: list[str]
    scores: list[float]
    status: int
    decision: dict[str, Any] = field(default_factory=dict)
    facts: AnswerFacts = field(default_factory=AnswerFacts)
    at: int = field(default_factory=lambda: int(time.time()), compare=False)

    def to_line(self) -> bytes:
        """The line of the journal."""
        scores = [number_to_json(score) for score in self.scores]
        row: dict[str, Any] = {"query": self.query, "docs": self.docs, "scores": scores, "at": self.at}
        if self.status == Status.FAILED:
            row["failed"] = self.facts.error or True
        row |= {name: value for name in FACT_FIELDS if (value := getattr(self.facts, name))}
        if self.facts.given is not None:
            row["given"] = {doc: number_to_json(score) for doc, score in self.facts.given.items()}
        if self.decision:
            row["decision"] = self.decision
        if self.facts.details:
            row["details"] = [[name, text, plain_json(metadata)] for name, text, metadata in self.facts.details]
        return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> FetchedAnswer:
        """Parse a line; raise InputError if it is not an answer."""
        row = parse_record("journal", None, line, shape=ANSWER_SHAPE)
        docs, scores = row["docs"], [stored_number(score) for score in row["scores"]]
        if len(docs) != len(scores):
            raise InputError("expected as many scores as documents")
        failed = row.get("failed")
        status = Status.FAILED if failed else Status.ANSWERED if docs else Status.EMPTY
        error = failed if isinstance(failed, str) else None
        details = [_detail(values) for values in row.get("details", [])]
        given = {doc: stored_number(score) for doc, score in row["given"].items()} if "given" in row else None
        known = {name: row[name] for name in FACT_FIELDS if name in row}
        if "numbers" in row:
            known["numbers"] = {name: stored_number(number) for name, number in row["numbers"].items()}
        facts = AnswerFacts(error, **known, details=details, given=given)
        return cls(row["query"], docs, scores, status, row.get("decision", {}), facts, row["at"])


@dataclass(frozen=True)
class ReusedAnswers:
    """The answers that a journal holds when it is opened, without failures, which are asked again."""

    count: int = 0
    age: float = 0.0  # of the oldest, in seconds

    @classmethod
    def of(cls, answers: Iterable[FetchedAnswer]) -> ReusedAnswers:
        """Those among some answers."""
        times = [answer.at for answer in answers if answer.status != Status.FAILED]
        return cls(len(times), max(0.0, time.time() - min(times))) if times else cls()

    def __str__(self) -> str:
        oldest = "" if self.count == 1 else "the oldest "
        return f"{plural(self.count, 'answer')} reused from the journal, {oldest}{duration(self.age)} old"

    def check_age(self, path: Path, resume: bool | None) -> None:
        """Raise if answers are older than a day and the caller has not decided about them."""
        if resume is None and self.age > MAX_AGE:
            oldest = "it is" if self.count == 1 else "the oldest is"
            raise InputError.at(
                path,
                None,
                f"holds {plural(self.count, 'answer')} of an interrupted run, and {oldest} {duration(self.age)} old",
                hint="use the stored answers together with new ones: --resume (resume=True), or discard them and ask "
                "every query again: --restart (resume=False)",
            )


def check_journal(path: Path, resume: bool | None) -> None:
    """Raise if a journal holds answers that are older than a day and the caller has not decided about them.

    For commands that open several journals, one after the other: none is paid for before all are known to be usable.
    """
    if resume is None:
        stored_answers(path).check_age(path, resume)


def stored_answers(path: Path) -> ReusedAnswers:
    """How many answers a journal holds, without failures, and how old they are; none if there is no journal."""
    answers: dict[str, FetchedAnswer] = {}
    if not path.is_file():  # a pipe would wait for a writer
        return ReusedAnswers()
    with suppress(OSError, InputError):  # reported when the journal is opened
        for line in path.read_bytes().split(b"\n")[1:-1]:
            answer = FetchedAnswer.from_line(line)
            answers[answer.query] = answer
    return ReusedAnswers.of(answers.values())


def discard_journal(path: Path) -> None:
    """Delete a journal whose answers are all written elsewhere, if there is one."""
    if path.is_file():
        with open_locked(path, JOURNAL_MAGIC, "a journal") as file:
            remove_locked(file, path)


class Journal:
    """An open journal: the answers it already holds, and a file to append to.

    ``resume`` is that of :class:`~rankgauge.config.retriever_settings.JournalSettings`. A file of the same name that is
    not a journal, or a link to any file, is an error and stays as it is.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, resume: bool | None = None) -> None:
        self.path = path
        self.answers: dict[str, FetchedAnswer] = {}
        self._returned = ReturnedDetails()
        keys = json.dumps(dict(header), sort_keys=True, separators=(",", ":"))
        header_line = f'{{"journal":"{JOURNAL_VERSION}",{keys[1:]}' if header else f'{{"journal":"{JOURNAL_VERSION}"}}'
        self._file = open_locked(path, JOURNAL_MAGIC, "a journal")
        try:
            is_discarded = resume is False
            size = 0 if is_discarded else self._load(header_line.encode("ascii"), read_locked(self._file, path))
            size = self._reusable(header, size)
            self.reused = ReusedAnswers.of(self.answers.values())
            self.reused.check_age(path, resume)
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
        added = [self._with_new_details(answer) for answer in answers]
        with write_errors(self.path):
            self._file.write(b"".join(answer.to_line() for answer in added))
            self._flush(sync=time.monotonic() - self._last_sync > SYNC_INTERVAL)
        self.answers.update({answer.query: answer for answer in added})

    def _with_new_details(self, answer: FetchedAnswer) -> FetchedAnswer:
        """The answer without texts and metadata that an earlier one has."""
        return replace(answer, facts=replace(answer.facts, details=self._returned.add(answer.facts.details)))

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
            self._returned = ReturnedDetails()
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
            self._returned.add(answer.facts.details)
        return size


def _detail(values: list[Any]) -> ResultDetail:
    if len(values) != 3 or not isinstance(values[0], str) or isinstance(values[1], dict) or isinstance(values[2], str):
        raise InputError("expected an id, a text and metadata")
    name, text, metadata = values
    return name, text, metadata


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
        hint="finish that fetch, name another output, or discard its answers: --restart (resume=False)",
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
