"""A progress bar on standard error, for what takes longer than a second and only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from rankgauge.io.parallel import Report

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
