"""The blocks of a TREC run, scanned by the extension. A block in which anything is odd is scanned with NumPy instead.

So faults, warnings and their lines come from one place, and the extension reports nothing: it either finds a block
plain, or leaves it.
"""

from __future__ import annotations

import numpy as np

from rankgauge.core import compiled, ranking
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Status
from rankgauge.io.checks import ranks
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.odd import report_split_queries
from rankgauge.io.formats import trec
from rankgauge.io.formats.tokens import Bytes
from rankgauge.io.join.blocks import BlockScanner, JudgedRows


class CompiledBlockScanner(BlockScanner):
    """The state of a scan by the extension."""

    def __init__(
        self, qrels: Qrels, faults: Faults, compat: ranking.Compat, on_duplicate: OnDuplicate, max_id_bytes: int
    ) -> None:
        super().__init__(qrels, faults, compat, on_duplicate, max_id_bytes)
        assert compiled.scanner is not None
        self._scanner = compiled.scanner.Scanner(
            qrels.queries.parts,
            qrels.docs.parts,
            np.ascontiguousarray(qrels.offsets),
            compat == "trec_eval-10",
            max_id_bytes,
            compiled.SEED,
        )

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
        found = self._scanner.scan(buffer, is_last, is_scattered)
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
            judged = number >= 0
            self.retrieved[number[judged]] = sizes[judged]
            self.status[number[judged]] = Status.ANSWERED
            if is_last:
                self.tag = buffer[tag : tag + tag_length].tobytes()
        return int(used)

    def judged(self) -> JudgedRows:
        """All judged rows, by query and rank."""
        query, rank, tie_first, tie_last, ordinal = np.frombuffer(self._scanner.hits(), dtype=np.int64).reshape(5, -1)
        if self.judged_rows:
            self.judged_rows.append((query, rank, tie_first, tie_last, ordinal))
            return super().judged()
        order = _by_query(query)  # the rows of a query are sorted by rank already
        return query[order], rank[order], tie_first[order], tie_last[order], ordinal[order]


def _by_query(query: Ints) -> Ints:
    """The rows by query, for rows whose queries are contiguous."""
    begins = np.flatnonzero(np.diff(query, prepend=-1))
    sizes = np.diff(begins, append=len(query))
    order = np.argsort(query[begins])
    begins, sizes = begins[order], sizes[order]
    return np.repeat(begins - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(query))
