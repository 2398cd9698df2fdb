"""Lines of a file cut into columns at white space, all at once.

White space is C's: space, tab, vertical tab, form feed, carriage return; a line ends at a newline only. Other bytes,
U+00A0 or 0x1C among them, are part of an id, as they are for trec_eval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import PADDING, Ids, Ints

NEWLINE, SPACE, TAB = 0x0A, 0x20, 0x09


@dataclass(frozen=True, eq=False)
class Lines:
    """The first columns of each line that has enough of them, and which lines do not."""

    buffer: NDArray[np.uint8]
    start: Ints  # rows × columns
    length: Ints
    line: Ints  # the number of each row's line, from 1
    count: Ints  # how many columns each row's line really has
    short: Ints  # the lines with too few columns, blank ones left out …
    short_count: Ints  # … and how many they have
    blank: Ints  # the lines with nothing on them

    def __len__(self) -> int:
        return len(self.line)

    def column(self, number: int) -> Ids:
        """One column of all rows."""
        return Ids(self.buffer, self.start[:, number], self.length[:, number])

    def text(self, line: int) -> bytes:
        """The text of a line, for a message."""
        ends = np.flatnonzero(self.buffer[: len(self.buffer) - PADDING] == NEWLINE)
        begin = 0 if line == 1 else int(ends[line - 2]) + 1
        end = int(ends[line - 1]) if line - 1 < len(ends) else len(self.buffer) - PADDING
        return self.buffer[begin:end].tobytes().rstrip(b"\r")


def padded(data: bytes) -> NDArray[np.uint8]:
    """Bytes as an array with room behind them."""
    return np.frombuffer(data + bytes(PADDING), dtype=np.uint8)


def cut(buffer: NDArray[np.uint8], columns: int) -> Lines:
    """Cut a padded buffer into lines and columns."""
    text = buffer[: len(buffer) - PADDING]
    blank = (text == SPACE) | ((text - np.uint8(TAB)) <= 4)
    # Where white space begins or ends; a file is thought of as standing between two blanks.
    edges = np.flatnonzero(np.diff(blank, prepend=True, append=True))
    start, length = edges[::2], edges[1::2] - edges[::2]
    ends = np.flatnonzero(text == NEWLINE)
    if len(text) and text[-1] != NEWLINE:
        ends = np.append(ends, len(text))
    first = np.searchsorted(start, ends)
    counts = np.diff(first, prepend=0)
    begins = first - counts
    good = np.flatnonzero(counts >= columns)
    if len(good) == len(counts) and len(start) == columns * len(counts):
        starts, lengths = start.reshape(-1, columns), length.reshape(-1, columns)
    else:
        places = begins[good, None] + np.arange(columns)
        starts, lengths = start[places], length[places]
    short = np.flatnonzero((counts < columns) & (counts > 0))
    return Lines(
        buffer=buffer,
        start=starts,
        length=lengths,
        line=good + 1,
        count=counts[good],
        short=short + 1,
        short_count=counts[short],
        blank=np.flatnonzero(counts == 0) + 1,
    )
