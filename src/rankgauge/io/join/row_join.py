"""Rows joined with judgments batch by batch: the kernel of every format with columns, and of every engine.

    reader, engine → batches of Rows → WholeQueries → RowJoin.add → RowJoin.result → Scan (with Hits)

A batch may end anywhere; ``WholeQueries`` carries the rows of its last query over to the next one. A batch of whole
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
from rankgauge.core.ids import Ids, Ints, repeated
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.core.run import OnDuplicate
from rankgauge.core.tables import group_of
from rankgauge.io.byte_streams import DEFAULT_LIMITS
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.odd import report_odd_rows
from rankgauge.io.formats.columns import scores_from_ranks
from rankgauge.io.join.blocks import Scan, ScatteredError
from rankgauge.io.rows import Rows, concatenate_rows, report_duplicates, report_long_ids


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
        self.tag = b""  # to be set by the caller
        self._seen: dict[bytes, None] = {}
        self._empty: list[bytes] = []  # queries without rows
        self._sizes: list[Ints] = []  # of the queries seen
        self._lines: list[Ints] = []  # of their first rows

    def add(self, rows: Rows) -> None:
        """Check, rank and join the rows of whole queries, each of them contiguous.

        Raises ``ScatteredError`` if one of the queries was added before. What is wrong is added to the faults; after an
        error nothing is joined any more, only checked.
        """
        if rows.empty:
            self.builder.add_empty(Ids.from_bytes(rows.empty))
            self._empty += rows.empty
        if not len(rows):
            return
        begins = rows.query.changes()
        names = rows.query.take(begins)
        offsets = np.append(begins, len(rows))
        self._see(list(names), np.diff(offsets), rows.line[begins])
        if rows.has_ranks_only:
            rows = scores_from_ranks(rows)
        report_long_ids(self.faults, rows.line, rows.query, rows.doc, self.max_id_bytes)
        report_odd_rows(rows, offsets)
        numbers = self.builder.numbers(names)
        if not self.faults.total("error") and self.builder.add(numbers, offsets, rows.doc, rows.value):
            return
        first_rows, repeated_rows = repeated(rows.doc, group_of(offsets))
        if self.on_duplicate == "error":
            report_duplicates(self.faults, rows.line, rows.doc, rows.query.__getitem__, first_rows, repeated_rows)
        elif not self.faults.total("error"):
            kept = np.delete(np.arange(len(rows)), repeated_rows)
            offsets = np.searchsorted(kept, offsets)
            self.builder.add(numbers, offsets, rows.doc.take(kept), rows.value[kept])

    def _see(self, names: list[bytes], sizes: Ints, lines: Ints) -> None:
        """Remember queries; raise if one of them was there before."""
        before = len(self._seen)
        self._seen.update(dict.fromkeys(names))
        if len(self._seen) < before + len(names):
            raise ScatteredError
        self._sizes.append(sizes)
        self._lines.append(lines)

    def result(self) -> Scan:
        """The join of everything that was added; queries are in the order of their first lines, empty ones last."""
        queries, empty = Ids.from_bytes([*self._seen, *self._empty]), np.zeros(len(self._empty), dtype=np.int64)
        sizes, lines = np.concatenate([*self._sizes, empty]), np.concatenate([*self._lines, empty])
        rows = len(self._seen)
        order = np.append(np.argsort(lines[:rows], kind="stable"), np.arange(rows, len(queries)))
        return Scan(self.builder.build(), self.tag, int(sizes.sum()), queries.take(order), sizes[order])


class WholeQueries:
    """Batches that end anywhere become batches that end where a query ends."""

    def __init__(self) -> None:
        self._held: list[Rows] = []  # of one query, of which more may follow

    def push(self, rows: Rows) -> Iterator[Rows]:
        """The rows of queries that are complete, as far as that is known."""
        if rows.empty:
            yield replace(rows.slice(0, 0), empty=rows.empty)
            rows = replace(rows, empty=())
        if not len(rows):
            return
        begins = rows.query.changes()
        if self._held and self._held[-1].query[0] == rows.query[0]:
            self._held.append(rows.slice(0, int(begins[1]) if len(begins) > 1 else len(rows)))
            begins = begins[1:]
        if len(begins):
            yield from self.finish()
            if begins[-1] > begins[0]:
                yield rows.slice(int(begins[0]), int(begins[-1]))
            self._held = [rows.slice(int(begins[-1]), len(rows))]

    def finish(self) -> Iterator[Rows]:
        """The rows of the last query."""
        if self._held:
            held, self._held = self._held, []
            yield concatenate_rows(held)


def whole_queries(batches: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows in batches that end where a query ends."""
    whole = WholeQueries()
    for rows in batches:
        yield from whole.push(rows)
    yield from whole.finish()
