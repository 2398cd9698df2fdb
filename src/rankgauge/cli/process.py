"""The process of a command: its streams, the signals that end it, and failures as messages and exit codes."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType

import click

from rankgauge._version import __version__
from rankgauge.errors import RankgaugeError, RankgaugeWarning, printable, shown, write_error

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


# Whatever ends a command early, as a message on standard error and an exit code.

EXIT_BAD_INPUT, EXIT_USAGE, EXIT_BUG, EXIT_SYSTEM = 2, 64, 70, 71
EXIT_INTERRUPTED, EXIT_BROKEN_PIPE = 130, 141
DEBUG_VARIABLE = "RANKGAUGE_DEBUG"  # set to anything, it shows the traceback of every error
BUG_HINT = "report it on the project's issue tracker, with the command and the lines above"
MEMORY_HINT = (
    "give the process more memory (ulimit -v), evaluate fewer runs at once, or read one run after the other: "
    "performance: {parallel_processing: false} in rankgauge.yaml"
)
FILES_HINT = "allow the process more (ulimit -n), or fewer calls at once (--set retriever.concurrency=N)"
LIBRARY_HINT = (
    "if memory is limited (ulimit -v), allow more; otherwise install rankgauge again: pip install --force-reinstall"
)
LOCALE_HINT = "set PYTHONUTF8=1, or a UTF-8 locale: LC_ALL=C.UTF-8"
NUMBER_KINDS = {
    "float range": "a number",
    "float": "a number",
    "integer range": "a whole number",
    "integer": "a whole number",
}
ARGUMENT_ERRORS = ("Missing argument", "Got unexpected extra argument", "No such option")
SOURCE_FOLDER = Path(__file__).parents[1]


def report_failure(error: BaseException) -> int:
    """Print what ended a command, and return the exit code."""
    if DEBUG_VARIABLE in os.environ and not isinstance(error, click.exceptions.Exit):
        _print_traceback(error)
    with suppress(OSError):  # if standard error cannot be written to, there is nowhere to say so
        return _report(error)
    return EXIT_BAD_INPUT


def _report(error: BaseException) -> int:
    match error:
        case click.exceptions.Exit():
            return _flushed(error.exit_code)
        case SystemExit():
            if isinstance(error.code, int) or error.code is None:
                text = f"the command did not end by itself: its code called sys.exit({error.code})"
                return _print_error(text, None, EXIT_BAD_INPUT)
            return _print_error(printable(_masked(str(error.code)), None), None, EXIT_BAD_INPUT)
        case click.exceptions.Abort():
            return EXIT_INTERRUPTED
        case KeyboardInterrupt():
            click.echo(f"ended by {error}" if str(error) else "interrupted", err=True)
            return getattr(error, "exit_code", EXIT_INTERRUPTED)
        case click.ClickException():
            return _print_usage_error(error)
        case RankgaugeError():
            return _print_error(str(error), None, error.exit_code)
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            return _print_error("too many open files", FILES_HINT, EXIT_SYSTEM)
        case OSError(errno=errno.ENOMEM):
            return _print_error("out of memory", MEMORY_HINT, EXIT_SYSTEM)
        case BrokenPipeError():
            discard_stdout()  # the reader is gone: print nothing, now and at exit
            return EXIT_BROKEN_PIPE
        case OSError():
            # Commands report errors of their own files, so this is standard output: a full disk, for example.
            discard_stdout()
            return _report(write_error(error.filename or "standard output", error))
        case UnicodeEncodeError() if error.encoding == sys.getfilesystemencoding() != "utf-8":
            part = next((part for part in Path(error.object).parts if not part.isascii()), error.object)
            message = f"cannot use the name {shown(part)}: this locale has {error.encoding.upper()} file names"
            return _print_error(message, LOCALE_HINT, EXIT_SYSTEM)
        case MemoryError():
            return _print_error("out of memory", MEMORY_HINT, EXIT_SYSTEM)
        case ImportError() if not (error.name or "").startswith("rankgauge"):
            lines = _masked(str(error)).splitlines()
            reason = printable(next(filter(None, reversed(lines)), "no reason given"), None)
            return _print_error(f"cannot load a library: {reason}", LIBRARY_HINT, EXIT_SYSTEM)
        case _:
            return _print_unexpected(error)


def _flushed(code: int) -> int:
    """The exit code of a command that has printed everything, or that of the failure to print it."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _report(error)
    return code


def _print_usage_error(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    hint = None if context is None else f"{context.command_path} --help"
    message = " ".join(error.format_message().split())  # choices are on lines of their own
    for kind, expected in NUMBER_KINDS.items():
        message = message.replace(f"is not a valid {kind}.", f"is not {expected}.")
    if context is not None and message.startswith(ARGUMENT_ERRORS):
        message += f"\nusage: {' '.join([context.command_path, *context.command.collect_usage_pieces(context)])}"
    return _print_error(message, hint, EXIT_USAGE)


def _print_unexpected(error: BaseException) -> int:
    """Print an error of the user's own code with its place, or one of rankgauge with its traceback."""
    message = f"{type(error).__name__}: {printable(_masked(str(error)), None)}"
    user_line = _line_of_user_code(error.__traceback__)
    if user_line is not None:
        hint = None if DEBUG_VARIABLE in os.environ else f"{DEBUG_VARIABLE}=1 shows the traceback"
        return _print_error(f"{user_line}: {message}", hint, EXIT_BAD_INPUT)
    if DEBUG_VARIABLE not in os.environ:
        _print_traceback(error)
    return _print_error(f"this is a bug in rankgauge {__version__}: {message}", BUG_HINT, EXIT_BUG)


def _print_traceback(error: BaseException) -> None:
    click.echo(_masked("".join(traceback.format_exception(error))), err=True, nl=False)


def _masked(text: str) -> str:
    """Text of foreign code, without secrets."""
    from rankgauge.secrets import mask_secrets  # not needed by a command that succeeds

    return mask_secrets(text)


def _line_of_user_code(trace: TracebackType | None) -> str | None:
    """The innermost line that is part neither of rankgauge nor of an installed library; None if there is none."""
    library_folders = [SOURCE_FOLDER, Path(os.__file__).parent, *_site_folders()]
    found = None
    for frame in traceback.extract_tb(trace):
        path = Path(frame.filename)
        is_file = path.is_absolute() and path.is_file()
        if is_file and not any(path.is_relative_to(folder) for folder in library_folders):
            found = f"{printable(frame.filename, None)}:{frame.lineno}"
        elif path.is_relative_to(SOURCE_FOLDER):
            found = None
    return found


def _site_folders() -> list[Path]:
    import sysconfig

    return [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]


def _print_error(message: str, hint: str | None, code: int) -> int:
    from rankgauge.cli.printing import print_message  # not needed by a command that succeeds

    print_message(f"error: {message}" + (f"\nhint: {hint}" if hint else ""))
    return code
