"""Lines of a file split into columns at white space, all at once.

White space is C's: space, tab, vertical tab, form feed, carriage return; only a newline ends a line. Other bytes, for
example U+00A0 or 0x1C, are part of an id, as they are for trec_eval.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled
from rankgauge.core.batch import NO_LINES
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import PADDING, Ids, Ints

NEWLINE, SPACE, TAB = 0x0A, 0x20, 0x09
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class TokenLines:
    """The first columns of each line that has enough of them, and the lines that do not. Lines are numbered from 1."""

    buffer: Bytes
    end: Ints  # rows × columns: where each column ends
    start: Ints | None  # where each begins; None if that is one byte after the end of the one before
    line: Ints  # the line number of each row
    count: Ints  # the real number of columns of each row
    short: Ints  # the lines with too few columns, without blank ones …
    short_count: Ints  # … and their number of columns
    blank: Ints  # the blank lines
    total: int  # the number of lines
    before: int = 0  # the number of lines of the file before the first of these

    def __len__(self) -> int:
        return len(self.line)

    @property
    def regular(self) -> bool:
        """Whether every line has exactly its columns, with one white-space byte between them."""
        return self.start is None

    def column(self, number: int) -> Ids:
        """One column of all rows."""
        if self.start is not None:
            start = self.start[:, number]
        elif number:
            start = self.end[:, number - 1] + 1
        else:
            start = np.zeros(len(self), dtype=np.int64)
            np.add(self.end[:-1, -1], 1, out=start[1:])
        return Ids(self.buffer, start, self.end[:, number] - start)

    @cached_property
    def query(self) -> Ids:
        """The first column."""
        return self.column(0)

    @cached_property
    def query_begins(self) -> Ints:
        """The rows whose first column differs from that of the row before; the first one does."""
        return self.query.changes()

    def head(self, rows: int) -> TokenLines:
        """The first rows, and the other lines before the next row."""
        if rows == len(self):
            return self
        line = int(self.line[rows])
        short = int(np.searchsorted(self.short, line))
        head = replace(
            self,
            end=self.end[:rows],
            start=None if self.start is None else self.start[:rows],
            line=self.line[:rows],
            count=self.count[:rows],
            short=self.short[:short],
            short_count=self.short_count[:short],
            blank=self.blank[: int(np.searchsorted(self.blank, line))],
            total=line - 1 - self.before,
        )
        if "query_begins" in vars(self):
            vars(head)["query"] = self.query.head(rows)
            vars(head)["query_begins"] = self.query_begins[: int(np.searchsorted(self.query_begins, rows))]
        return head

    @cached_property
    def _line_ends(self) -> Ints:
        return np.flatnonzero(self.buffer[: len(self.buffer) - PADDING] == NEWLINE)

    def line_begin(self, line: int) -> int:
        """Where a line begins in the buffer."""
        line -= self.before
        return 0 if line == 1 else int(self._line_ends[line - 2]) + 1

    def text(self, line: int) -> bytes:
        """The text of a line, for a message."""
        begin = self.line_begin(line)
        line -= self.before
        is_ended = line - 1 < len(self._line_ends)
        end = int(self._line_ends[line - 1]) if is_ended else len(self.buffer) - PADDING
        return self.buffer[begin:end].tobytes().rstrip(b"\r")


def pad(data: bytes) -> Bytes:
    """Bytes as an array with padding after them."""
    return np.frombuffer(data + bytes(PADDING), dtype=np.uint8)


def split_columns(buffer: Bytes, columns: int, *, before: int = 0) -> TokenLines:
    """Split a padded buffer into lines and columns; ``before`` is the number of earlier lines of the file."""
    return _split_regular(buffer, columns, before) or _split_any(buffer, columns, before)


def _split_regular(buffer: Bytes, columns: int, before: int) -> TokenLines | None:
    """The usual file, split by the extension: this many columns on every line, one white-space byte between them."""
    if compiled.scanner is None:
        return None
    rows = int(np.count_nonzero(buffer[: len(buffer) - PADDING] == NEWLINE))
    end = np.empty((columns, rows), dtype=np.int64)
    if not rows or not compiled.scanner.split(buffer, columns, end):
        return None
    return TokenLines(
        buffer=buffer,
        end=end.T,
        start=None,
        line=np.arange(before + 1, before + rows + 1),
        count=np.broadcast_to(np.int64(columns), rows),
        short=NO_LINES,
        short_count=NO_LINES,
        blank=NO_LINES,
        total=rows,
        before=before,
    )


def _split_any(buffer: Bytes, columns: int, before: int) -> TokenLines:
    """Any text: repeated white space, blank lines, too few or too many columns."""
    text = buffer[: len(buffer) - PADDING]
    is_white = (text == SPACE) | ((text - np.uint8(TAB)) <= 4)
    # Where white space begins or ends, as if the file were between two spaces.
    edges = np.flatnonzero(np.diff(is_white, prepend=True, append=True))
    start, end = edges[::2], edges[1::2]
    line_ends = np.flatnonzero(text == NEWLINE)
    if len(text) and text[-1] != NEWLINE:
        line_ends = np.append(line_ends, len(text))
    next_tokens = np.searchsorted(start, line_ends)
    counts = np.diff(next_tokens, prepend=0)
    complete = np.flatnonzero(counts >= columns)
    tokens = (next_tokens - counts)[complete, None] + np.arange(columns)
    short = np.flatnonzero((counts < columns) & (counts > 0))
    return TokenLines(
        buffer=buffer,
        end=end[tokens],
        start=start[tokens],
        line=before + complete + 1,
        count=counts[complete],
        short=before + short + 1,
        short_count=counts[short],
        blank=before + np.flatnonzero(counts == 0) + 1,
        total=len(line_ends),
        before=before,
    )
