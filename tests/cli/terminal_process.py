"""A process without threads that runs commands on a terminal, each in a fork of itself, which is quick and safe.

It reads one JSON object per line (``arguments``, ``width``, ``variables``) and answers with what the command printed.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import sys
import termios
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NoReturn

import rankgauge.cli.commands
from rankgauge.cli.main import run


def main() -> None:
    """Import what every command needs, then run commands until standard input ends."""
    for name in ("scipy.stats", "rankgauge.comparison.compare"):
        import_module(name)
    for module in iter_modules(rankgauge.cli.commands.__path__):
        import_module(f"rankgauge.cli.commands.{module.name}")
    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.write(json.dumps(_printed(**request)) + "\n")
        sys.stdout.flush()


def _printed(**request: Any) -> str:
    child, terminal = pty.fork()
    if not child:
        _run_child(**request)
    chunks = []
    with suppress(OSError):  # the end, on Linux
        while chunk := os.read(terminal, 65536):
            chunks.append(chunk)
    os.waitpid(child, 0)
    os.close(terminal)
    return b"".join(chunks).decode().replace("\r\n", "\n")


def _run_child(arguments: list[str], width: int, folder: str, variables: dict[str, str]) -> NoReturn:
    """Run a command in the child of a fork, whose three streams are a terminal."""
    try:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        for name in ("COLUMNS", "NO_COLOR"):
            os.environ.pop(name, None)
        os.environ.update({"TERM": "xterm", **variables})
        os.chdir(folder)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(fd, mode, encoding="utf-8") for fd, mode in enumerate("rww"))
        run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
