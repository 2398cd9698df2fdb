"""Single keys from the terminal, or from a file: one line of keys, or ``n`` and a note."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

QUIT = "q"
ESCAPE_SECONDS = 0.05  # in which the rest of the sequence of a key arrives
_ESCAPE, _END_OF_FILE = b"\x1b", b"\x04"


class Keys(Protocol):
    """Where keys come from."""

    interactive: bool

    def read(self) -> str:
        """The next key; ``q`` at the end."""

    def read_line(self, prompt: str) -> str:
        """A line of text."""


@contextmanager
def open_keys() -> Iterator[Keys]:
    """Keys of the terminal, each as soon as it is pressed; or those of a file or pipe that is standard input."""
    if not sys.stdin.isatty():
        yield _FileKeys()
        return
    import termios
    import tty

    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle)
        yield _TerminalKeys(handle, before)
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


class _TerminalKeys:
    interactive = True

    def __init__(self, handle: int, cooked: Any) -> None:
        self._handle, self._cooked = handle, cooked

    def read(self) -> str:
        data = os.read(self._handle, 1)
        if data in (b"", _END_OF_FILE):
            return QUIT
        if data == _ESCAPE:
            self._drop_sequence()
            return ""
        while len(data) < 4 and data[0] >= 0xC0 and not _is_complete(data):
            data += os.read(self._handle, 1)
        return data.decode("utf-8", "replace")

    def read_line(self, prompt: str) -> str:
        """A line, with the terminal's own editing."""
        import termios
        import tty

        termios.tcsetattr(self._handle, termios.TCSADRAIN, self._cooked)
        try:
            sys.stderr.write(f"\n{prompt}")
            sys.stderr.flush()
            return sys.stdin.readline().rstrip("\n")
        finally:
            tty.setcbreak(self._handle)

    def _drop_sequence(self) -> None:
        """Read the rest of the sequence that an arrow or function key sends; Escape alone sends none."""
        if not select.select([self._handle], [], [], ESCAPE_SECONDS)[0]:
            return
        first = os.read(self._handle, 1)
        if first in (b"[", b"O"):
            while not b"@" <= os.read(self._handle, 1) <= b"~":
                pass


class _FileKeys:
    interactive = False

    def __init__(self) -> None:
        self._waiting = ""

    def read(self) -> str:
        while not self._waiting:
            line = sys.stdin.readline()
            if not line:
                return QUIT
            text = line.strip()
            self._waiting = text
        key, self._waiting = self._waiting[0], self._waiting[1:]
        return key

    def read_line(self, prompt: str) -> str:
        """The rest of the line."""
        text, self._waiting = self._waiting, ""
        return text


def _is_complete(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
