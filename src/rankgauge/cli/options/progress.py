"""Progress on standard error: a bar for what takes longer than a second, and a line for fetching."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from click import echo

if TYPE_CHECKING:
    from rich.progress import Progress

    from rankgauge.io.join.parallel import Report

PATIENCE = 1.0  # seconds before anything is shown


@contextmanager
def bar(what: str) -> Iterator[Report | None]:
    """Something to report bytes to; None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = _Bar(what)
    try:
        yield shown.report
    finally:
        shown.close()


class _Bar:
    def __init__(self, what: str) -> None:
        self.what, self.begun = what, time.monotonic()
        self.rich: Progress | None = None

    def report(self, done: int, total: int) -> None:
        if self.rich is None:
            if time.monotonic() - self.begun < PATIENCE:
                return
            self.rich = _rich()
            self.rich.start()
            self.rich.add_task(self.what, total=total or None)
        self.rich.update(self.rich.task_ids[0], completed=done, total=total or None)

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
    """How fetching gets on: a line that is written over on a terminal, one every ten seconds elsewhere."""

    def __init__(self, what: str = "") -> None:
        self._what = f"{what}: " if what else ""
        self._terminal, self._last, self._open = sys.stderr.isatty(), time.monotonic(), False
        self._first: tuple[int, float] | None = None

    def __call__(self, done: int, total: int, seconds: float) -> None:
        """Say it, if the last time is long enough ago."""
        now = time.monotonic()
        first, begun = self._first or (done, seconds)
        self._first = (first, begun)
        if now - self._last < (0.2 if self._terminal else 10) and done < total:
            return
        if not self._terminal and done == total:
            return
        self._last = now
        rate = (done - first) / (seconds - begun) if seconds > begun and done > first else done / max(seconds, 1e-9)
        left = (total - done) / max(rate, 1e-9)
        line = f"{self._what}fetched {done} of {total} queries, {rate:.0f}/s, {left:.0f} s left"
        echo(f"\r{line}\x1b[K" if self._terminal else line, err=True, nl=not self._terminal)
        self._open = self._terminal

    def end(self) -> None:
        """Clear the line."""
        if self._open:
            echo("\r\x1b[K", err=True, nl=False)
