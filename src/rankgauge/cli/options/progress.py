"""Progress on standard error: a bar for reading that takes over a second, and lines for fetching and matching."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from click import echo

from rankgauge.core.formatting import plural

if TYPE_CHECKING:
    from rich.progress import Progress

    from rankgauge.io.options import ReadProgress

DELAY = 1.0  # seconds before anything is shown


@contextmanager
def bar(label: str) -> Iterator[ReadProgress | None]:
    """A function to report bytes to; None if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    progress = _Bar(label)
    try:
        yield progress.report
    finally:
        progress.close()


class _Bar:
    def __init__(self, label: str) -> None:
        self.label, self.started = label, time.monotonic()
        self.rich: Progress | None = None

    def report(self, completed: int, total: int) -> None:
        if self.rich is None:
            if time.monotonic() - self.started < DELAY:
                return
            self.rich = _rich()
            self.rich.start()
            self.rich.add_task(self.label, total=total or None)
        self.rich.update(self.rich.task_ids[0], completed=completed, total=total or None)

    def close(self) -> None:
        if self.rich is not None:
            self.rich.stop()


def _rich() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


class FetchLine:
    """Progress of fetching: a line that is overwritten on a terminal, one line every ten seconds elsewhere."""

    def __init__(self, label: str = "", verb: str = "fetched", unit: str = "query") -> None:
        self._label = f"{label}: {verb}" if label else verb
        self._unit = unit
        self._terminal, self._last, self._open = sys.stderr.isatty(), time.monotonic(), False
        self._first: tuple[int, float] | None = None

    def __call__(self, completed: int, total: int, seconds: float) -> None:
        """Print the line if the last one is old enough."""
        now = time.monotonic()
        first, started = self._first or (completed, seconds)
        self._first = (first, started)
        if now - self._last < (0.2 if self._terminal else 10) and completed < total:
            return
        if not self._terminal and completed == total:
            return
        self._last = now
        resumed = seconds > started and completed > first  # the rate since the first line, without earlier answers
        rate = (completed - first) / (seconds - started) if resumed else completed / max(seconds, 1e-9)
        left = (total - completed) / max(rate, 1e-9)
        line = f"{self._label} {completed:,} of {plural(total, self._unit)}, {rate:.0f}/s, {left:.0f} s left"
        echo(f"\r{line}\x1b[K" if self._terminal else line, err=True, nl=not self._terminal)
        self._open = self._terminal

    def end(self) -> None:
        """Clear the line."""
        if self._open:
            echo("\r\x1b[K", err=True, nl=False)


class MatchLine(FetchLine):
    """Progress of matching quotes with chunks, in the same way; the number of chunks may not be known yet."""

    def show(self, completed: int, total: int | None) -> None:
        """Print the line if the last one is old enough."""
        now = time.monotonic()
        if now - self._last < (DELAY if self._terminal else 10):
            return
        self._last = now
        chunks = plural(completed, "chunk") if total is None else f"{completed:,} of {plural(total, 'chunk')}"
        line = f"compared quotes with {chunks}{', allowing edits' if total is not None else ''}"
        echo(f"\r{line}\x1b[K" if self._terminal else line, err=True, nl=not self._terminal)
        self._open = self._terminal


@contextmanager
def match_progress() -> Iterator[Callable[[int, int | None], None]]:
    """A function to report chunks to."""
    line = MatchLine()
    try:
        yield line.show
    finally:
        line.end()
