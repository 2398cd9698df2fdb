"""Every error that a user can cause; warnings; and how text from outside is shown in them.

    RankgaugeError              the base class; has the exit code of the command line
    ├── InputError              a file or a value is wrong (exit 2); also a ValueError
    │   └── InputTypeError      a value has the wrong type; also a TypeError
    ├── UsageError              the call is wrong (exit 64); also a ValueError
    │   └── MeasureError        a measure's name or parameter is wrong
    ├── RetrieverError          a live retriever failed for too many queries (exit 1)
    ├── MissingExtraError       an optional library is not installed (exit 64); also an ImportError
    └── StorageError            the system cannot store a file, for example on a full disk (exit 71)

A message says where (``file:line``), what was found and what was expected; ``hint`` says what to do.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

SHOWN_FAULTS = 20
SHOWN_CHARACTERS = 60
PACKAGE_FOLDER = os.path.dirname(__file__) + os.sep  # noqa: PTH120 - pathlib would cost every start-up


class RankgaugeError(Exception):
    """The base class of all errors that rankgauge raises on purpose."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class InputError(RankgaugeError, ValueError):
    """A file or a value is invalid."""

    exit_code = 2

    @classmethod
    def at(cls, source: str | Path | None, line: int | None, message: str, *, hint: str | None = None) -> InputError:
        """An error at one line of a source."""
        return cls(location(source, line) + message, hint=hint)

    @classmethod
    def from_faults(
        cls,
        source: str | Path,
        faults: Sequence[Fault],
        total: int | None = None,
        *,
        place: Callable[[int | None], str] | None = None,
    ) -> InputError:
        """One error for all faults of a source: the first few, then the total.

        ``place`` says where a line is, if the source is more than one file.
        """
        count = len(faults) if total is None else total
        places = [location(source, fault.line) if place is None else place(fault.line) for fault in faults]
        lines = [at + fault.message for at, fault in zip(places[:SHOWN_FAULTS], faults, strict=False)]
        if count > len(lines):
            lines.append(f"{location(source, None)}{count} errors in all, the first {len(lines)} shown")
        hints = [fault.action for fault in faults[:SHOWN_FAULTS] if fault.action]
        return cls("\n".join(lines), hint="\nhint: ".join(dict.fromkeys(hints)) or None)


class InputTypeError(InputError, TypeError):
    """A value has the wrong type."""


class UsageError(RankgaugeError, ValueError):
    """The call is wrong: an option, an argument or a combination of them."""

    exit_code = 64


class MeasureError(UsageError):
    """A measure's name or one of its parameters is wrong."""


class RetrieverError(RankgaugeError):
    """A retriever failed for too many queries; ``result`` is what the others gave, if they were scored."""

    def __init__(self, message: str, *, hint: str | None = None, result: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.result = result


class MissingExtraError(RankgaugeError, ImportError):
    """An optional library is needed but not installed."""

    exit_code = 64


class StorageError(RankgaugeError):
    """The system cannot store a file: the disk is full or fails, or a limit is reached."""

    exit_code = 71


AGAIN = "and run the command again"
WRITABLE_HINT = "name a file in a folder that you can write to"
STORAGE_HINTS = {
    errno.ENOSPC: f"free space on this disk, or name an output on another one, {AGAIN}",
    errno.EDQUOT: f"free space of your quota, or name an output on another disk, {AGAIN}",
    errno.EFBIG: f"raise the limit on the size of files (ulimit -f), {AGAIN}",
    errno.EIO: f"check this disk, or name an output on another one, {AGAIN}",
    errno.EMFILE: f"raise the limit on open files (ulimit -n), {AGAIN}",
    errno.ENFILE: f"close other programs, {AGAIN}",
}


def write_error(path: str | Path, error: OSError, *, hint: str | None = None) -> RankgaugeError:
    """The error for a file that cannot be written: what failed is the system, or the choice of the file."""
    message = f"{location(path, None)}cannot write: {error.strerror or error}"
    system_hint = STORAGE_HINTS.get(error.errno or 0)
    if system_hint is not None:
        return StorageError(message, hint=hint or system_hint)
    is_forbidden = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT)
    return InputError(message, hint=hint or (WRITABLE_HINT if is_forbidden else None))


@contextmanager
def write_errors(path: str | Path) -> Iterator[None]:
    """Turn an error of the operating system into one that names the file, and says what to do."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise write_error(path, error) from None


Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One error in a source: where, what was found, what was expected, and what to do."""

    code: str
    line: int | None
    found: str
    expected: str
    action: str | None = None
    severity: Severity = "error"
    key: str = ""  # of a configuration

    @property
    def message(self) -> str:
        """One sentence."""
        return f"{self.key}: {self.complaint}" if self.key else self.complaint

    @property
    def complaint(self) -> str:
        """What was expected, and what was found."""
        return f"expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class Note:
    """A caveat about a number, with a stable code."""

    code: str
    message: str


class RankgaugeWarning(UserWarning):
    """An input that was accepted, with a caveat. Python shows each message once, unless a filter asks for more."""

    is_noted = False  # whether a note of the result says it, too, which a command prints


_issued: set[str] = set()  # messages; Python forgets what it has shown whenever a library changes a filter
_held: ContextVar[list[str] | None] = ContextVar("held_warnings", default=None)


@contextmanager
def held_warnings() -> Iterator[list[str]]:
    """The warnings of this thread, for the caller to issue or to drop; Python's own way changes all threads."""
    messages: list[str] = []
    token = _held.set(messages)
    try:
        yield messages
    finally:
        _held.reset(token)


def found_text(value: object, *, with_value: bool = False) -> str:
    """What was found in place of something else: its type, and its value if that helps; None is only None."""
    if value is None:
        return "None"
    return f"{type(value).__name__}: {shown(repr(value))}" if with_value else type(value).__name__


def warn_user(message: str, *, is_noted: bool = False) -> None:
    """Warn of an input that was accepted, once for each message; the only place that issues a Python warning.

    ``is_noted`` says that a note of the result has the same message: in Python, a note is easily missed.

    The warning belongs to the line that called rankgauge. That line names its file in angle brackets, for which Python
    looks for no source: a message about a run is not followed by a line of code.
    """
    held = _held.get()
    if held is not None:
        held.append(message)
        return
    if _is_shown_once(message):
        if message in _issued:
            return
        _issued.add(message)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    name = os.path.basename(frame.f_code.co_filename).strip("<>")  # noqa: PTH119 - as above
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__")
    warning = RankgaugeWarning(message)
    warning.is_noted = is_noted
    warnings.warn_explicit(warning, None, f"<{name}>", frame.f_lineno, module, registry)


def _is_shown_once(message: str) -> bool:
    """Whether no filter asks for more, for less or for an error."""
    for action, pattern, category, *_ in warnings.filters:
        if issubclass(RankgaugeWarning, category) and (pattern is None or pattern.match(message)):
            return action in ("default", "module", "once")
    return True


def other_version(source: str | Path, kind: str, found: int | str, expected: int | str, action: str) -> InputError:
    """The error for a file of our own that has another version; ``action`` says what to do."""
    version = printable(str(found))
    return InputError.at(
        source, None, f"{kind} of version {version}, but this rankgauge reads version {expected}: {action}"
    )


def location(source: str | Path | None, line: int | None) -> str:
    """The ``file:line: `` that precedes a message."""
    if source is None:
        return "" if line is None else f"line {line}: "
    name = printable(str(source), limit=None)
    return f"{name}: " if line is None else f"{name}:{line}: "


def shown(value: bytes | str, limit: int = SHOWN_CHARACTERS) -> str:
    """Text from data, quoted, masked and shortened, without control characters."""
    return f"'{printable(value, limit)}'"


def printable(value: bytes | str, limit: int | None = SHOWN_CHARACTERS) -> str:
    """Text from data with control characters, and bytes that are not UTF-8, escaped with a backslash.

    Secrets are masked if there is a limit, before the text is shortened; without one, the text is whole.
    """
    if limit is not None:
        from rankgauge.secrets import mask_start  # few commands quote data

        value = mask_start(value, limit + 1)
    elif isinstance(value, bytes):
        value = value.decode("utf-8", "surrogateescape")
    value = rejoined(value)
    out = []
    for character in value:
        code = ord(character)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\x{code - 0xDC00:02x}")
        elif character.isprintable():
            out.append(character)
        else:
            out.append(character.encode("unicode_escape", "backslashreplace").decode("ascii"))
    if limit is not None and len(out) > limit:
        out[limit:] = ["…"]
    return "".join(out)


def rejoined(text: str) -> str:
    """A text in which bytes that make a character are one: in the C locale, file names come as single bytes."""
    try:
        return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, from JSON
        return text


def nearest(name: str, choices: Sequence[str], least: float = 0.5) -> str | None:
    """The choice closest to a misspelled name, if any is close; ``least`` is how close, up to 1."""
    import difflib

    folded = {choice.casefold(): choice for choice in reversed(choices) if 2 * len(choice) >= len(name)}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=least)
    return folded[close[0]] if close else None


def escape_id(value: bytes) -> str:
    """An id with everything but plain ASCII escaped, because what matters is what cannot be seen."""
    text = value.decode("utf-8", "surrogateescape")
    return shown("".join(c if " " < c < "\x7f" else c.encode("unicode_escape").decode("ascii") for c in text))
