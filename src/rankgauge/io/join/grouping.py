"""Runs whose queries are scattered over a file: their rows are grouped, in memory or in a temporary file.

Rows collect in memory up to a limit. If there are more, all of them go into a temporary file, partitioned by a hash of
the query; then one partition after the other is read back, grouped and handed on. A partition above the limit is
partitioned again. The rows of one query must fit into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from rankgauge.core.ids import Ints, number_ids, order_by_group
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.odd import report_split_queries
from rankgauge.io.join.spill import MarkedRows, Spill, concatenate_marked
from rankgauge.io.rows import Rows

MAX_DEPTH = 3
MEMORY_SHARE = 8  # rows take up to this share of the memory budget: grouping and ranking them take a multiple of it
RunRows = tuple[int, Rows]  # the number of a run, and rows of whole queries of it


class Grouping:
    """The rows of all runs of a file while they are grouped: ``add`` all of them, then take them ``by_query``."""

    def __init__(self, faults: Faults, memory: int) -> None:
        self.faults, self.limit = faults, memory // MEMORY_SHARE
        self._rows: list[MarkedRows] = []
        self._size = 0
        self._spill = Spill()
        self._last: dict[int, bytes] = {}  # the query of the last row of each run
        self._has_ranks_only = False

    def __enter__(self) -> Grouping:
        return self

    def __exit__(self, *_: object) -> None:
        self._spill.close()

    def add(self, run: int, rows: Rows) -> None:
        """Add the next rows of a run."""
        if not len(rows):
            return
        self._has_ranks_only = rows.has_ranks_only
        is_change = np.zeros(len(rows), dtype=np.int64)
        is_change[rows.query.changes()] = 1
        is_change[0] = self._last.get(run) != rows.query[0]
        self._last[run] = rows.query[len(rows) - 1]
        marked = MarkedRows(rows, np.full(len(rows), run), is_change)
        self._rows.append(marked)
        self._size += marked.size
        if self._size > self.limit:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._spill.write(concatenate_marked(self._rows))
        self._rows, self._size = [], 0

    def by_query(self, progress: Callable[[float], None]) -> Iterator[RunRows]:
        """The rows of whole queries; ``progress`` is told which share of them was handed on."""
        if self._spill.is_empty:
            if self._rows:
                yield from self._group(concatenate_marked(self._rows))
            return
        self._flush()
        yield from self._partitions(self._spill, progress)

    def _partitions(self, spill: Spill, progress: Callable[[float], None]) -> Iterator[RunRows]:
        sizes = spill.sizes()
        for number, size in enumerate(sizes.tolist()):
            if size > self.limit and spill.depth < MAX_DEPTH and spill.is_mixed(number, self.faults):
                with Spill(spill.depth + 1) as finer:
                    for segment in spill.segments[number]:
                        finer.write(spill.read(segment, self.faults))
                    yield from self._partitions(finer, lambda share: None)
            elif size:
                parts = [spill.read(segment, self.faults) for segment in spill.segments[number]]
                yield from self._group(concatenate_marked(parts))
            progress(float(sizes[: number + 1].sum() / sizes.sum()))

    def _group(self, marked: MarkedRows) -> Iterator[RunRows]:
        """The rows by run and query, with notes on queries that resume after others."""
        group, groups = number_ids(marked.rows.query, marked.run)
        order = order_by_group(group, groups)
        marked, group = marked.take(order), group[order]
        self._report_split(marked, group)
        for run in np.unique(marked.run).tolist():
            rows = marked.rows.select(marked.run == run)
            yield run, rows.with_ranks_only(self._has_ranks_only)

    def _report_split(self, marked: MarkedRows, group: Ints) -> None:
        is_resumed = marked.is_change.astype(bool)
        is_resumed[np.flatnonzero(np.diff(group, prepend=-1))] = False  # the first row of each query
        resumed = np.flatnonzero(is_resumed)
        resumed = resumed[np.unique(group[resumed], return_index=True)[1]]
        resumed = resumed[np.argsort(marked.rows.line[resumed])]
        query = marked.rows.query
        report_split_queries(self.faults, marked.rows.line[resumed], lambda at: query[int(resumed[at])])
