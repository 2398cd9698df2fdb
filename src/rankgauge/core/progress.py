"""Phases of long work, and the line that shows them: whoever does the work reports to a phase.

Without a listener, reports cost next to nothing. A command line listens; so does a notebook, by default.
"""

from __future__ import annotations

import codecs
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rankgauge.core.formatting import byte_size, plural, short_duration, text_of

Progress = Callable[[int, int], None]  # what is done, and how much there is (0 if unknown)
DELAY = 1.0  # seconds of a phase before it is shown on a terminal
REDRAW, REPEAT = 0.2, 10.0  # seconds between two lines: one over the other, one below the other
GAP = 0.5  # seconds after which a phase of the same name is a new one
SILENCE_VARIABLE = "RANKGAUGE_PROGRESS"  # 0 shows no progress
BAR_WIDTH, SHORTEST_BAR = 20, 5
WIDTH = 80  # if the terminal does not say
DAY, HOUR, MINUTE = 86_400, 3_600, 60


class Phase:
    """One phase of some work: reading, indexing, embedding, fetching, testing, …"""

    def __init__(self, name: str, unit: str, total: int = 0, listener: ProgressLine | None = None) -> None:
        self.name, self.unit, self.total, self.done = name, unit, total, 0
        self.is_estimate = False  # whether the total is one
        self.first = 0  # what was done in an earlier session, and does not count for the rate
        self.started = self.ended = time.monotonic()
        self._listener = listener

    def report(self, done: int, total: int = 0) -> None:
        """Report how much is done, and of how much."""
        if self._listener is None:
            return
        self.done, self.total = done, max(total, self.total)
        self._listener.show(self)

    def advance(self, count: int) -> None:
        """Report that more is done."""
        self.report(self.done + count)

    def expect(self, count: int) -> None:
        """Raise a total that is known if it does not cover ``count`` more."""
        if self.total:
            self.total = max(self.total, self.done + count)


class ProgressLine:
    """One line on standard error: overwritten on a terminal and in a notebook, else a new one every ten seconds.

    There are no escape sequences in it, so that every terminal understands it.
    """

    def __init__(self) -> None:
        self.open_phases: list[Phase] = []
        self.closed: Phase | None = None  # the last one
        self._overwrites = sys.stderr.isatty() or is_notebook()
        self._drawn = 0.0
        self._length = 0  # of the line that can be seen

    def show(self, phase: Phase) -> None:
        """Draw the line, if the phase is long enough and the last line old enough."""
        now = time.monotonic()
        delay, pause = (DELAY, REDRAW) if self._overwrites else (REPEAT, REPEAT)
        if now - phase.started < delay or now - self._drawn < pause:
            return
        self._drawn = now
        if not self._overwrites:
            self._write(f"{line_of(phase, now - phase.started)}\n")
            return
        text = line_of(phase, now - phase.started, terminal_width() - 1)
        self._write(f"\r{text}{' ' * (self._length - len(text))}")
        self._length = len(text)

    def clear(self) -> None:
        """Remove the line, because something else is printed or the phase has ended."""
        if self._length:
            self._write(f"\r{' ' * self._length}\r")
            self._length = 0

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):  # closed: the work goes on
            self._length = 0


_LISTENER: ContextVar[ProgressLine | None] = ContextVar("progress_listener", default=None)


@contextmanager
def listening(listener: ProgressLine | None) -> Iterator[None]:
    """Report phases to a listener; to none if it is None."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def phase(name: str, unit: str, total: int = 0, *, is_part: bool = False) -> Iterator[Phase]:
    """A phase of work, of which ``total`` units are expected; one of the same name that is open goes on instead.

    ``is_part`` says that it may be one of many short ones, which are shown as one.
    """
    listener = _current_listener()
    if listener is None:
        yield Phase(name, unit, total)
        return
    outer = next((other for other in listener.open_phases if other.name == name), None)
    if outer is not None:
        outer.expect(total)
        yield outer
        return
    opened = (_reopened(listener.closed, name) if is_part else None) or Phase(name, unit, total, listener)
    listener.open_phases.append(opened)
    try:
        yield opened
    finally:
        listener.open_phases.remove(opened)
        listener.clear()
        opened.ended, listener.closed = time.monotonic(), opened


def _reopened(last: Phase | None, name: str) -> Phase | None:
    """The last phase, if it had this name and ended just now; nobody knows how many more will follow."""
    if last is None or last.name != name or time.monotonic() - last.ended > GAP:
        return None
    last.total = 0
    return last


@contextmanager
def reported(progress: Progress | None, name: str, unit: str, total: int = 0) -> Iterator[Progress]:
    """What to report to: the caller's own function if there is one, else a phase."""
    if progress is not None:
        yield progress
        return
    with phase(name, unit, total) as opened:
        yield opened.report


@contextmanager
def shown(*, wanted: bool = True) -> Iterator[None]:
    """Show the phases of some work, on a line on standard error, unless somebody listens already."""
    if not wanted or _LISTENER.get() is not None:
        yield
        return
    with listening(default_listener()):
        yield


def clear_line() -> None:
    """Make room for a message while phases are shown."""
    listener = _LISTENER.get()
    if listener is not None:
        listener.clear()


def default_listener() -> ProgressLine | None:
    """A line on standard error; None if the user wants none."""
    return None if os.environ.get(SILENCE_VARIABLE) == "0" else ProgressLine()


def is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "ipykernel" in sys.modules and shell is not None and hasattr(shell, "kernel")


def _current_listener() -> ProgressLine | None:
    listener = _LISTENER.get()
    if listener is None and "ipykernel" in sys.modules and is_notebook():
        listener = default_listener()
        _LISTENER.set(listener)
    return listener


def line_of(phase: Phase, seconds: float, width: int = 0) -> str:
    """The name of a phase, how far it is, its rate, and the time that is left; with a bar if ``width`` has room."""
    done, total = phase.done, phase.total if phase.total >= phase.done else 0
    rate = (done - phase.first) / max(seconds, 1e-9)
    parts = [_amount(done, total, phase)]
    parts.append(f"{byte_size(int(rate))}/s" if phase.unit == "byte" else f"{_rate(rate)}/s")
    if total > done and rate > 0:
        parts.append(f"{short_duration((total - done) / rate)} left")
    room = width - len("  ".join([phase.name, "[]", *parts]))
    bar = [_bar(done / total, min(room, BAR_WIDTH))] if total and room >= SHORTEST_BAR else []
    line = "  ".join([phase.name, *bar, *parts])
    return line[:width] if width else line


def _bar(share: float, width: int) -> str:
    full, empty = ("█", "·") if _can_encode("█·") else ("#", ".")
    filled = int(share * width)
    return f"[{full * filled}{empty * (width - filled)}]"


def _amount(done: int, total: int, phase: Phase) -> str:
    if phase.unit == "byte":
        return f"{byte_size(done)} of {byte_size(total)}" if total else byte_size(done)
    if total and phase.is_estimate:
        step = 10 ** max(len(str(total)) - 2, 0)  # two digits
        return f"{done:,} of about {plural(round(total / step) * step, phase.unit)}"
    return f"{done:,} of {plural(total, phase.unit)}" if total else plural(done, phase.unit)


def _rate(rate: float) -> str:
    return text_of(rate, "count") if rate >= 10 else text_of(rate, "value", digits=1)


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
