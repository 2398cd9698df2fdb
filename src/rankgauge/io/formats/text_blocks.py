"""A text in blocks, for readers that keep only what they need of it; bytes that no text may have are errors.

What is wrong with a text as a whole (a NUL byte, UTF-16, carriage returns as line endings) is an error at once, however
large the blocks are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.core.ids import PADDING
from rankgauge.errors import InputError
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.faults import Faults
from rankgauge.io.formats.white_space import Bytes
from rankgauge.io.text_checks import BOM, CR_HINT, CR_LINES, add_bom_warning, check_not_utf16

BLOCK_BYTES = 1 << 22  # in memory at once
BLOCK_ROWS = 1 << 16
WHOLE_BYTES = 1 << 25  # a file up to this size is one block if all of its rows are kept anyway
UTF16_BYTES = 64  # by which UTF-16 is recognized
MIN_LONG_LINE = 1 << 20  # no shorter line is refused as a whole, whatever the limit
SEARCHED_BYTES = 1 << 26  # in which a NUL byte is looked for if something else is wrong


def check_no_nul(stream: ByteStream) -> None:
    """Raise if a text is UTF-16, or has a NUL byte near its beginning."""
    check_not_utf16(stream.path, stream.head(UTF16_BYTES))
    blocks = TextBlocks(stream, BLOCK_BYTES)
    while blocks.offset < SEARCHED_BYTES and blocks.advance():
        blocks.line += blocks.part(0, blocks.size).count(b"\n")
        blocks.used = blocks.size


class BlockPlace(NamedTuple):
    """Where to read on in a block."""

    used: int  # bytes of the block that are read
    line: int  # lines that are read, in the whole file
    is_last: bool  # whether it is the last block


class Restart(Exception):
    """What was read so far is void: a late key changes which column is which, or a query comes again after others.

    ``names`` are all keys known by now; none if the queries are the reason.
    """

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        super().__init__(*names)
        self.names = names


class TextBlocks:
    """The block that is being read, with zeros behind it. What a reader leaves of it comes first in the next."""

    def __init__(self, stream: ByteStream, block_bytes: int) -> None:
        self.stream = stream
        self._make_room(block_bytes)
        self.size = self.used = 0  # bytes of the block, and of it those that are read
        self.offset = 0  # where the block begins in the text
        self.line = 0  # lines that are read, in the whole file
        self.is_last = False

    def _make_room(self, room: int) -> None:
        self._room, self._is_given = room, False
        self._text = bytearray(room + PADDING)  # which finds a byte faster than an array does
        self._data = np.frombuffer(self._text, dtype=np.uint8)

    @property
    def buffer(self) -> Bytes:
        """The block and its padding."""
        return self._data[: self.size + PADDING]

    @property
    def place(self) -> BlockPlace:
        """Where to read on, for the extension."""
        return BlockPlace(self.used, self.line, self.is_last)

    def part(self, begin: int, end: int) -> bytes:
        """A part of the block."""
        return bytes(self._text[begin:end])

    def give(self, begin: int, end: int) -> Bytes:
        """A part of the block with as many bytes behind it as padding has; the memory is not used again."""
        self._is_given = True
        return self._data[begin : end + PADDING]

    def rest(self) -> bytes:
        """What is not read of the block."""
        return self.part(self.used, self.size)

    def is_ended_by(self, closing: bytes) -> bool:
        """Whether everything is read, and the last of it is a closing bracket."""
        return self.is_last and self.used == self.size and self.part(0, self.size).rstrip().endswith(closing)

    def complete_lines(self) -> int:
        """Where the last complete line that is not read ends; the end of the block if it is the last one.

        Raises if one of them is too long; one that is only a little longer than it may be has a fault for its id.
        """
        end = self.size if self.is_last else self._text.rfind(b"\n", self.used, self.size) + 1
        limit, begin = max(self.stream.limits.max_line, MIN_LONG_LINE), self.used
        while (end or self.size) - begin > limit + 1:
            newline = self._text.rfind(b"\n", begin, begin + limit + 1)
            if newline < 0:
                raise InputError.at(
                    self.stream.path,
                    None,
                    f"a line of more than {limit} bytes",
                    hint="raise the limit: --set reading.max_line=SIZE",
                )
            begin = newline + 1
        return end or self.used

    def advance(self) -> bool:
        """Drop what is read and read more of the file; whether anything is left. A block with nothing read grows."""
        left = self._data[self.used : self.size]
        if self.is_last:
            return bool(len(left))
        self.offset += self.used
        if len(left) == self._room or self._is_given:
            self._make_room(2 * self._room if len(left) == self._room else self._room)
        self._data[: len(left)] = left
        self.size, self.used = len(left), 0
        view = self._data.data
        while self.size < self._room:
            count = self.stream.readinto(view[self.size : self._room])
            if not count:
                self.is_last = True
                break
            self.size += count
        self._data[self.size : self.size + PADDING] = 0
        self._check_no_nul(len(left))
        return self.size > 0

    def _check_no_nul(self, begin: int) -> None:
        """Raise if there is a NUL byte in what was read last."""
        at = self._text.find(0, begin, self.size)
        if at < 0:
            return
        line = self.line + self._text.count(b"\n", 0, at) + 1
        raise InputError.at(self.stream.path, line, f"NUL byte at offset {self.offset + at}: not a text file")


def open_text(
    stream: ByteStream,
    faults: Faults,
    *,
    has_lines: bool = True,
    is_kept: bool = False,
    block_bytes: int | None = None,
) -> TextBlocks:
    """A text from its first byte on, of which the first block is read.

    ``is_kept`` says that all rows are kept anyway, so that a file of ordinary size may be one block.
    """
    check_not_utf16(faults.source, stream.head(UTF16_BYTES))
    size = min(WHOLE_BYTES, stream.stored_size() or BLOCK_BYTES) if is_kept else BLOCK_BYTES
    blocks = TextBlocks(stream, block_bytes or size)
    if not blocks.advance():
        raise InputError.at(faults.source, None, "file is empty")
    if has_lines:
        _check_line_endings(blocks, faults.source)
    if blocks.part(0, len(BOM)) == BOM:
        add_bom_warning(faults)
        blocks.used = len(BOM)
    faults.has_lines = has_lines
    return blocks


def _check_line_endings(blocks: TextBlocks, source: str) -> None:
    """Raise if nothing but carriage returns ends the lines; the first block has a complete line then, or everything."""
    while True:
        text = blocks.part(0, blocks.size).strip()
        if b"\n" in text or (not blocks.is_last and blocks.size > blocks.stream.limits.max_line):
            return
        if blocks.is_last:
            if b"\r" in text:
                raise InputError.at(source, None, CR_LINES, hint=CR_HINT)
            return
        blocks.advance()
