"""A progress bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable

Progress = Callable[[int, int], None]
BAR_WIDTH = 30


def draw_bar(done: int, total: int) -> None:
    """Draw the bar over the previous one; nothing if standard error is not a terminal."""
    if not sys.stderr.isatty():
        return
    filled = BAR_WIDTH * done // max(total, 1)
    end = "\n" if done == total else ""
    sys.stderr.write(f"\r[{'█' * filled}{'·' * (BAR_WIDTH - filled)}] {done} of {total} queries{end}")
    sys.stderr.flush()


def progress_function(progress: bool | Progress) -> Progress | None:
    """The bar for True, nothing for False, or the caller's own function."""
    if callable(progress):
        return progress
    return draw_bar if progress else None
