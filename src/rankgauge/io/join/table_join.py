"""All runs of one source that comes in batches of rows, joined with judgments in bounded memory.

The rows of a query are usually contiguous; then each batch is joined and forgotten. If they are not, the source is read
again and its rows are grouped first. A table with a column of run names has a join for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rankgauge.core.ids import IdIndex, Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import Run
from rankgauge.errors import InputError
from rankgauge.io.checks.faults import Faults
from rankgauge.io.join.blocks import Scan, ScatteredError
from rankgauge.io.join.grouping import Grouping
from rankgauge.io.join.row_join import RowJoin, WholeQueries
from rankgauge.io.join.scan import Progress
from rankgauge.io.options import Reading
from rankgauge.io.rows import Rows, concatenate_rows, raise_or_warn

GROUPING_SHARE = 0.7  # of the progress, the part in which the rows of scattered queries are read


@dataclass(frozen=True, eq=False)
class BatchSource:
    """A source that can be read in batches, more than once."""

    name: str
    batches: Callable[[Faults], Iterator[Rows]]  # from the start
    position: Callable[[], int]  # the bytes that were read
    has_many_runs: bool = True  # whether a column of tags separates runs


class TableJoin:
    """The join of each run of a source."""

    def __init__(
        self, qrels: Qrels, source: BatchSource, reading: Reading, compat: Compat, progress: Progress | None = None
    ) -> None:
        self.source, self.reading = source, reading
        self._qrels, self._compat, self._report = qrels, compat, progress
        self._start()

    def _start(self) -> None:
        self.faults = Faults(self.source.name, strict=self.reading.limits.strict)
        self._joins: dict[bytes, RowJoin] = {}
        self._whole: list[WholeQueries] = []

    def join(self) -> list[Scan]:
        """Read everything; raises if anything is wrong. Runs are in the order of their first rows."""
        try:
            self._join_contiguous()
        except ScatteredError:
            self._start()
            self._join_scattered()
        raise_or_warn(self.faults)
        if not self._joins:
            raise InputError.at(self.source.name, None, "no results in the file")
        return [join.result() for join in self._joins.values()]

    def _join_contiguous(self) -> None:
        for rows in self.source.batches(self.faults):
            for number, part in self._by_run(rows):
                for block in self._whole[number].push(part):
                    self._join_of(number).add(block)
            self._progress(1)
        for number, whole in enumerate(self._whole):
            for block in whole.finish():
                self._join_of(number).add(block)

    def _join_scattered(self) -> None:
        with Grouping(self.faults, self.reading.memory) as grouping:
            for rows in self.source.batches(self.faults):
                for number, part in self._by_run(rows):
                    grouping.add(number, part)
                self._progress(GROUPING_SHARE)
            for number, part in grouping.by_query(lambda share: self._progress(GROUPING_SHARE * (1 - share) + share)):
                self._join_of(number).add(part)

    def _progress(self, share: float) -> None:
        """Report how far this is, if reading the source to its end is this share of the work."""
        if self._report is not None:
            self._report(int(share * self.source.position()))

    def _join_of(self, number: int) -> RowJoin:
        return list(self._joins.values())[number]

    def _by_run(self, rows: Rows) -> Iterator[tuple[int, Rows]]:
        """The rows of each run in a batch, with the number of the run."""
        if not len(rows) and not rows.empty:
            return
        for part in rows.by_run() if self.source.has_many_runs else [rows]:
            tag = b"" if part.tag is None else part.tag[len(part) - 1]
            key = tag if self.source.has_many_runs else b""
            if key not in self._joins:
                self._joins[key] = RowJoin(
                    self._qrels,
                    self.faults,
                    compat=self._compat,
                    on_duplicate=self.reading.on_duplicate,
                    max_id_bytes=self.reading.limits.line,
                )
                self._whole.append(WholeQueries())
            self._joins[key].tag = tag
            yield list(self._joins).index(key), part


def first_results(source: BatchSource, scan: Scan, rows: int) -> Run:
    """The results of the first queries of a run, up to about this many rows: the source is read again for them."""
    assert scan.sizes is not None
    chosen = scan.queries.head(int(np.searchsorted(np.cumsum(scan.sizes) - scan.sizes, rows)))
    index = IdIndex(chosen, np.zeros(len(chosen), dtype=np.int64))
    left, parts = int(scan.sizes[: len(chosen)].sum()), []
    for batch in source.batches(Faults(source.name)):
        part = batch.take(_rows_of_run(batch, scan.tag if source.has_many_runs else None))
        part = part.take(index.find(part.query, np.zeros(len(part), dtype=np.int64))[0])
        parts.append(part)
        left -= len(part)
        if not left:
            break
    rows_found = concatenate_rows(parts)
    return Run.build(rows_found.query, rows_found.doc, rows_found.value)


def _rows_of_run(rows: Rows, tag: bytes | None) -> Ints:
    if tag is None or rows.tag is None:
        return np.arange(len(rows))
    index = IdIndex(Ids.from_bytes([tag]), np.zeros(1, dtype=np.int64))
    return index.find(rows.tag, np.zeros(len(rows), dtype=np.int64))[0]
