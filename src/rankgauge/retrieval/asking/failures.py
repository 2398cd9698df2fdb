"""Queries without an answer: None, an exception, a timeout. An empty list is an answer; a failure never is."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from rankgauge.core.formatting import plural
from rankgauge.errors import RetrieverError, UsageError, printable
from rankgauge.retrieval.asking.pauses import certificate_fault, status_of
from rankgauge.secrets import error_message, error_text

SHOWN_FAILURES = 3
MAX_REFUSALS = 5  # in a row
REFUSALS = (401, 403)
CERTIFICATE = "certificate"
TOKEN_HINT = (
    "check the token: whether the environment variables in headers, url and params are set, are those of this server, "
    "and have not expired; and what they give access to"
)
CERTIFICATE_HINT = (
    "check the certificate of the server, its host name, and the date of this machine; for a certificate of your own, "
    "name the file with it: verify: FILE"
)


class NoAnswer(Exception):
    """A retriever returned something that is not an answer; the message says what.

    If it is final, asking again would not help.
    """

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


@dataclass(frozen=True)
class AnswerFacts:
    """What is known of one query's answer besides its results: the error if it failed, and what was dropped.

    ``repeated`` results had the id of an earlier one; ``collapsed`` chunks had its document. ``fault`` is how the given
    scores contradict the order of the results. ``latency`` is the seconds of the attempt that was answered, and
    ``overhead`` those of everything else: failed attempts, pauses, and reading the answer. ``short_of`` is k if
    there are fewer results and more may be had, otherwise 0.
    """

    error: str | None = None
    repeated: int = 0
    collapsed: int = 0
    fault: str | None = None
    overhead: float = 0.0
    short_of: int = 0
    latency: float | None = None

    def __or__(self, other: AnswerFacts) -> AnswerFacts:
        """Of the same query, asked of two retrievers."""
        return AnswerFacts(
            self.error or other.error,
            self.repeated + other.repeated,
            self.collapsed + other.collapsed,
            self.fault or other.fault,
            self.overhead + other.overhead,
            max(self.short_of, other.short_of),
        )


AnswerRecord = dict[str, AnswerFacts]  # by query
_RECORD: ContextVar[AnswerRecord | None] = ContextVar("rankgauge_answer_record", default=None)


@contextmanager
def recorded_answers() -> Iterator[AnswerRecord]:
    """Collect the facts of all answers that retrievers give within the block, however deep they are wrapped."""
    record: AnswerRecord = {}
    token = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(token)


def record_answer(query: str, facts: AnswerFacts) -> None:
    """Add the facts of an answer to the record of whoever asked, if there is one."""
    record = _RECORD.get()
    if record is not None:
        record[query] = record[query] | facts if query in record else facts


def failure_text(error: BaseException) -> str:
    """Why a query failed, in one line of text without secrets."""
    if isinstance(error, NoAnswer):
        return error_message(error)
    if isinstance(error, TimeoutError):
        message = error_message(error)
        return f"timeout: {message}" if message else "timeout"
    return error_text(error)


class Refusals:
    """How many calls in a row a server has refused; more of the same are not worth sending."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kind: str | None = None
        self._count = 0

    def end(self) -> None:
        """A call was answered."""
        self._count = 0

    def add(self, name: str, error: BaseException) -> RetrieverError | None:
        """Count a failed call; returns the error that ends all calls if too many were refused in the same way."""
        status = status_of(error)
        kind = f"status {status}" if status in REFUSALS else None if certificate_fault(error) is None else CERTIFICATE
        with self._lock:
            self._count = self._count + 1 if kind == self._kind or not self._count else 1
            self._kind = kind
            if kind is None or self._count < MAX_REFUSALS:
                return None
        return RetrieverError(
            f"{printable(name)}: the last {self._count} calls were refused ({kind}), so no more were sent:\n"
            f"  {printable(failure_text(error), None)}",
            hint=CERTIFICATE_HINT if kind == CERTIFICATE else TOKEN_HINT,
        )


def check_max_failures(max_failures: int | None) -> None:
    """Raise unless it is a number of queries, or None for any number."""
    is_count = isinstance(max_failures, int) and not isinstance(max_failures, bool) and max_failures >= 0
    if max_failures is not None and not is_count:
        raise UsageError(f"max_failures must be a whole number of at least 0, or None, found {max_failures!r}")


def is_too_many(failures: int, max_failures: int | None) -> bool:
    """Whether more queries failed than may fail; None allows any number."""
    return max_failures is not None and failures > max_failures


def too_many_failures(
    failures: Mapping[str, str],
    asked: int,
    max_failures: int | None,
    *,
    hint: str,
    total: int | None = None,
    result: Any = None,
    noun: str = "query",
) -> RetrieverError:
    """The error that names the failed queries, or what else was asked for.

    ``asked`` is the number of queries that were sent, of ``total`` if not all were; ``result`` is what the answered
    ones gave.
    """
    reasons = list(failures.items())
    lines = [f"  {printable(query)}: {printable(reason, None)}" for query, reason in reasons[:SHOWN_FAILURES]]
    if len(reasons) > SHOWN_FAILURES:
        lines.append(f"  … {len(reasons) - SHOWN_FAILURES} more")
    nouns = plural(2, noun).partition(" ")[2]
    queries = f"{asked} {nouns}" if total is None or total == asked else f"the first {asked} {nouns} (of {total})"
    title = f"{len(reasons)} of {queries} failed, at most {max_failures} may fail:"
    return RetrieverError("\n".join([title, *lines]), hint=hint, result=result)
