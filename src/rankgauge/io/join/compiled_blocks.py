"""The blocks of a TREC run, scanned by the extension. A block in which anything is odd is scanned with NumPy instead.

So faults, warnings and their lines come from one place, and the extension reports nothing: it either finds a block
plain, or leaves it.
"""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import Ids, Ints
from rankgauge.io.checks import ranks
from rankgauge.io.checks.odd import report_split_queries
from rankgauge.io.formats import trec
from rankgauge.io.formats.tokens import Bytes
from rankgauge.io.join.blocks import BlockScanner

Found = tuple[int, int, int, bytes, int, int]  # bytes, lines and rows; the queries; where the tag is
Sizes = tuple[Ints, Ints]  # the number of rows of each query, and the place of its first row (of scattered ones)


class CompiledBlockScanner(BlockScanner):
    """The state of a scan by the extension."""

    def scan_block(self, buffer: Bytes, is_last: bool) -> int:
        """Scan the complete queries of a block and return their size in bytes."""
        if self.usual_columns not in (0, len(trec.RUN_COLUMNS)):
            return super().scan_block(buffer, is_last)
        found = self.builder.scanner.scan(buffer, is_last)
        if found is None:
            return super().scan_block(buffer, is_last)
        self._take(buffer, found, is_last=is_last)
        return int(found[0])

    def scan_whole(self, buffer: Bytes, marks: Ints | None = None) -> Sizes | None:
        """Scan all rows of some queries, in whatever order they are; None if anything but that is odd.

        Without ``marks`` it is a whole file. Otherwise they have for each row twice its line in the file, and 1 more if
        its query differs from that of the row before.
        """
        found = self.builder.scanner.scan_scattered(buffer, marks)
        return None if found is None else self._take(buffer, found, is_last=True)

    def _take(self, buffer: Bytes, found: Found, *, is_last: bool) -> Sizes:
        """Take over what the extension found."""
        _, lines, rows, table, tag, tag_length = found
        begin, length, number, sizes, resumed, first = np.frombuffer(table, dtype=np.int64).reshape(-1, 6).T
        names = list(Ids(buffer, begin, length))
        self._see(names)
        again = np.flatnonzero(resumed)
        again = again[np.argsort(resumed[again])]
        report_split_queries(self.faults, resumed[again], lambda at: names[int(again[at])])
        self.lines += lines
        if rows:
            self.rows += rows
            self.usual_columns = len(trec.RUN_COLUMNS)
            ranks.report_none(self.faults, rows - len(sizes))
            self.builder.count(number, sizes)
            if is_last:
                self.tag = buffer[tag : tag + tag_length].tobytes()
        return sizes, first
