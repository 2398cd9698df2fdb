"""Files that are written completely or not at all, and never over an input."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rankgauge.errors import InputError


@contextmanager
def write_atomically(path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Iterator[IO[bytes]]:
    """An open file that replaces ``path`` if the block succeeds, and leaves no trace if it does not.

    Enter it before the work starts: a folder that is not writable, or a target that is one of ``inputs`` (also by a
    symbolic link or a different spelling), is an error at once. Each call has a temporary name of its own, so that of
    two processes the last one wins and their output is never mixed. A symbolic link is followed and kept; a pipe or a
    device is written to directly.
    """
    target = Path(os.path.realpath(path))
    check_not_an_input(path, inputs)
    if target.is_dir():
        raise InputError.at(path, None, "cannot write: it is a folder")
    if Path(path).exists() and not stat.S_ISREG(Path(path).stat().st_mode):
        with _errors_as_input_errors(path), Path(path).open("wb") as device:
            yield device
        return
    temporary = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.tmp")
    with _errors_as_input_errors(path):
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        out = temporary.open("xb")
    try:
        with _errors_as_input_errors(path):
            with out:
                if mode is not None:
                    temporary.chmod(mode)
                yield out
                out.flush()
                os.fsync(out.fileno())
            os.replace(temporary, target)  # noqa: PTH105 - the name says that it overwrites
            _sync_folder(target.parent)
    finally:
        # After success it no longer exists; an interrupt passes here too.
        with suppress(OSError):
            temporary.unlink()


def check_not_an_input(path: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise if an output is one of the inputs."""
    for input_path in inputs:
        is_same = os.path.realpath(input_path) == os.path.realpath(path)
        with suppress(OSError):
            is_same = is_same or Path(input_path).samefile(path)
        if is_same and str(input_path) != "-":
            raise InputError.at(path, None, f"would overwrite the input {input_path}", hint="choose another file")


@contextmanager
def _errors_as_input_errors(path: str | Path) -> Iterator[None]:
    """Turn an error of the operating system into one that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError.at(path, None, f"cannot write: {error.strerror or error}") from None


def _sync_folder(folder: Path) -> None:
    """Make a new name permanent, on systems that can do so for a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
