"""Queries without an answer: None, an exception, a timeout; when to ask again, and how many may fail.

An empty list is an answer; a failure never is.
"""

from __future__ import annotations

import hashlib
import math
import ssl
import threading
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from rankgauge.config.retriever_settings import BenchmarkSettings
from rankgauge.core.formatting import plural
from rankgauge.core.settings import check_values
from rankgauge.errors import RetrieverError, printable
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


class CallEnded(Exception):
    """A call raised what ends a process or a generator, such as ``SystemExit``: it has failed like any other."""


def failure_text(error: BaseException) -> str:
    """Why a query failed, in one line of text without secrets."""
    if isinstance(error, (NoAnswer, CallEnded)):
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
    check_values(BenchmarkSettings, {"max_failures": max_failures})


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


# Whether a retry can help, and how long to wait before it: longer after every attempt, as long as the server asks.

MAX_CAUSES = 8  # errors that an error may come from, one from the other
FIRST_PAUSE = 0.1  # seconds before the first retry; each further pause is twice as long
LONGEST_PAUSE = 5.0
LONGEST_RETRY_AFTER = 60.0  # a server that asks for more is not asked again
TEMPORARY_STATUSES = (408, 425, 429)  # of HTTP, from 400 to 499; any other says that the request itself is wrong


def pause_before_retry(query: str, attempt: int, error: BaseException) -> float | None:
    """The seconds to wait after a failed attempt, counted from 1; None if a retry would fail too, or come too early.

    Between half of the pause and all of it, chosen by the query and the attempt, so that concurrent calls do not all
    return at the same moment and a test can tell what will happen.
    """
    if is_permanent(error):
        return None
    digest = hashlib.sha256(f"{attempt} {query}".encode("utf-8", "surrogatepass")).digest()
    share = 0.5 + int.from_bytes(digest[:8], "big") / 2**65
    pause = min(FIRST_PAUSE * 2.0 ** (attempt - 1), LONGEST_PAUSE) * share
    requested = retry_after(error)
    if requested is None:
        return pause
    return None if requested > LONGEST_RETRY_AFTER else max(pause, requested)


def is_permanent(error: BaseException) -> bool:
    """Whether the same request would fail again: the error, its status of HTTP or a certificate says so."""
    if getattr(error, "is_final", False) is True:
        return True
    status = status_of(error)
    return (status is not None and status not in TEMPORARY_STATUSES) or certificate_fault(error) is not None


def status_of(error: BaseException) -> int | None:
    """The status of HTTP from 400 to 499 that an error or its response has."""
    for holder in _holders(error):
        for status in (getattr(holder, "status_code", None), getattr(holder, "status", None)):
            if isinstance(status, int) and 400 <= status < 500:
                return status
    return None


def certificate_fault(error: BaseException | None) -> str | None:
    """Why the certificate of a server was not accepted, if that is what an error comes from."""
    for _ in range(MAX_CAUSES):
        if error is None:
            return None
        if isinstance(error, ssl.SSLCertVerificationError):
            return printable(error.verify_message)
        error = error.__cause__ or error.__context__
    return None


def retry_after(error: BaseException) -> float | None:
    """The seconds of ``Retry-After`` that an error or its response carries: a number, or a date."""
    for holder in _holders(error):
        for value in (getattr(holder, "retry_after", None), _header(getattr(holder, "headers", None))):
            seconds = _seconds(value)
            if seconds is not None:
                return seconds
    return None


def _holders(error: BaseException) -> list[Any]:
    """An error, its cause, and their responses."""
    errors = (error, error.__cause__)
    return [*errors, *(getattr(one, "response", None) for one in errors)]


def _header(headers: Any) -> Any:
    if not isinstance(headers, Mapping) and not callable(getattr(headers, "items", None)):
        return None
    return next((value for name, value in headers.items() if str(name).lower() == "retry-after"), None)


def _seconds(value: Any) -> float | None:
    """A number of seconds, or a date of HTTP, as seconds from now; None if it is neither."""
    if value is None or isinstance(value, bool):
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        try:
            seconds = parsedate_to_datetime(str(value)).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
