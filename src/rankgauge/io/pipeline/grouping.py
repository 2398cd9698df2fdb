"""Whole queries out of rows in any order.

Usually the rows of a query are contiguous, and only the last query of a batch waits for the next one. If queries are
scattered over a source, rows are grouped first, in memory or in a temporary file.

Rows collect in memory up to a limit. If there are more, all of them go into a temporary file, partitioned by a hash of
the query; then one partition after the other is read back, grouped and handed on. A partition above the limit is
partitioned again. The rows of one query must fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from rankgauge.core.batch import Batch, concatenate_batches
from rankgauge.core.ids import Ints, number_ids, order_by_group
from rankgauge.io.checks.faults import Faults
from rankgauge.io.pipeline.spill import MarkedRows, Spill, concatenate_marked
from rankgauge.io.row_checks import report_split_queries

MAX_DEPTH = 3
MEMORY_SHARE = 16  # rows take up to this share of the memory budget: grouping and ranking them take a multiple of it
FREED_BYTES = 30 << 20
RunGroup = tuple[int, Batch]  # the number of a run, and rows of whole queries of it
Report = Callable[[float], None]


class WholeQueries:
    """Batches that end anywhere become batches that end where a query ends."""

    def __init__(self) -> None:
        self._held: list[Batch] = []  # of one query, of which more may follow

    def push(self, rows: Batch) -> Iterator[Batch]:
        """The rows of queries that are complete, as far as that is known."""
        if rows.empty:
            yield replace(rows.slice(0, 0), empty=rows.empty)
            rows = replace(rows, empty=())
        if not len(rows):
            return
        if rows.is_whole and not self._held:
            yield rows
            return
        begins = rows.query_begins()
        if self._held and self._held[-1].query[0] == rows.query[0]:
            self._held.append(rows.slice(0, int(begins[1]) if len(begins) > 1 else len(rows)))
            begins = begins[1:]
        if len(begins):
            yield from self.finish()
            if begins[-1] > begins[0]:
                yield replace(rows.slice(int(begins[0]), int(begins[-1])), begins=begins[:-1] - begins[0])
            self._held = [rows.slice(int(begins[-1]), len(rows))]

    def finish(self) -> Iterator[Batch]:
        """The rows of the last query."""
        if self._held:
            held, self._held = self._held, []
            yield replace(concatenate_batches(held), begins=np.zeros(1, dtype=np.int64))


class Grouping:
    """The rows of all runs of a file while they are grouped: ``add`` all of them, then take them ``by_query``."""

    def __init__(self, faults: Faults, memory: int) -> None:
        self.faults, self.limit = faults, memory // MEMORY_SHARE
        self._rows: list[MarkedRows] = []
        self._size = 0
        self._spill = Spill()
        self._last: dict[int, bytes] = {}  # the query of the last row of each run
        self._has_ranks_only = False
        np.empty(FREED_BYTES, dtype=np.uint8)  # so that glibc keeps the memory of arrays (see core/tables.py)

    def __enter__(self) -> Grouping:
        return self

    def __exit__(self, *_: object) -> None:
        self._spill.close()

    def add(self, run: int, rows: Batch) -> None:
        """Add the next rows of a run."""
        if not len(rows):
            return
        self._has_ranks_only = rows.has_ranks_only
        mark = rows.line * 2
        mark[rows.query_begins()] += 1
        mark[0] -= self._last.get(run) == rows.query[0]
        self._last[run] = rows.query[len(rows) - 1]
        ids = (rows.query, rows.doc) if rows.rank is None else (rows.query, rows.doc, rows.rank)
        marked = MarkedRows(mark, rows.value, np.full(len(rows), run) if run else None, ids)
        self._rows.append(marked)
        self._size += marked.size
        if self._size > self.limit:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._spill.write(concatenate_marked(self._rows))
        self._rows, self._size = [], 0

    def by_query(self, progress: Report) -> Iterator[RunGroup]:
        """The rows of whole queries; ``progress`` receives the share that was handed on."""
        if self._spill.is_empty:
            if self._rows:
                yield from self._group(concatenate_marked(self._rows))
            return
        self._flush()
        yield from self._partitions(self._spill, progress)

    def _partitions(self, spill: Spill, progress: Report) -> Iterator[RunGroup]:
        sizes = spill.sizes()
        for number, size in enumerate(sizes.tolist()):
            if size > self.limit and spill.depth < MAX_DEPTH and spill.is_mixed(number):
                with Spill(spill.depth + 1) as finer:
                    for segment in spill.segments[number]:
                        finer.write(spill.read([segment]))
                    yield from self._partitions(finer, lambda share: None)
            elif size:
                yield from self._group(spill.read(spill.segments[number]))
            progress(float(sizes[: number + 1].sum() / sizes.sum()))

    def _group(self, marked: MarkedRows) -> Iterator[RunGroup]:
        """The rows by run and query, with notes on queries that resume after others."""
        run = np.zeros(len(marked), dtype=np.int64) if marked.run is None else marked.run
        group, groups = number_ids(marked.query, run)
        order = order_by_group(group, groups)
        marked, group = marked.take(order), group[order]
        self._report_split(marked, group)
        for number in [0] if marked.run is None else np.unique(marked.run).tolist():
            yield number, self._rows_of(marked if marked.run is None else marked.take(marked.run == number))

    def _rows_of(self, marked: MarkedRows) -> Batch:
        query, doc, *rank = marked.ids
        return Batch(
            marked.mark >> 1,
            query,
            doc,
            marked.value,
            rank=rank[0] if rank else None,
            has_ranks_only=self._has_ranks_only,
        )

    def _report_split(self, marked: MarkedRows, group: Ints) -> None:
        is_first = np.diff(group, prepend=-1) != 0
        resumed = np.flatnonzero((marked.mark & 1).astype(bool) & ~is_first)
        resumed = resumed[np.diff(group[resumed], prepend=-1) != 0]  # the first one of each query
        resumed = resumed[np.argsort(marked.mark[resumed])]
        report_split_queries(self.faults, marked.mark[resumed] >> 1, lambda at: marked.query[int(resumed[at])])
