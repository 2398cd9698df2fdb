"""A text in blocks, for readers that keep only what they need of it."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np

from rankgauge.core.ids import PADDING
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.tokens import NEWLINE, Bytes
from rankgauge.io.text import BOM, add_bom_warning, looks_like_utf16

BLOCK_BYTES = 1 << 22  # in memory at once
BLOCK_ROWS = 1 << 16


class NotInBlocksError(Exception):
    """A file that must be read as a whole: it is wrong, or later lines change the meaning of earlier ones."""


class NewColumnError(NotInBlocksError):
    """A column that appears late changes which column is which."""


class TextBlocks:
    """The block that is being read, with zeros behind it. What a reader leaves of it comes first in the next."""

    def __init__(self, read: Callable[[memoryview], int], size: int) -> None:
        self._read, self._room = read, size
        self._data = np.zeros(size + PADDING, dtype=np.uint8)
        self.size = self.used = 0  # bytes of the block, and of it those that are read
        self.line = 0  # lines that are read, in the whole file
        self.is_last = False

    @property
    def buffer(self) -> Bytes:
        """The block and its padding."""
        return self._data[: self.size + PADDING]

    @property
    def place(self) -> tuple[int, int, bool]:
        """Where to read on, for the extension."""
        return self.used, self.line, self.is_last

    def bytes(self, begin: int, end: int) -> bytes:
        """A part of the block."""
        return self._data[begin:end].tobytes()

    def advance(self) -> bool:
        """Drop what is read and read more of the file; whether anything is left. A block with nothing read grows."""
        left = self._data[self.used : self.size]
        if self.is_last:
            return bool(len(left))
        if len(left) == self._room:
            self._room *= 2
        if len(self._data) < self._room + PADDING:
            data = np.zeros(self._room + PADDING, dtype=np.uint8)
            data[: len(left)] = left
            self._data = data
        else:
            self._data[: len(left)] = left
        self.size, self.used = len(left), 0
        view = self._data.data
        while self.size < self._room:
            count = self._read(view[self.size : self._room])
            if not count:
                self.is_last = True
                break
            self.size += count
        self._data[self.size : self.size + PADDING] = 0
        return self.size > 0


def blocks_of_bytes(data: bytes) -> TextBlocks:
    """A text in memory, in blocks."""
    return TextBlocks(io.BytesIO(data).readinto, max(1, min(BLOCK_BYTES, len(data))))


def blocks_of_stream(faults: Faults, stream: ByteStream) -> TextBlocks:
    """An open file, in blocks; the first is there. Raises :class:`NotInBlocksError` for what is not text."""

    def read(view: memoryview) -> int:
        count = stream.readinto(view)
        if count and not np.frombuffer(view[:count], dtype=np.uint8).all():
            raise NotInBlocksError
        return count

    blocks = TextBlocks(read, BLOCK_BYTES)
    head = blocks.bytes(0, 64) if blocks.advance() else b""
    text = blocks.buffer[: blocks.size]
    if not head or looks_like_utf16(head) or ((text == 0x0D).any() and not (text == NEWLINE).any()):
        raise NotInBlocksError
    if head.startswith(BOM):
        add_bom_warning(faults)
        blocks.used = len(BOM)
    return blocks
