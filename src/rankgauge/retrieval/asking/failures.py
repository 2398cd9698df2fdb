"""Queries without an answer: None, an exception, a timeout. An empty list is an answer; a failure never is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from rankgauge.core.formatting import plural
from rankgauge.core.secrets import error_message, error_text
from rankgauge.errors import RetrieverError, UsageError, printable

SHOWN_FAILURES = 3


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
    scores contradict the order of the results. ``waited`` is the seconds of failed attempts and pauses before it.
    ``short_of`` is k if there are fewer results and more may be had, otherwise 0.
    """

    error: str | None = None
    repeated: int = 0
    collapsed: int = 0
    fault: str | None = None
    waited: float = 0.0
    short_of: int = 0

    def __or__(self, other: AnswerFacts) -> AnswerFacts:
        """Of the same query, asked of two retrievers."""
        return AnswerFacts(
            self.error or other.error,
            self.repeated + other.repeated,
            self.collapsed + other.collapsed,
            self.fault or other.fault,
            self.waited + other.waited,
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
