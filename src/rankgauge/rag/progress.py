"""A bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable

Progress = Callable[[int, int], None]
WIDTH = 30


def bar(done: int, total: int) -> None:
    """Draw how far it is over what was drawn before; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        return
    full = WIDTH * done // max(total, 1)
    end = "\n" if done == total else ""
    sys.stderr.write(f"\r[{'█' * full}{'·' * (WIDTH - full)}] {done} of {total} queries{end}")
    sys.stderr.flush()


def as_progress(given: bool | Progress) -> Progress | None:
    """The bar, a function of the caller's, or nothing."""
    if callable(given):
        return given
    return bar if given else None
