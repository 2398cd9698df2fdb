"""Times as users write them: a date, a time in UTC, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from rankgauge.errors import UsageError, shown

CLOCK_TOLERANCE = timedelta(days=1)  # by which the clock of another machine may be ahead
SAVED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
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


def is_saved_time(text: str) -> bool:
    """Whether a text is a time as entries have it, and there is such a time."""
    try:
        return SAVED.fullmatch(text) is not None and datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def latest_time() -> str:
    """The latest time that an entry can have: now, and a day more for clocks that are ahead."""
    return time_text(datetime.now(UTC) + CLOCK_TOLERANCE)


def time_text(time: datetime) -> str:
    """A time as entries have it."""
    return time.astimezone(UTC).strftime(SAVED_FORMAT)
