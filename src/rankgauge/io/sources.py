"""Where bytes come from: a file, standard input or a pipe; compressed or not, known by the first bytes."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from rankgauge.errors import InputError, MissingExtraError

GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
SCHEME = "irds:"  # a collection of ir_datasets instead of a file
RAISE = "raise it with --max-bytes"
SUSPECT = 1 << 26  # below this many bytes no ratio of compression is suspect


@dataclass(frozen=True)
class Limits:
    """What an input may not exceed, against bombs and endless lines; and whether it may be odd at all."""

    total: int = 1 << 40  # bytes, unpacked
    ratio: int = 250  # bytes out for each byte in
    line: int = 1 << 20  # bytes on one line
    strict: bool = False  # whether what is read with a warning is an error


DEFAULT = Limits()


class Digest(Protocol):
    """A hash in the making."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Take in some bytes."""

    def hexdigest(self) -> str:
        """What it came to."""


class _Counted(io.RawIOBase):
    """A raw stream that counts what was read from it and, where asked, hashes it."""

    def __init__(self, inner: IO[bytes], digest: Digest | None) -> None:
        super().__init__()
        self.inner, self.digest, self.count = inner, digest, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # io hands over a writable buffer
        size = cast(io.RawIOBase, self.inner).readinto(view) or 0
        self.count += size
        if self.digest is not None:
            self.digest.update(view[:size])
        return size


class Stream:
    """A source as it is read: fills buffers, knows the limits, turns what goes wrong into one clear error."""

    def __init__(self, path: str, raw: _Counted, limits: Limits) -> None:
        self.path, self.limits, self.done = path, limits, 0
        self._raw = raw
        plain: io.BufferedReader[Any] = io.BufferedReader(raw, 1 << 16)
        self._inner = _unpacked(path, plain, plain.peek(8)[:8])
        self._packed = self._inner is not plain

    def readinto(self, view: memoryview) -> int:
        """Fill as much of a buffer as there is; 0 at the end."""
        try:
            size = self._inner.readinto(view) or 0
        except EOFError:
            raise InputError.at(self.path, None, "compressed stream ends early") from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise InputError.at(self.path, None, f"cannot read: {error.strerror}") from None
            if not self._packed:
                raise
            # gzip, bz2, lzma and zstandard each have errors of their own.
            raise InputError.at(self.path, None, f"compressed stream is damaged: {error}") from None
        self.done += size
        limits = self.limits
        if self.done > limits.total:
            raise InputError.at(self.path, None, f"more than {limits.total} bytes", hint=RAISE)
        if self._packed and self.done > SUSPECT and self.done > limits.ratio * max(1, self._raw.count):
            raise InputError.at(
                self.path,
                None,
                f"unpacks to more than {limits.ratio} times its size: this looks like a bomb",
                hint="unpack it yourself if you trust it",
            )
        return size

    @property
    def sha256(self) -> str | None:
        """The hash of the file's bytes as they are stored, where that was asked for."""
        return None if self._raw.digest is None else self._raw.digest.hexdigest()


class _Readable(Protocol):
    def readinto(self, view: memoryview, /) -> int | None:
        """Fill a buffer."""


def _unpacked(path: str, packed: io.BufferedReader[Any], magic: bytes) -> _Readable:
    if magic.startswith(GZIP):
        import gzip

        return cast(_Readable, gzip.GzipFile(fileobj=packed, mode="rb"))
    if magic.startswith(BZIP2):
        import bz2

        return cast(_Readable, bz2.BZ2File(packed))
    if magic.startswith(XZ):
        import lzma

        return cast(_Readable, lzma.LZMAFile(packed))
    if magic.startswith(ZSTD):
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError(
                f"{path}: zstd needs the library zstandard", hint="pip install 'rankgauge[zstd]'"
            ) from None
        return cast(_Readable, zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True))
    return packed


def _sha256() -> Digest:
    import hashlib  # which most evaluations do without

    return cast(Digest, hashlib.sha256())


@contextmanager
def opened(
    path: str | Path, *, source: str | None = None, limits: Limits = DEFAULT, hashed: bool = False
) -> Iterator[Stream]:
    """Open a source for reading; ``-`` is standard input. ``source`` is what to call it in a message."""
    name = str(path) if source is None else source
    digest = _sha256() if hashed else None
    try:
        raw = sys.stdin.buffer if str(path) == "-" else Path(path).open("rb", buffering=0)  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError.at(name, None, f"cannot read: {error.strerror or error}") from None
    try:
        yield Stream(name, _Counted(cast("IO[bytes]", raw), digest), limits)
    except OSError as error:
        raise InputError.at(name, None, f"cannot read: {error.strerror or error}") from None
    finally:
        if str(path) != "-":
            raw.close()


@contextmanager
def rereadable(path: str | Path, *, limits: Limits = DEFAULT) -> Iterator[Path]:
    """A file that can be read twice: the path itself, or a copy of what standard input or a pipe gives."""
    if str(path) != "-" and (Path(path).is_file() or not Path(path).exists() or Path(path).is_dir()):
        yield Path(path)
        return
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="rankgauge-") as copy:
        try:
            with sys.stdin.buffer if str(path) == "-" else Path(path).open("rb") as pipe:
                while data := pipe.read(1 << 20):
                    copy.write(data)
                    if copy.tell() > limits.total:
                        raise InputError.at(path, None, f"more than {limits.total} bytes", hint=RAISE)
        except OSError as error:
            raise InputError.at(path, None, f"cannot read: {error.strerror or error}") from None
        copy.flush()
        yield Path(copy.name)


def read_bytes(
    path: str | Path, *, source: str | None = None, limits: Limits = DEFAULT, hashed: bool = False
) -> tuple[bytes, str | None]:
    """All of a source, and its hash where that was asked for."""
    parts = []
    with opened(path, source=source, limits=limits, hashed=hashed) as stream:
        view = memoryview(bytearray(1 << 20))
        while size := stream.readinto(view):
            parts.append(bytes(view[:size]))
        digest = stream.sha256
    return b"".join(parts), digest


def is_dataset(path: object) -> bool:
    """Whether a path names a collection of ir_datasets."""
    return isinstance(path, str) and path.startswith(SCHEME)


def name_of(path: str | Path) -> str:
    """What to call a source that has no name of its own."""
    return "stdin" if str(path) == "-" else Path(path).name
