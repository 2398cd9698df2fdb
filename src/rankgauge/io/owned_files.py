"""Files and folders that rankgauge makes for itself: temporaries, journals and working folders.

None is opened through a symbolic link, and none that somebody else made is changed or deleted. Each is locked while it
is in use, so that what a killed process left behind differs from what a living one uses: leftovers are deleted when the
next process writes into the same folder. A system without such locks keeps them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rankgauge.errors import InputError, write_error, write_errors

TEMPORARY_SUFFIX = ".rankgauge.tmp"
LOCK_FILE = ".rankgauge.lock"  # in a folder of ours
LOCK_MAGIC = b"rankgauge lock\n"
MAX_NAME_BYTES = 100  # of the target's name, in the name of its temporary file
ATTEMPTS = 5  # at a folder that another process takes for a leftover
OPEN_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_swept: set[tuple[int, str]] = set()  # process and folder


@contextmanager
def temporary_file(target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file beside ``target``, open and locked; deleted at the end, unless renamed."""
    sweep(target.parent)
    while True:
        path, is_ours = _temporary_name(target), True
        try:  # from here on: an interrupt may come as soon as the file exists
            try:
                file = _open(path, os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                is_ours = False
                continue
            with file:
                if _locked(file) and _is_same_file(file, path):
                    yield path, file
                    return
                # Otherwise another process took it for a leftover before it was locked.
        finally:
            if is_ours:
                with suppress(OSError):
                    path.unlink()


@contextmanager
def temporary_folder(target: Path | None = None) -> Iterator[Path]:
    """A new folder beside ``target``, or among the system's temporary files; deleted at the end, unless renamed."""
    import shutil
    import tempfile

    is_private = target is None
    target = target or Path(tempfile.gettempdir()) / "rankgauge"
    sweep(target.parent)
    for attempts_left in reversed(range(ATTEMPTS)):
        path = _temporary_name(target)
        with write_errors(path):
            path.mkdir(mode=0o700 if is_private else 0o777)
        is_locked = False
        try:
            with lock_folder(path):
                is_locked = True
                yield path
                return
        except InputError:
            if is_locked or not attempts_left:
                raise
            # Otherwise another process may have taken it for a leftover before it was locked.
        finally:
            with suppress(OSError):
                shutil.rmtree(path)


def nameless_file() -> IO[bytes]:
    """A new file without a name among the system's temporary files (``TMPDIR``): it ends with its process, however.

    Writes are not buffered, so that what a full disk refuses is known at once.
    """
    import tempfile

    return tempfile.TemporaryFile("w+b", buffering=0, prefix="rankgauge-", suffix=TEMPORARY_SUFFIX)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Mark a folder as ours, and let no other process use it; the mark stays until ``LOCK_FILE`` is deleted."""
    with open_locked(folder / LOCK_FILE, LOCK_MAGIC, "a lock") as file:
        with write_errors(folder / LOCK_FILE):
            os.write(file.fileno(), LOCK_MAGIC)  # unbuffered: what a full disk refuses is not written later
        yield


def is_marked(folder: Path) -> bool:
    """Whether ``lock_folder`` marked a folder, or was interrupted when it did."""
    try:
        with _open(folder / LOCK_FILE) as file:
            return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and LOCK_MAGIC.startswith(file.read(100))
    except OSError:
        return False


def open_locked(path: Path, magic: bytes, kind: str) -> IO[bytes]:
    """Open or create a file of ours to read and append to, for this process only.

    A file of ours begins with ``magic``. Raises if this one does not, is not a regular file (or only a link to one), or
    is locked by another process. One that is new, or whose writer was killed at once, holds less than ``magic``.
    """
    while True:
        try:
            file = _open(path, os.O_CREAT)
        except (OSError, ValueError) as error:
            if path.is_symlink() or not isinstance(error, OSError):
                reason = "it is a symbolic link" if path.is_symlink() else error
                raise InputError.at(path, None, f"cannot write: {reason}") from None
            raise write_error(path, error) from None
        try:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError.at(path, None, "cannot write: it is not a regular file")
            head = read_locked(file, path, len(magic))
            if not magic.startswith(head):
                raise InputError.at(
                    path,
                    None,
                    f"exists and is not {kind} that rankgauge wrote, so it is not touched",
                    hint="move it, or name another output",
                )
            if not _locked(file):
                raise InputError.at(path, None, "another process is using it", hint="wait, or name another output")
            if _is_same_file(file, path):
                file.seek(0)
                return file
        except BaseException:
            file.close()
            raise
        file.close()  # its last user deleted it between opening and locking


def read_locked(file: IO[bytes], path: Path, size: int = -1) -> bytes:
    """Bytes of a file that ``open_locked`` opened, all that follow if no size is given."""
    try:
        return file.read(size)
    except OSError as error:
        raise InputError.at(path, None, f"cannot read: {error.strerror or error}") from None


def remove_locked(file: IO[bytes], path: Path) -> None:
    """Delete a file that ``open_locked`` opened, if it is still the one at this path."""
    if _is_same_file(file, path):
        path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Delete the temporaries that killed processes left in a folder; each process looks once."""
    key = (os.getpid(), str(folder))
    if key in _swept:
        return
    _swept.add(key)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(TEMPORARY_SUFFIX):
                with suppress(OSError):
                    _remove_leftover(Path(entry.path), is_folder=entry.is_dir(follow_symlinks=False))


def _remove_leftover(path: Path, *, is_folder: bool) -> None:
    try:
        import fcntl
    except ImportError:
        return
    lock_path = path / LOCK_FILE if is_folder else path
    with _open(lock_path) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return
        if is_folder and not is_marked(path):
            return
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if its process is alive
        if is_folder:
            import shutil

            shutil.rmtree(path)
        else:
            remove_locked(file, path)


def _open(path: Path, flags: int = 0) -> IO[bytes]:
    """Open a file to read and write; one that is created can be read by everybody that the umask allows."""
    return open(path, "r+b", opener=lambda name, _: os.open(name, OPEN_FLAGS | flags, 0o666))


def _temporary_name(target: Path) -> Path:
    """A name of its own for each call, so that the output of two processes is never mixed."""
    whole_characters = os.fsencode(target.name)[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    name = os.fsdecode(whole_characters.encode())  # file names are ASCII in the C locale, and other bytes surrogates
    return target.with_name(f".{name}.{os.urandom(6).hex()}{TEMPORARY_SUFFIX}")


def _locked(file: IO[bytes]) -> bool:
    """Lock a file; False if another process has. A system without locks leaves that to the user."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks
    return True


def _is_same_file(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat(follow_symlinks=False))
    except OSError:
        return False
