"""Times as users write them: a date, a time in UTC, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from rankgauge.errors import UsageError, shown

SAVED_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
AGO = re.compile(r"(\d{1,6})([hdw])")
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_time(text: str) -> datetime:
    """``2026-11-02``, ``2026-11-02T10:11:12Z`` or ``7d`` (days ago; also ``h`` and ``w``); UTC unless it says more."""
    ago = AGO.fullmatch(text)
    try:
        if ago is not None:
            return datetime.now(UTC) - int(ago[1]) * UNITS[ago[2]]
        time = datetime.fromisoformat(text)
        return (time.replace(tzinfo=UTC) if time.tzinfo is None else time).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"expected a time, found {shown(text)}", hint="write 2026-11-02, 2026-11-02T10:11:12Z, or 7d for a week ago"
        ) from None


def time_text(time: datetime) -> str:
    """A time as entries have it."""
    return time.astimezone(UTC).strftime(SAVED_FORMAT)
