"""The blocks of a TREC run, scanned by the extension. A block in which anything is odd is scanned with NumPy instead.

So faults, warnings and their lines come from one place, and the extension reports nothing: it either finds a block
plain, or leaves it.
"""

from __future__ import annotations

import numpy as np

from rankgauge.core.ids import Ids
from rankgauge.io.checks import ranks
from rankgauge.io.checks.odd import report_split_queries
from rankgauge.io.formats import trec
from rankgauge.io.formats.tokens import Bytes
from rankgauge.io.join.blocks import BlockScanner


class CompiledBlockScanner(BlockScanner):
    """The state of a scan by the extension."""

    def scan_block(self, buffer: Bytes, is_last: bool) -> int:
        """Scan the complete queries of a block and return their size in bytes."""
        if self.usual_columns not in (0, len(trec.RUN_COLUMNS)):
            return super().scan_block(buffer, is_last)
        used = self._scan(buffer, is_last=is_last)
        return super().scan_block(buffer, is_last) if used is None else used

    def scan_whole(self, buffer: Bytes) -> bool:
        """Scan a whole file, whose queries need not be contiguous; whether nothing in it is odd but that."""
        return self._scan(buffer, is_last=True, is_scattered=True) is not None

    def _scan(self, buffer: Bytes, *, is_last: bool, is_scattered: bool = False) -> int | None:
        """The size of the queries that were scanned; None if there is something odd, and then nothing was."""
        found = self.builder.scanner.scan(buffer, is_last, is_scattered)
        if found is None:
            return None
        used, lines, rows, table, tag, tag_length = found
        begin, length, number, sizes, resumed = np.frombuffer(table, dtype=np.int64).reshape(-1, 5).T
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
        return int(used)
