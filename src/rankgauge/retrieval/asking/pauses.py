"""Whether a retry can help, and how long to wait before it: longer after every attempt, as long as the server asks."""

from __future__ import annotations

import hashlib
import math
import ssl
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from rankgauge.errors import printable

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
