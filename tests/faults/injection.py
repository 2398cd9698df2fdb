"""Errors, signals and kills at a chosen operation: open, write, fsync, truncate, rename, mkdir, unlink, rmdir.

``inject`` replaces the functions of this process that change files, and counts their calls. At the chosen one it kills
the process (``os._exit``), interrupts it, or raises what the operating system would: before the operation, after it, or
in the middle of a write. It is used in a forked process, so nothing is ever restored.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

KILLED = 77  # the exit code of a process that was killed here
Moment = Literal["before", "half", "after"]
Action = Literal["kill", "interrupt", "error", "full"]
FAILS_ON_A_FULL_DISK = ("open", "write", "mkdir", "fsync")


@dataclass
class Fault:
    """What happens at which operation. ``full`` is a disk without space: all later writes fail too."""

    index: int = -1
    moment: Moment = "before"
    action: Action = "kill"
    operations: list[str] = field(default_factory=list)
    has_fired: bool = False

    def perform(self, name: str, what: object, call: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        """Perform an operation, or not."""
        number = len(self.operations)
        self.operations.append(f"{name} {what}")
        is_full = self.has_fired and self.action == "full" and name in FAILS_ON_A_FULL_DISK
        if number != self.index and not is_full:
            return call()
        self.has_fired = True
        if self.moment == "half" and half is not None:
            half()
        result = call() if self.moment == "after" else None
        if self.action == "kill":
            os._exit(KILLED)
        if self.action == "interrupt":
            raise KeyboardInterrupt  # as the handler of a signal would
        if self.moment == "after" and name not in ("write", "fsync"):
            return result  # an operation that was done is not reported as failed; the next one is killed or fails
        code = errno.ENOSPC if self.action == "full" else errno.EIO
        raise OSError(code, os.strerror(code))


def inject(fault: Fault) -> None:
    """Replace the functions of this process that change files."""
    real_open = io.open

    class FaultyFile(io.FileIO):
        def write(self, data: Any) -> Any:
            view = memoryview(data).cast("B")
            return fault.perform(
                "write",
                f"{len(view)} bytes",
                lambda: super(FaultyFile, self).write(view),
                lambda: super(FaultyFile, self).write(view[: len(view) // 2]),
            )

        def truncate(self, size: int | None = None) -> int:
            result: int = fault.perform("truncate", size, lambda: super(FaultyFile, self).truncate(size))
            return result

    def faulty_open(file: Any, mode: str = "r", buffering: int = -1, *options: Any, **named: Any) -> Any:
        if not set(mode) & set("wax+"):
            return real_open(file, mode, buffering, *options, **named)
        closefd, opener = named.pop("closefd", True), named.pop("opener", None)
        raw_mode = "".join(letter for letter in mode if letter not in "bt")
        raw = fault.perform("open", file, lambda: FaultyFile(file, raw_mode, closefd, opener))
        if buffering == 0:
            return raw
        binary = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return binary if "b" in mode else io.TextIOWrapper(binary, *options, **named)

    io.open = faulty_open
    builtins.open = faulty_open
    for name, label in (
        ("open", "open"), ("fsync", "fsync"), ("replace", "rename"), ("rename", "rename"), ("mkdir", "mkdir"),
        ("unlink", "unlink"), ("remove", "unlink"), ("rmdir", "rmdir"), ("ftruncate", "truncate"),
    ):  # fmt: skip
        _replace(os, name, label, fault)


def _replace(module: Any, name: str, label: str, fault: Fault) -> None:
    real = getattr(module, name)

    def stand_in(*arguments: Any, **named: Any) -> Any:
        changes_nothing = name == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if changes_nothing or arguments[0] == os.devnull:
            return real(*arguments, **named)
        return fault.perform(label, arguments[0] if arguments else "", lambda: real(*arguments, **named))

    setattr(module, name, stand_in)
