"""Files that are written completely or not at all, and never over an input."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from rankgauge.errors import InputError, write_errors
from rankgauge.io.byte_streams import check_path, file_of
from rankgauge.io.owned_files import temporary_file


@contextmanager
def write_atomically(path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Iterator[IO[bytes]]:
    """An open file that replaces ``path`` if the block succeeds, and leaves no trace if it does not.

    Enter it before the work starts, or call ``check_writable`` then: a folder that is not writable, or a target that is
    one of ``inputs`` (also by a symbolic link or a different spelling), is an error at once. Each call has a temporary
    file of its own, so that of two processes the last one wins and their output is never mixed. A symbolic link is
    followed and kept; a pipe or a device is written to directly.
    """
    check_writable(path, inputs=inputs)
    with write_errors(path):
        target, mode = Path(os.path.realpath(path)), _mode(Path(path))
        if mode is not None and not stat.S_ISREG(mode):
            with Path(path).open("wb") as device:
                yield device
            return
        with temporary_file(target) as (temporary, out):
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            yield out
            out.flush()
            os.fsync(out.fileno())
            if os.name == "nt":
                out.close()  # elsewhere it stays locked, so that no process takes it for a leftover
            os.replace(temporary, target)  # noqa: PTH105 - the name says that it overwrites
        _sync_folder(target.parent)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write several files and the folders they need; if one does not fit on the disk, none is there."""
    created: list[Path] = []
    new = [path for path in contents if not path.exists()]
    try:
        for path in contents:
            missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
            for folder in reversed(missing):
                with write_errors(folder):
                    folder.mkdir(exist_ok=True)
                created.append(folder)
        with ExitStack() as stack:
            for path, content in contents.items():
                file = stack.enter_context(write_atomically(path))
                with write_errors(path):
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())  # of all, before the first one gets its name
    except BaseException:
        for path in new:  # an interrupt may come when some of them have their names
            with suppress(OSError):
                path.unlink()
        for folder in reversed(created):
            with suppress(OSError):
                folder.rmdir()
        raise


def check_writable(path: str | Path, *, inputs: Iterable[str | Path] = ()) -> None:
    """Raise, before the work, if a file cannot be written: what ``write_atomically`` would raise after it."""
    check_not_an_input(path, inputs)
    with write_errors(path):
        target, mode = Path(os.path.realpath(path)), _mode(Path(path))
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if mode is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if mode is None or stat.S_ISREG(mode):
            target.parent.stat()  # raises if there is no such folder
            if not os.access(target.parent, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "the folder is not writable")


def check_outputs(paths: Iterable[str | Path | None], *, inputs: Iterable[str | Path] = ()) -> None:
    """Raise, before the work, if one of several outputs cannot be written, or if two are the same file."""
    outputs = [path for path in paths if path is not None]
    for at, path in enumerate(outputs):
        check_writable(path, inputs=inputs)
        if any(os.path.realpath(path) == os.path.realpath(other) for other in outputs[:at]):
            raise InputError.at(path, None, "two outputs cannot be the same file", hint="choose another file")


def _mode(path: Path) -> int | None:
    """The type and the permissions of a file; None if there is none."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def check_not_an_input(path: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise if an output is one of the inputs."""
    check_path(path, "cannot write")
    for input_path in inputs:
        check_path(input_path, "cannot read")
        file = str(file_of(input_path))
        is_same = os.path.realpath(file) == os.path.realpath(path)
        with suppress(OSError):
            is_same = is_same or Path(file).samefile(path)
        if is_same and str(input_path) != "-":
            raise InputError.at(path, None, f"would overwrite the input {input_path}", hint="choose another file")


def _sync_folder(folder: Path) -> None:
    """Make a new name permanent, on systems that can do so for a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
