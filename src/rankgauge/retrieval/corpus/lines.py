"""Lines of a file, one after the other, without holding the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from rankgauge.errors import InputError
from rankgauge.io.sources import Limits, opened

LIMITS = Limits(line=1 << 26)  # a document may be long
PIECE = 1 << 20


def pieces(path: str | Path, told: Callable[[str], None]) -> Iterator[bytes]:
    """The bytes of a source in pieces; ``told`` gets the hash of the file when all is read."""
    with opened(path, limits=LIMITS, hashed=True) as stream:
        view = memoryview(bytearray(PIECE))
        while size := stream.readinto(view):
            yield bytes(view[:size])
        told(stream.sha256 or "")


def lines(path: str | Path, told: Callable[[str], None]) -> Iterator[bytes]:
    """The lines of a source, without their ends."""
    rest = b""
    first = True
    for piece in pieces(path, told):
        if first:
            piece, first = piece.removeprefix(b"\xef\xbb\xbf"), False
        *whole, rest = (rest + piece).split(b"\n") if b"\n" in piece else [rest + piece]
        if len(rest) > LIMITS.line:
            raise InputError.at(path, None, f"a line of more than {LIMITS.line} bytes")
        yield from whole
    if rest:
        yield rest


def head(path: str | Path) -> bytes:
    """The first bytes of a source, unpacked."""
    with opened(path) as stream:
        view = memoryview(bytearray(1 << 16))
        return bytes(view[: stream.readinto(view)])
