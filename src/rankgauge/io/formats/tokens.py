"""Lines of a file cut into columns at white space, all at once.

White space is C's: space, tab, vertical tab, form feed, carriage return; a line ends at a newline only. Other bytes,
U+00A0 or 0x1C among them, are part of an id, as they are for trec_eval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import PADDING, Ids, Ints

NEWLINE, SPACE, TAB = 0x0A, 0x20, 0x09
Bytes = NDArray[np.uint8]
NONE: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Lines:
    """The first columns of each line that has enough of them, and which lines do not. Lines are numbered from 1."""

    buffer: Bytes
    end: Ints  # rows × columns: where each column ends
    start: Ints | None  # where each begins; None where one byte after the end of the one before
    line: Ints  # the number of each row's line
    count: Ints  # how many columns each row's line really has
    short: Ints  # the lines with too few columns, blank ones left out …
    short_count: Ints  # … and how many they have
    blank: Ints  # the lines with nothing on them
    total: int  # how many lines there are
    before: int = 0  # how many lines of the file stand before the first of these

    def __len__(self) -> int:
        return len(self.line)

    @property
    def regular(self) -> bool:
        """Whether every line has just its columns, with one blank between them."""
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

    def cells(self, number: int, rows: Ints) -> Ids:
        """One column, not the first, of some rows."""
        start = self.end[rows, number - 1] + 1 if self.start is None else self.start[rows, number]
        return Ids(self.buffer, start, self.end[rows, number] - start)

    def head(self, rows: int) -> Lines:
        """The first so many rows, and what else stands before the next of them."""
        if rows == len(self):
            return self
        line = int(self.line[rows])
        short = int(np.searchsorted(self.short, line))
        return replace(
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

    @cached_property
    def _ends(self) -> Ints:
        return np.flatnonzero(self.buffer[: len(self.buffer) - PADDING] == NEWLINE)

    def text(self, line: int) -> bytes:
        """The text of a line, for a message."""
        line -= self.before
        begin = 0 if line == 1 else int(self._ends[line - 2]) + 1
        end = int(self._ends[line - 1]) if line - 1 < len(self._ends) else len(self.buffer) - PADDING
        return self.buffer[begin:end].tobytes().rstrip(b"\r")


def padded(data: bytes) -> Bytes:
    """Bytes as an array with room behind them."""
    return np.frombuffer(data + bytes(PADDING), dtype=np.uint8)


def cut(buffer: Bytes, columns: int, *, before: int = 0) -> Lines:
    """Cut a padded buffer into lines and columns; ``before`` is how many lines of the file came earlier."""
    return _cut_regular(buffer, columns, before) or _cut_any(buffer, columns, before)


def _cut_regular(buffer: Bytes, columns: int, before: int) -> Lines | None:
    """The usual file: just so many columns on every line, one blank between them. None where it is not so."""
    text = buffer[: len(buffer) - PADDING]
    blank = text <= SPACE
    at = np.flatnonzero(blank)
    rows, rest = divmod(len(at), columns)
    if not rows or rest or at[0] == 0 or at[-1] != len(text) - 1:
        return None
    end = at.reshape(rows, columns)
    # Every last blank of a line is a newline, every other is not, and no column is empty.
    if (text[end[:, -1]] != NEWLINE).any() or (blank[1:] & blank[:-1]).any():
        return None
    if np.count_nonzero(text == SPACE) != rows * (columns - 1):
        # Tabs and the like will do; control characters that are no white space will not.
        white = (text == SPACE) | ((text - np.uint8(TAB)) <= 4)
        if np.count_nonzero(text == NEWLINE) != rows or np.count_nonzero(white) != len(at):
            return None
    return Lines(
        buffer=buffer,
        end=end,
        start=None,
        line=np.arange(before + 1, before + rows + 1),
        count=np.broadcast_to(np.int64(columns), rows),
        short=NONE,
        short_count=NONE,
        blank=NONE,
        total=rows,
        before=before,
    )


def _cut_any(buffer: Bytes, columns: int, before: int) -> Lines:
    """Any text: runs of blanks, blank lines, too few columns, too many."""
    text = buffer[: len(buffer) - PADDING]
    blank = (text == SPACE) | ((text - np.uint8(TAB)) <= 4)
    # Where white space begins or ends; a file is thought of as standing between two blanks.
    edges = np.flatnonzero(np.diff(blank, prepend=True, append=True))
    start, end = edges[::2], edges[1::2]
    ends = np.flatnonzero(text == NEWLINE)
    if len(text) and text[-1] != NEWLINE:
        ends = np.append(ends, len(text))
    first = np.searchsorted(start, ends)
    counts = np.diff(first, prepend=0)
    good = np.flatnonzero(counts >= columns)
    places = (first - counts)[good, None] + np.arange(columns)
    short = np.flatnonzero((counts < columns) & (counts > 0))
    return Lines(
        buffer=buffer,
        end=end[places],
        start=start[places],
        line=before + good + 1,
        count=counts[good],
        short=before + short + 1,
        short_count=counts[short],
        blank=before + np.flatnonzero(counts == 0) + 1,
        total=len(ends),
        before=before,
    )
