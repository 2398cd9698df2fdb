"""The bytes and lines of a corpus file, streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from rankgauge.errors import InputError
from rankgauge.io.byte_streams import DEFAULT_LIMITS, Limits, open_source
from rankgauge.io.text import BOM

MAX_DOCUMENT_BYTES = 1 << 26  # a document may be far longer than a line of a run
CHUNK_BYTES = 1 << 20


def document_limits(limits: Limits = DEFAULT_LIMITS) -> Limits:
    """Limits of an input, with room for long documents."""
    return replace(limits, max_line=max(limits.max_line, MAX_DOCUMENT_BYTES))


def read_chunks(path: str | Path, limits: Limits, set_sha256: Callable[[str], None]) -> Iterator[bytes]:
    """The bytes of a source in chunks; ``set_sha256`` receives the hash of the file at its end."""
    with open_source(path, limits=limits, hashed=True) as stream:
        view = memoryview(bytearray(CHUNK_BYTES))
        while size := stream.readinto(view):
            yield bytes(view[:size])
        set_sha256(stream.sha256 or "")


def read_lines(path: str | Path, limits: Limits, set_sha256: Callable[[str], None]) -> Iterator[bytes]:
    """The lines of a source, without their line ends."""
    rest = b""
    is_first = True
    for chunk in read_chunks(path, limits, set_sha256):
        if is_first:
            chunk, is_first = chunk.removeprefix(BOM), False
        *complete_lines, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else [rest + chunk]
        if len(rest) > limits.max_line:
            raise InputError.at(path, None, f"a line of more than {limits.max_line} bytes")
        yield from complete_lines
    if rest:
        yield rest


def read_head(path: str | Path, limits: Limits) -> bytes:
    """The first bytes of a source, decompressed."""
    with open_source(path, limits=limits) as stream:
        view = memoryview(bytearray(1 << 16))
        return bytes(view[: stream.readinto(view)])
