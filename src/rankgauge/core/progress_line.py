"""The text of a line that shows a phase: imported when the first one is drawn."""

from __future__ import annotations

import codecs
import os
import sys

from rankgauge.core.formatting import plural
from rankgauge.core.progress import Phase

BAR_WIDTH = 20
WIDTH = 80  # if the terminal does not say
UNITS = ("B", "KB", "MB", "GB", "TB")
DAY, HOUR, MINUTE = 86_400, 3_600, 60


def line_of(phase: Phase, seconds: float, *, bar: bool = True) -> str:
    """The name of a phase, how far it is, its rate, and the time that is left."""
    done, total = phase.done, phase.total if phase.total >= phase.done else 0
    rate = (done - phase.first) / max(seconds, 1e-9)
    parts = [phase.name]
    if total and bar:
        full, empty = ("█", "·") if _can_encode("█·") else ("#", ".")
        filled = min(BAR_WIDTH * done // total, BAR_WIDTH)
        parts.append(f"[{full * filled}{empty * (BAR_WIDTH - filled)}]")
    parts.append(_amount(done, total, phase.unit, "about " if phase.is_estimate else ""))
    parts.append(f"{_size(int(rate))}/s" if phase.unit == "byte" else f"{_rate(rate)}/s")
    if total > done and rate > 0:
        parts.append(f"{duration((total - done) / rate)} left")
    return "  ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as people say them: 12 s, 3 min, 2 h 5 min."""
    whole = max(round(seconds), 1)
    if whole < 2 * MINUTE:
        return f"{whole} s"
    if whole < 2 * HOUR:
        return f"{round(whole / MINUTE)} min"
    if whole < 2 * DAY:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"
    return f"{round(whole / DAY)} days"


def _amount(done: int, total: int, unit: str, about: str) -> str:
    if unit == "byte":
        return f"{_size(done)} of {about}{_size(total)}" if total else _size(done)
    return f"{done:,} of {about}{plural(total, unit)}" if total else plural(done, unit)


def _size(count: int) -> str:
    value, unit = float(count), UNITS[0]
    for unit in UNITS:
        if value < 1000 or unit == UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if value >= 100 or unit == UNITS[0] else f"{value:.1f} {unit}"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def terminal_width() -> int:
    """The width of the terminal behind standard error."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or WIDTH
    except (OSError, ValueError):  # a notebook has no file behind it
        return WIDTH


def _can_encode(text: str) -> bool:
    encoding = getattr(sys.stderr, "encoding", None) or "ascii"
    try:
        text.encode(codecs.lookup(encoding).name)
    except (LookupError, UnicodeEncodeError):
        return False
    return True
