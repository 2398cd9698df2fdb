"""Files written whole or not at all, and never over an input."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rankgauge.errors import InputError


@contextmanager
def atomic(path: str | Path, *, inputs: Iterable[str | Path] = ()) -> Iterator[IO[bytes]]:
    """An open file that takes the place of ``path`` when the block ends well, and leaves no trace when it does not.

    Enter it before the work starts: a folder that cannot be written to, or a target that is one of ``inputs`` (by a
    symbolic link or another spelling too), is an error at once. Each call has a temporary name of its own, so that of
    two processes the last one wins and neither file is mixed. A link stays a link; a pipe or device is written to.
    """
    target = Path(os.path.realpath(path))
    refuse_inputs(path, inputs)
    if target.is_dir():
        raise InputError.at(path, None, "cannot write: it is a folder")
    if Path(path).exists() and not stat.S_ISREG(Path(path).stat().st_mode):
        with _said(path), Path(path).open("wb") as device:
            yield device
        return
    temporary = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}.tmp")
    with _said(path):
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        out = temporary.open("xb")
    try:
        with _said(path):
            with out:
                if mode is not None:
                    temporary.chmod(mode)
                yield out
                out.flush()
                os.fsync(out.fileno())
            os.replace(temporary, target)  # noqa: PTH105 - says what it does
            _sync_folder(target.parent)
    finally:
        # Gone already where all went well; an interrupt comes by here as well.
        with suppress(OSError):
            temporary.unlink()


def refuse_inputs(path: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise where an output is one of the inputs."""
    for given in inputs:
        same = os.path.realpath(given) == os.path.realpath(path)
        with suppress(OSError):
            same = same or Path(given).samefile(path)
        if same and str(given) != "-":
            raise InputError.at(path, None, f"would overwrite the input {given}", hint="name another file")


@contextmanager
def _said(path: str | Path) -> Iterator[None]:
    """An error of the system, as one that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError.at(path, None, f"cannot write: {error.strerror or error}") from None


def _sync_folder(folder: Path) -> None:
    """Make the new name last; systems that cannot do so for a folder are left alone."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
