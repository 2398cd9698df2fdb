"""A TREC run with scattered queries that does not fit into memory, scanned by the extension partition by partition."""

from __future__ import annotations

import numpy as np

from rankgauge.core import compiled
from rankgauge.core.hits_builder import MAX_BUFFER_BYTES
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.io.byte_streams import ByteStream
from rankgauge.io.checks.faults import Faults
from rankgauge.io.formats.tokens import Bytes
from rankgauge.io.join.blocks import Scan
from rankgauge.io.join.compiled_blocks import CompiledBlockScanner
from rankgauge.io.join.line_spill import LineSpill
from rankgauge.io.join.scan import Progress, check_first_block, scan_blocks
from rankgauge.io.options import Reading

PART_SHARE = 8  # the text of a partition has up to this share of the memory budget: scanning it takes a multiple
BLOCK_SHARE = 16  # a block, which is in memory twice
LEAST_BLOCK, MOST_BLOCK = 1 << 16, 1 << 25  # bytes
SPILLING_SHARE = 0.5  # of the progress, the part in which lines are partitioned


class SpilledScanner(CompiledBlockScanner):
    """The state of a scan of partitions; each has whole queries."""

    def __init__(self, qrels: Qrels, faults: Faults, compat: Compat, max_id_bytes: int) -> None:
        super().__init__(qrels, faults, compat, "error", max_id_bytes)
        self._sizes: list[Ints] = []  # of the queries seen
        self._first_marks: list[Ints] = []  # of their first rows
        self._last = (-1, b"")  # the highest mark, and the tag on its line

    def scan_part(self, text: Bytes, marks: Ints) -> bool:
        """Scan a partition; whether nothing in it is odd."""
        found = self.scan_whole(text, marks)
        if found is None:
            return False
        sizes, first = found
        self._sizes.append(sizes)
        self._first_marks.append(marks[first])
        self._last = max(self._last, (int(marks[-1]), self.tag))
        return True

    def result(self) -> Scan:
        """The join of all partitions; queries are in the order of their first lines."""
        order = np.argsort(np.concatenate(self._first_marks))
        queries = Ids.from_bytes(list(self.seen_queries)).take(order)
        return Scan(self.builder.build(), self._last[1], self.rows, queries, np.concatenate(self._sizes)[order])


def scan_spilled(
    stream: ByteStream, qrels: Qrels, faults: Faults, reading: Reading, compat: Compat, progress: Progress | None
) -> Scan | None:
    """Join judgments with a run of any size whose queries are not contiguous; None if anything else about it is odd."""
    if compiled.scanner is None or stream.limits.line > MAX_BUFFER_BYTES // 4:
        return None

    def report(share: float) -> None:
        if progress is not None:
            progress(int(share * stream.bytes_read))

    scanner = SpilledScanner(qrels, faults, compat, stream.limits.line)
    with LineSpill() as spill:
        scan_blocks(
            stream,
            spill.add_block,
            lambda *first: check_first_block(faults, *first),
            lambda _: report(SPILLING_SHARE),
            block_bytes=min(max(reading.memory // BLOCK_SHARE, LEAST_BLOCK), MOST_BLOCK),
        )
        done = 0
        for text, marks in spill.parts(reading.memory // PART_SHARE):
            if not scanner.scan_part(text, marks):
                return None
            done += len(text)
            report(SPILLING_SHARE + (1 - SPILLING_SHARE) * min(1, done / spill.size))
    return scanner.result() if scanner.rows and not faults.total("error") else None
