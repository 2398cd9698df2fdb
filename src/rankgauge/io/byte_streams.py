"""Where bytes come from: a file, standard input, a pipe or memory; decompressed, limited and hashed on the way."""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO, Any, Protocol, cast

from rankgauge.core.dataclass import dataclass
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import InputError, MissingExtraError

GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
ENTRY_FILE = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})T[\d-]{8}Z-(?P<system>.+)-[0-9a-f]{8}(\.log)?\.jsonl(\.gz)?"
)  # of a history
SELECTOR_MARK = "#"  # between a file and the list in it: tests.json#queries
DATASET_PREFIX = "irds:"  # names a collection of ir_datasets instead of a file
MAX_BYTES_HINT = "raise the limit: --set reading.max_bytes=SIZE"
DAMAGED_HINT = "copy or download it again"
SERVER_HINT = "describe the server in a YAML file, and name that file (docs/guides/http.md)"
MIN_SUSPECT_BYTES = 1 << 26  # output smaller than this is never suspected to be a decompression bomb
READ_BYTES = 1 << 20  # read at once
COMPRESSED_BYTES = 1 << 16  # given to a decompressor at once
ZSTD_BYTES = 1 << 10  # the same for zstd: 4 bytes can contain 128 KiB


@dataclass(frozen=True)
class Limits:
    """What an input may not exceed, against decompression bombs and endless lines; and whether warnings are errors."""

    max_bytes: int = setting(
        1 << 40, "The maximum decompressed size of a file.", Section.FILES, kind="size", flag="reading.max_bytes"
    )
    max_line: int = setting(
        1 << 20, "The maximum length of a line.", Section.FILES, kind="size", flag="reading.max_line"
    )
    strict: bool = setting(False, "Treat input warnings as errors.", Section.FILES)
    ratio: int = 250  # decompressed bytes per compressed byte

    def __post_init__(self) -> None:
        check_settings(self)


DEFAULT_LIMITS = Limits()
MAX_DOCUMENT_BYTES = 1 << 26  # a document may be far longer than a line of a run


def document_limits(limits: Limits = DEFAULT_LIMITS) -> Limits:
    """Limits of an input, with room for long documents."""
    return replace(limits, max_line=max(limits.max_line, MAX_DOCUMENT_BYTES))


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

    def __init__(self, path: str, file: IO[bytes], limits: Limits, *, hashed: bool = False) -> None:
        self.path, self.limits = path, limits
        self._file, self._hashed = file, hashed
        self._state = _file_state(file)
        self._start()

    def _start(self) -> None:
        self.bytes_read, self._head, self._head_at = 0, bytearray(), 0
        self._raw = _CountedStream(self._file, _new_sha256() if self._hashed else None)
        buffered: io.BufferedReader[Any] = io.BufferedReader(self._raw, 1 << 16)
        self._inner = _decompressed(self.path, buffered, buffered.peek(8)[:8])
        self._is_compressed = self._inner is not buffered

    def rewind(self) -> None:
        """Start again at the first byte, without opening the file again."""
        self._file.seek(0)
        self._start()

    def stored_size(self) -> int:
        """The bytes of the file as it is stored; 0 if that is not known."""
        try:
            return os.fstat(self._file.fileno()).st_size
        except (OSError, AttributeError):  # in memory, or something that is not a file
            return len(self._file.getbuffer()) if isinstance(self._file, io.BytesIO) else 0

    def head(self, size: int) -> bytes:
        """The first bytes, at least this many if there are; reading still starts with them."""
        while len(self._head) < size and self.grow_head(size) is not None:
            pass
        return bytes(self._head)

    @property
    def seekable_file(self) -> IO[bytes] | None:
        """The file itself, for a reader that looks here and there in it; None if it is compressed."""
        return None if self._is_compressed else self._file

    def read_to_end(self) -> None:
        """Read and forget what is left, for the hash."""
        view = memoryview(bytearray(READ_BYTES))
        while self.readinto(view):
            pass

    def grow_head(self, size: int) -> bytes | None:
        """The first bytes, with up to ``size`` more than last time; None at the end. Reading starts before them."""
        view = memoryview(bytearray(size))
        count = self._read(view)
        self._head += view[:count]
        return bytes(self._head) if count else None

    def readinto(self, view: memoryview) -> int:
        """Read into a buffer and return the number of bytes; 0 at the end."""
        kept = len(self._head) - self._head_at
        if not kept:
            return self._read(view)
        size = min(kept, len(view))
        view[:size] = self._head[self._head_at : self._head_at + size]
        self._head_at += size
        return size

    def read(self) -> bytes:
        """All that is left."""
        parts = []
        view = memoryview(bytearray(READ_BYTES))
        while size := self.readinto(view):
            parts.append(bytes(view[:size]))
        return b"".join(parts)

    def _read(self, view: memoryview) -> int:
        try:
            size = self._inner.readinto(view) or 0
        except EOFError:
            self.check_unchanged()
            raise InputError.at(self.path, None, "compressed stream ends early", hint=DAMAGED_HINT) from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise _unreadable(self.path, error) from None
            if not self._is_compressed or isinstance(error, MemoryError):
                raise
            # gzip, bz2, lzma and zstandard each have errors of their own.
            self.check_unchanged()
            raise InputError.at(self.path, None, f"compressed stream is damaged: {error}", hint=DAMAGED_HINT) from None
        if not size:
            self.check_unchanged()
        self.bytes_read += size
        self._check_limits()
        return size

    def check_unchanged(self) -> None:
        """Raise if the file was written to while it was read."""
        _check_unchanged(self.path, self._file, self._state)

    def _check_limits(self) -> None:
        limits = self.limits
        if self.bytes_read > limits.max_bytes:
            raise InputError.at(self.path, None, f"more than {limits.max_bytes} bytes", hint=MAX_BYTES_HINT)
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


def _file_state(file: IO[bytes]) -> tuple[int, int] | None:
    """What differs after a file was written to; None for a pipe, a device or bytes in memory."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, AttributeError):  # in memory, or something that is not a file
        return None
    return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _check_unchanged(path: str | Path, file: IO[bytes], state: tuple[int, int] | None) -> None:
    """Raise if a file was written to after its state was taken: what was read may be a part of it, or of two files."""
    if state != _file_state(file):
        raise InputError.at(
            path, None, "it changed while it was read", hint="try again when nothing writes to this file"
        )


def _unreadable(path: str | Path, error: OSError) -> InputError:
    if is_url(str(path)):
        return InputError.at(path, None, "is a URL, not a file", hint=SERVER_HINT)
    return InputError.at(path, None, f"cannot read: {error.strerror or error}")


def is_url(text: str) -> bool:
    """Whether a text is the URL of a server, where a file or a retriever is expected."""
    return text.startswith(("http://", "https://"))


class _Readable(Protocol):
    def readinto(self, view: memoryview, /) -> int | None:
        """Read into a buffer."""


class _Member(Protocol):
    """A decompressor of one member: bzip2, xz and zstd files may have several, one after the other."""

    @property
    def eof(self) -> bool:
        """Whether the member is complete."""

    @property
    def unused_data(self) -> bytes:
        """The bytes that were given after its end."""

    @property
    def needs_input(self) -> bool:
        """Whether it has nothing left to give."""

    def decompress(self, data: bytes, /, max_length: int = -1) -> bytes:
        """What some bytes contain."""


class _ZstdMember:
    """A frame of zstd. Its decompressor has no maximum, so ``ZSTD_BYTES`` bound what it gives at once."""

    needs_input = True

    def __init__(self, decompressor: Any) -> None:
        self._frame = decompressor.decompressobj()

    @property
    def eof(self) -> bool:
        """Whether the frame is complete."""
        return bool(self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        """The bytes that were given after its end."""
        return bytes(self._frame.unused_data)

    def decompress(self, data: bytes, /, max_length: int = -1) -> bytes:
        """What some bytes contain."""
        return bytes(self._frame.decompress(data))


class _Members:
    """The content of all members of a file; a member that ends early, or is followed by other bytes, is an error.

    The readers of the libraries accept both: that of zstd a part of a frame, those of bzip2 and xz anything behind the
    first member. Zeros after a member are padding, as in a gzip file.
    """

    def __init__(self, stream: io.BufferedReader[Any], new_member: Callable[[], _Member], at_once: int) -> None:
        self._stream, self._new_member, self._at_once = stream, new_member, at_once
        self._member, self._content = new_member(), memoryview(b"")

    def readinto(self, view: memoryview, /) -> int:
        """Read into a buffer and return the number of bytes; 0 at the end."""
        while not self._content:
            data = b""
            if self._member.eof:
                data = self._next_member()
                if not data:
                    return 0
                self._member = self._new_member()
            elif self._member.needs_input and not (data := self._stream.read(self._at_once)):
                raise EOFError
            self._content = memoryview(self._member.decompress(data, max_length=len(view)))
        size = min(len(view), len(self._content))
        view[:size] = self._content[:size]
        self._content = self._content[size:]
        return size

    def _next_member(self) -> bytes:
        """Its first bytes; nothing at the end of the file."""
        data = self._member.unused_data.lstrip(b"\0")
        while not data and (more := self._stream.read(self._at_once)):
            data = more.lstrip(b"\0")
        return data


def _decompressed(path: str, stream: io.BufferedReader[Any], first_bytes: bytes) -> _Readable:
    if first_bytes.startswith(GZIP):
        import gzip

        return cast(_Readable, gzip.GzipFile(fileobj=stream, mode="rb"))
    if first_bytes.startswith(BZIP2):
        import bz2

        return _Members(stream, bz2.BZ2Decompressor, COMPRESSED_BYTES)
    if first_bytes.startswith(XZ):
        import lzma

        return _Members(stream, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), COMPRESSED_BYTES)
    if first_bytes.startswith(ZSTD):
        library = zstd_library(path)
        return _Members(stream, lambda: _ZstdMember(library.ZstdDecompressor()), ZSTD_BYTES)
    return stream


def zstd_library(name: str) -> Any:
    """The library for zstd; ``name`` is what needs it."""
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"{name}: zstd needs the library zstandard", hint="pip install 'rankgauge[zstd]'"
        ) from None
    return zstandard


def _new_sha256() -> Digest:
    import hashlib  # which most evaluations do without

    return cast(Digest, hashlib.sha256())


@dataclass(frozen=True, eq=False)
class LoadedFile(os.PathLike[str]):
    """A file whose bytes are in memory, so that several readers need no second look at the disk."""

    path: str
    stored: bytes  # as they are on disk, perhaps compressed

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    @cached_property
    def sha256(self) -> str:
        """The hash of the file as it is stored."""
        digest = _new_sha256()
        digest.update(self.stored)
        return digest.hexdigest()


AnyFile = str | Path | LoadedFile


def check_path(path: AnyFile, problem: str) -> None:
    """Raise if no file can have this name."""
    if "\0" in str(path):
        raise InputError.at(str(path), None, f"{problem}: the name contains a NUL character")


def load_file(path: str | Path) -> LoadedFile:
    """Read a file, or standard input, into memory, as it is stored."""
    if str(path) == "-":
        check_stdin("-")
        try:
            return LoadedFile("-", sys.stdin.buffer.read())
        except OSError as error:
            raise _unreadable(path, error) from None
    with open_stored(Path(file_of(path))) as file:
        return LoadedFile(str(path), file.read())


def loaded(file: AnyFile) -> LoadedFile:
    """A file in memory: read now, unless it is there already."""
    return file if isinstance(file, LoadedFile) else load_file(file)


@contextmanager
def open_stored(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to read from as it is stored, compressed or not; a failure to do so is an error that names it."""
    check_path(path, "cannot read")
    try:
        with Path(path).open("rb") as file:
            state = _file_state(file)
            yield file
            _check_unchanged(path, file, state)
    except OSError as error:
        raise _unreadable(path, error) from None


def check_stdin(name: str) -> None:
    """Raise if there is no standard input."""
    if sys.stdin is None:
        raise InputError.at(name, None, "cannot read: standard input is closed")


@contextmanager
def open_source(
    path: AnyFile, *, source: str | None = None, limits: Limits = DEFAULT_LIMITS, hashed: bool = False
) -> Iterator[ByteStream]:
    """Open a source for reading; ``-`` is standard input. ``source`` is its name in messages."""
    name = str(path) if source is None else source
    check_path(path, "cannot read")
    if str(path) == "-":
        check_stdin(name)
    try:
        raw: Any = (
            io.BytesIO(path.stored)
            if isinstance(path, LoadedFile)
            else sys.stdin.buffer
            if str(path) == "-"
            else Path(file_of(path)).open("rb", buffering=0)  # noqa: SIM115 - closed below
        )
    except OSError as error:
        raise _unreadable(name, error) from None
    try:
        stream = ByteStream(name, raw, limits, hashed=hashed)
        yield stream
        stream.check_unchanged()  # some readers look here and there in the file itself
    except OSError as error:
        raise _unreadable(name, error) from None
    finally:
        if str(path) != "-":
            raw.close()


@contextmanager
def rereadable(path: str | Path, *, limits: Limits = DEFAULT_LIMITS) -> Iterator[Path]:
    """A file that can be read twice: the path itself, or a copy of standard input or of a pipe."""
    if str(path) != "-" and (Path(path).is_file() or not Path(path).exists() or Path(path).is_dir()):
        yield Path(path)
        return
    from rankgauge.io.owned_files import temporary_folder

    if str(path) == "-":
        check_stdin(str(path))
    with temporary_folder() as folder:
        try:
            with (
                sys.stdin.buffer if str(path) == "-" else Path(path).open("rb") as pipe,
                (folder / "copy").open("xb") as copy,
            ):
                while data := pipe.read(READ_BYTES):
                    copy.write(data)
                    if copy.tell() > limits.max_bytes:
                        raise InputError.at(path, None, f"more than {limits.max_bytes} bytes", hint=MAX_BYTES_HINT)
        except OSError as error:
            raise _unreadable(path, error) from None
        yield folder / "copy"


def read_bytes(
    path: AnyFile, *, source: str | None = None, limits: Limits = DEFAULT_LIMITS, hashed: bool = False
) -> tuple[bytes, str | None]:
    """All bytes of a source, decompressed, and the hash of the file if it was requested."""
    with open_source(path, source=source, limits=limits, hashed=hashed) as stream:
        return stream.read(), stream.sha256


def sha256_of_file(path: str | Path) -> str:
    """The hash of a file as it is stored, as ``sha256sum`` prints it."""
    digest = _new_sha256()
    with open_stored(path) as file:
        while data := file.read(READ_BYTES):
            digest.update(data)
    return digest.hexdigest()


def sha256_of_part(sha256: str | None, name: str) -> str | None:
    """The hash of one of several runs in a file: that of the file's hash and the name of the run."""
    if sha256 is None:
        return None
    digest = _new_sha256()
    digest.update(f"{sha256}  {name}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
PEEK_BYTES = 1 << 16  # enough for the beginning of JSON, or for a header


def first_bytes(path: Path) -> bytes:
    """The first bytes of a file as it is stored, looked at once as long as its state is the same."""
    state = path.stat()
    return _first_bytes(str(path), state.st_ino, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _first_bytes(path: str, *state: int) -> bytes:
    with Path(path).open("rb", buffering=0) as file:
        return file.read(PEEK_BYTES)


def is_dataset(path: object) -> bool:
    """Whether a path names a collection of ir_datasets."""
    return isinstance(path, str) and path.startswith(DATASET_PREFIX)


def is_folder(path: object) -> bool:
    """Whether a path names a folder."""
    return isinstance(path, (str, Path)) and "\0" not in str(path) and Path(path).is_dir()


def source_name(path: AnyFile) -> str:
    """The name of a source that was not given one: that of its file; of a saved result, its system and its day."""
    name = "stdin" if str(path) == "-" else Path(path).name
    entry = ENTRY_FILE.fullmatch(name)
    return name if entry is None else f"{entry['system']} {entry['day']}"


def split_selector(path: AnyFile) -> tuple[str, str | None]:
    """A file, and what chooses a list in it: ``tests.json#suites[*].cases``. A # may also be part of a file's name."""
    text = str(path)
    file, mark, selector = text.partition(SELECTOR_MARK)
    if not mark or not selector or not file or Path(text).exists():
        return text, None
    return file, selector


def file_of(path: AnyFile) -> AnyFile:
    """The file itself, without what chooses a list in it."""
    return path if isinstance(path, LoadedFile) or SELECTOR_MARK not in str(path) else split_selector(path)[0]
