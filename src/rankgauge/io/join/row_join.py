"""Rows joined with judgments batch by batch: the kernel of every format with columns, and of every engine.

    reader, engine → batches of Rows → whole_queries → RowJoin.add → RowJoin.result → Scan (with Hits)

A batch may end anywhere; ``whole_queries`` carries the rows of its last query over to the next one. A batch of whole
queries is checked, ranked and joined, and its unjudged rows are forgotten: memory is that of one batch, of the judged
rows and of the query ids. Faults, warnings, notes and row numbers are those of a run that is read into memory.

An engine that has a partition of whole queries needs no more than this::

    faults = Faults("partition")
    kernel = RowJoin(qrels, faults, compat="trec_eval-9")
    for rows in whole_queries(batches):  # Rows, for example of arrow.rows_of_batches
        kernel.add(rows)
    faults.raise_errors()
    hits = kernel.result().hits  # one entry for every judged query; those without a row are Status.MISSING
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from rankgauge.core.hits_builder import HitsBuilder
from rankgauge.core.ids import Ids, repeated
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.core.tables import group_of
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.odd import report_odd_run
from rankgauge.io.formats.columns import scores_from_ranks
from rankgauge.io.join.blocks import Scan, ScatteredError
from rankgauge.io.rows import Rows, concatenate_rows, report_duplicates, report_long_ids
from rankgauge.io.sources import DEFAULT_LIMITS


class RowJoin:
    """The state of a join: ``add`` rows of whole queries, then take the ``result``."""

    def __init__(
        self,
        qrels: Qrels,
        faults: Faults,
        *,
        compat: Compat = "trec_eval-9",
        on_duplicate: OnDuplicate = "error",
        max_id_bytes: int = DEFAULT_LIMITS.line,
    ) -> None:
        self.faults, self.on_duplicate, self.max_id_bytes = faults, on_duplicate, max_id_bytes
        self.builder = HitsBuilder(qrels, compat)
        self._seen: dict[bytes, None] = {}
        self.rows, self.tag = 0, b""

    def add(self, rows: Rows) -> None:
        """Check, rank and join the rows of whole queries, each of them contiguous.

        Raises ``ScatteredError`` if one of the queries was added before. What is wrong is added to the faults; after an
        error nothing is joined any more, only checked.
        """
        if rows.empty:
            self.builder.add_empty(Ids.from_bytes(rows.empty))
            self._see(list(rows.empty))
        if not len(rows):
            return
        begins = rows.query.changes()
        names = rows.query.take(begins)
        self._see(list(names))
        self.rows += len(rows)
        if rows.tag is not None:
            self.tag = rows.tag[len(rows) - 1]
        if rows.has_ranks_only:
            rows = scores_from_ranks(rows)
        report_long_ids(self.faults, rows.line, rows.query, rows.doc, self.max_id_bytes)
        report_odd_run(rows)
        offsets = np.append(begins, len(rows))
        numbers = self.builder.numbers(names)
        if not self.faults.total("error") and self.builder.add(numbers, offsets, rows.doc, rows.value):
            return
        group = group_of(offsets)
        first_rows, repeated_rows = repeated(rows.doc, group)
        if self.on_duplicate == "error":
            report_duplicates(self.faults, rows.line, rows.doc, rows.query.__getitem__, first_rows, repeated_rows)
        elif not self.faults.total("error"):
            kept = np.delete(np.arange(len(rows)), repeated_rows)
            offsets = np.searchsorted(kept, offsets)
            self.builder.add(numbers, offsets, rows.doc.take(kept), rows.value[kept])

    def _see(self, names: list[bytes]) -> None:
        """Remember queries; raise if one of them was there before."""
        before = len(self._seen)
        self._seen.update(dict.fromkeys(names))
        if len(self._seen) < before + len(names):
            raise ScatteredError

    def result(self) -> Scan:
        """The join of everything that was added."""
        return Scan(self.builder.build(), self.tag, self.rows, Ids.from_bytes(list(self._seen)))


def whole_queries(batches: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows in batches that end where a query ends."""
    held: list[Rows] = []  # of one query, of which more may follow
    for rows in batches:
        if rows.empty:
            yield replace(rows.slice(0, 0), empty=rows.empty)
            rows = replace(rows, empty=())
        if not len(rows):
            continue
        begins = rows.query.changes()
        if held and held[-1].query[0] == rows.query[0]:
            end = int(begins[1]) if len(begins) > 1 else len(rows)
            held.append(rows.slice(0, end))
            begins = begins[1:]
        if len(begins):
            if held:
                yield concatenate_rows(held)
            if begins[-1] > begins[0]:
                yield rows.slice(int(begins[0]), int(begins[-1]))
            held = [rows.slice(int(begins[-1]), len(rows))]
    if held:
        yield concatenate_rows(held)
