"""The text of a line that shows a phase: imported when the first one is drawn."""

from __future__ import annotations

import codecs
import os
import sys

from rankgauge.core.formatting import plural
from rankgauge.core.progress import Phase

BAR_WIDTH, SHORTEST_BAR = 20, 5
WIDTH = 80  # if the terminal does not say
UNITS = ("B", "KB", "MB", "GB", "TB")
DAY, HOUR, MINUTE = 86_400, 3_600, 60


def line_of(phase: Phase, seconds: float, width: int = 0) -> str:
    """The name of a phase, how far it is, its rate, and the time that is left; with a bar if ``width`` has room."""
    done, total = phase.done, phase.total if phase.total >= phase.done else 0
    rate = (done - phase.first) / max(seconds, 1e-9)
    parts = [_amount(done, total, phase)]
    parts.append(f"{_size(int(rate))}/s" if phase.unit == "byte" else f"{_rate(rate)}/s")
    if total > done and rate > 0:
        parts.append(f"{duration((total - done) / rate)} left")
    room = width - len("  ".join([phase.name, "[]", *parts]))
    bar = [_bar(done / total, min(room, BAR_WIDTH))] if total and room >= SHORTEST_BAR else []
    line = "  ".join([phase.name, *bar, *parts])
    return line[:width] if width else line


def _bar(share: float, width: int) -> str:
    full, empty = ("█", "·") if _can_encode("█·") else ("#", ".")
    filled = int(share * width)
    return f"[{full * filled}{empty * (width - filled)}]"


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


def _amount(done: int, total: int, phase: Phase) -> str:
    if phase.unit == "byte":
        return f"{_size(done)} of {_size(total)}" if total else _size(done)
    if total and phase.is_estimate:
        step = 10 ** max(len(str(total)) - 2, 0)  # two digits
        return f"{done:,} of about {plural(round(total / step) * step, phase.unit)}"
    return f"{done:,} of {plural(total, phase.unit)}" if total else plural(done, phase.unit)


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
