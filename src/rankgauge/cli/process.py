"""The process of a command: its three streams, and what ends it from outside."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rankgauge.errors import RankgaugeWarning, printable

CLOSED_BY = ("SIGTERM", "SIGHUP")  # signals that end a command as an interrupt does, with everything cleaned up


class Terminated(KeyboardInterrupt):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


def handle_signals() -> None:
    """Clean up on the signals that ask a process to end; a second one ends it at once."""
    for name in CLOSED_BY:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup, for one, ignores SIGHUP
            signal.signal(number, _terminate)


def _terminate(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise Terminated(number)


def end_quietly() -> None:
    """Let an interrupt that arrives while the interpreter shuts down end it without a traceback."""
    for name in ("SIGINT", *CLOSED_BY):
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def open_missing_streams() -> None:
    """Give a process that was started with a closed stream one that fails, as a closed one would.

    Otherwise the next file that is opened would take its place, and messages would be written into that file.
    """
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            _open_at(number, flags)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print a Python warning that no command collects as one line on standard error, once, without source code.

    Those of rankgauge are never errors here, whatever ``python -W`` says: ``--strict`` makes them errors.
    """
    printed: set[str] = set()

    def print_line(message: Warning | str, *_: object, **__: object) -> None:
        line = f"warning: {printable(str(message), None)}"
        if line not in printed:
            printed.add(line)
            sys.stderr.write(line + "\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always", RankgaugeWarning)
        warnings.showwarning = print_line
        yield


def discard_stdout() -> None:
    """Write nothing more to standard output, which failed: also not what is buffered, when the process ends."""
    _open_at(sys.stdout.fileno(), os.O_WRONLY)


def _open_at(number: int, flags: int) -> None:
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
