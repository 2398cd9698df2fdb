"""Where bytes come from: a file or standard input, compressed or not."""

from __future__ import annotations

import sys
from pathlib import Path

from rankgauge.errors import InputError


def read_bytes(path: str | Path) -> bytes:
    """All of a source; ``-`` is standard input, and gzip is known by its first bytes."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError.at(path, None, f"cannot read: {error.strerror or error}") from None
    if data.startswith(b"\x1f\x8b"):
        import gzip
        import zlib

        try:
            return gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError.at(path, None, f"gzip stream is damaged or ends early: {error}") from None
    return data
