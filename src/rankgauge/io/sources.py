"""Where bytes come from: a file, standard input or a pipe; compression is detected from the first bytes."""

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
DATASET_PREFIX = "irds:"  # names a collection of ir_datasets instead of a file
MAX_BYTES_HINT = "raise the limit with --max-bytes"
MIN_SUSPECT_BYTES = 1 << 26  # output smaller than this is never suspected to be a decompression bomb
READ_BYTES = 1 << 20  # read at once


@dataclass(frozen=True)
class Limits:
    """What an input may not exceed, against decompression bombs and endless lines; and whether warnings are errors."""

    total: int = 1 << 40  # bytes, decompressed
    ratio: int = 250  # decompressed bytes per compressed byte
    line: int = 1 << 20  # bytes per line
    strict: bool = False  # whether input warnings are errors


DEFAULT_LIMITS = Limits()


class Digest(Protocol):
    """A hash that is being computed."""

    def update(self, data: bytes | memoryview, /) -> None:
        """Add bytes."""

    def hexdigest(self) -> str:
        """The hash of all bytes so far."""


class _CountedStream(io.RawIOBase):
    """A raw stream that counts the bytes read from it and, if requested, hashes them."""

    def __init__(self, inner: IO[bytes], digest: Digest | None) -> None:
        super().__init__()
        self.inner, self.digest, self.count = inner, digest, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # io passes a writable buffer
        size = cast(io.RawIOBase, self.inner).readinto(view) or 0
        self.count += size
        if self.digest is not None:
            self.digest.update(view[:size])
        return size


class ByteStream:
    """A source while it is read: decompresses it, enforces the limits, and reports every failure as an input error."""

    def __init__(self, path: str, raw: _CountedStream, limits: Limits) -> None:
        self.path, self.limits, self.bytes_read = path, limits, 0
        self._raw = raw
        buffered: io.BufferedReader[Any] = io.BufferedReader(raw, 1 << 16)
        self._inner = _decompressed(path, buffered, buffered.peek(8)[:8])
        self._is_compressed = self._inner is not buffered

    def readinto(self, view: memoryview) -> int:
        """Read into a buffer and return the number of bytes; 0 at the end."""
        try:
            size = self._inner.readinto(view) or 0
        except EOFError:
            raise InputError.at(self.path, None, "compressed stream ends early") from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise InputError.at(self.path, None, f"cannot read: {error.strerror}") from None
            if not self._is_compressed:
                raise
            # gzip, bz2, lzma and zstandard each have errors of their own.
            raise InputError.at(self.path, None, f"compressed stream is damaged: {error}") from None
        self.bytes_read += size
        self._check_limits()
        return size

    def _check_limits(self) -> None:
        limits = self.limits
        if self.bytes_read > limits.total:
            raise InputError.at(self.path, None, f"more than {limits.total} bytes", hint=MAX_BYTES_HINT)
        is_suspect = self._is_compressed and self.bytes_read > MIN_SUSPECT_BYTES
        if is_suspect and self.bytes_read > limits.ratio * max(1, self._raw.count):
            raise InputError.at(
                self.path,
                None,
                f"decompresses to more than {limits.ratio} times its size: this looks like a decompression bomb",
                hint="decompress it yourself if you trust it",
            )

    @property
    def sha256(self) -> str | None:
        """The hash of the file's bytes as they are stored, if it was requested."""
        return None if self._raw.digest is None else self._raw.digest.hexdigest()


class _Readable(Protocol):
    def readinto(self, view: memoryview, /) -> int | None:
        """Read into a buffer."""


def _decompressed(path: str, stream: io.BufferedReader[Any], first_bytes: bytes) -> _Readable:
    if first_bytes.startswith(GZIP):
        import gzip

        return cast(_Readable, gzip.GzipFile(fileobj=stream, mode="rb"))
    if first_bytes.startswith(BZIP2):
        import bz2

        return cast(_Readable, bz2.BZ2File(stream))
    if first_bytes.startswith(XZ):
        import lzma

        return cast(_Readable, lzma.LZMAFile(stream))
    if first_bytes.startswith(ZSTD):
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError(
                f"{path}: zstd needs the library zstandard", hint="pip install 'rankgauge[zstd]'"
            ) from None
        return cast(_Readable, zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True))
    return stream


def _new_sha256() -> Digest:
    import hashlib  # which most evaluations do without

    return cast(Digest, hashlib.sha256())


@contextmanager
def open_source(
    path: str | Path, *, source: str | None = None, limits: Limits = DEFAULT_LIMITS, hashed: bool = False
) -> Iterator[ByteStream]:
    """Open a source for reading; ``-`` is standard input. ``source`` is its name in messages."""
    name = str(path) if source is None else source
    digest = _new_sha256() if hashed else None
    try:
        raw = sys.stdin.buffer if str(path) == "-" else Path(path).open("rb", buffering=0)  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError.at(name, None, f"cannot read: {error.strerror or error}") from None
    try:
        yield ByteStream(name, _CountedStream(cast("IO[bytes]", raw), digest), limits)
    except OSError as error:
        raise InputError.at(name, None, f"cannot read: {error.strerror or error}") from None
    finally:
        if str(path) != "-":
            raw.close()


@contextmanager
def rereadable(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Iterator[Path]:
    """A file that can be read twice: the path itself, or a copy of standard input or of a pipe."""
    if str(path) != "-" and (Path(path).is_file() or not Path(path).exists() or Path(path).is_dir()):
        yield Path(path)
        return
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="rankgauge-") as copy:
        try:
            with sys.stdin.buffer if str(path) == "-" else Path(path).open("rb") as pipe:
                while data := pipe.read(READ_BYTES):
                    copy.write(data)
                    if copy.tell() > limits.total:
                        raise InputError.at(path, None, f"more than {limits.total} bytes", hint=MAX_BYTES_HINT)
        except OSError as error:
            raise InputError.at(path, None, f"cannot read: {error.strerror or error}") from None
        copy.flush()
        yield Path(copy.name)


def read_bytes(
    path: str | Path, *, source: str | None = None, limits: Limits = DEFAULT_LIMITS, hashed: bool = False
) -> tuple[bytes, str | None]:
    """All bytes of a source, decompressed, and the hash of the file if it was requested."""
    parts = []
    with open_source(path, source=source, limits=limits, hashed=hashed) as stream:
        view = memoryview(bytearray(READ_BYTES))
        while size := stream.readinto(view):
            parts.append(bytes(view[:size]))
        digest = stream.sha256
    return b"".join(parts), digest


def sha256_of_file(path: str | Path) -> str:
    """The hash of a file as it is stored, as ``sha256sum`` prints it."""
    digest = _new_sha256()
    try:
        with Path(path).open("rb") as file:
            while data := file.read(READ_BYTES):
                digest.update(data)
    except OSError as error:
        raise InputError.at(path, None, f"cannot read: {error.strerror or error}") from None
    return digest.hexdigest()


def is_dataset(path: object) -> bool:
    """Whether a path names a collection of ir_datasets."""
    return isinstance(path, str) and path.startswith(DATASET_PREFIX)


def source_name(path: str | Path) -> str:
    """The name of a source that was not given one."""
    return "stdin" if str(path) == "-" else Path(path).name
