"""The blocks of a TREC run, scanned with NumPy: the reference for the compiled scanner, and what is used without it."""

from __future__ import annotations

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.dataclass import dataclass
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import HitsBuilder
from rankgauge.core.ids import DELETE, PADDING, Ids, Ints, repeated
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate
from rankgauge.core.tables import Floats, group_of, keep_freed_memory, offsets_of
from rankgauge.io.checks import ranks
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.invisible import report_invisible
from rankgauge.io.formats import trec
from rankgauge.io.formats.tokens import Bytes, TokenLines, split_columns
from rankgauge.io.rows import report_duplicates, report_long_ids


class ScatteredError(Exception):
    """The rows of a query are not contiguous, so that no block contains all of them."""


@dataclass(frozen=True, eq=False)
class Scan:
    """The result of a scan."""

    hits: Hits
    tag: bytes  # the tag on the last line
    rows: int
    queries: Ids  # all of them, judged or not
    sizes: Ints | None = None  # the number of rows of each, if that is known


@dataclass(frozen=True, eq=False)
class _QueryRows:
    """The rows of some complete queries."""

    line: Ints
    docs: Ids
    scores: Floats
    offsets: Ints

    def without(self, rows: Ints) -> _QueryRows:
        """The rows except for some of them."""
        keep = np.delete(np.arange(len(self.line)), rows)
        offsets = offsets_of(group_of(self.offsets)[keep], len(self.offsets) - 1)
        return _QueryRows(self.line[keep], self.docs.take(keep), self.scores[keep], offsets)


class BlockScanner:
    """The state of a scan."""

    def __init__(
        self, qrels: Qrels, faults: Faults, compat: ranking.Compat, on_duplicate: OnDuplicate, max_id_bytes: int
    ) -> None:
        self.faults, self.on_duplicate, self.max_id_bytes = faults, on_duplicate, max_id_bytes
        self.builder = HitsBuilder(qrels, compat, max_id_bytes=max_id_bytes)
        self.seen_queries: dict[bytes, None] = {}
        self.rows, self.lines, self.usual_columns, self.tag = 0, 0, 0, b""
        keep_freed_memory()

    def scan_block(self, buffer: Bytes, is_last: bool) -> int:
        """Scan the complete queries of a block and return their size in bytes."""
        lines = split_columns(buffer, len(trec.RUN_COLUMNS), before=self.lines)
        query = lines.column(0)
        begins = query.changes()
        used = len(buffer) - PADDING
        if not is_last and len(begins):
            # The last query may continue in the next block.
            used = int(query.start[begins[-1]])
            self.lines = int(lines.line[begins[-1]]) - 1
            lines, query, begins = lines.head(int(begins[-1])), query.head(int(begins[-1])), begins[:-1]
        else:
            self.lines += lines.total
        self._scan_queries(lines, query, begins)
        if is_last and len(lines):
            self.tag = lines.column(5)[len(lines) - 1]
        return used

    def _scan_queries(self, lines: TokenLines, query: Ids, begins: Ints) -> None:
        """Rank and look up the rows of complete queries."""
        names = list(query.take(begins))
        self._see(names)
        self.rows += len(lines)
        if not self.usual_columns and len(lines):
            self.usual_columns = int(lines.count[0])
        usual_columns = self.usual_columns or len(trec.RUN_COLUMNS)
        scores, wrong_rows = trec.read_run_lines(self.faults, lines, usual_columns)
        if not len(lines):
            return
        rows = _QueryRows(lines.line, lines.column(2), scores, np.append(begins, len(lines)))
        if len(wrong_rows):
            rows = rows.without(wrong_rows)
        else:
            self._check_rows(lines, rows, query)
        self._rank(rows, names, self.builder.numbers(query.take(begins)))

    def _see(self, names: list[bytes]) -> None:
        """Remember the queries of a block; raise if one of them was there before."""
        before = len(self.seen_queries)
        self.seen_queries.update(dict.fromkeys(names))
        if len(self.seen_queries) < before + len(names):
            raise ScatteredError

    def _check_rows(self, lines: TokenLines, rows: _QueryRows, query: Ids) -> None:
        """Report what is wrong or odd in ids and ranks, cheaply: most ranks and ids of plain ASCII are not read."""
        ranks.report_contradictions(
            self.faults, rows.line, query.__getitem__, lambda cells: lines.cells(3, cells), rows.scores, rows.offsets
        )
        report_long_ids(self.faults, rows.line, query, rows.docs, self.max_id_bytes)
        if not lines.regular or lines.buffer.max() >= DELETE:
            report_invisible(self.faults, rows.line, query, rows.docs)

    def _rank(self, rows: _QueryRows, names: list[bytes], numbers: Ints) -> None:
        if self.faults.total("error") or not self.builder.add(numbers, rows.offsets, rows.docs, rows.scores):
            self._rank_without_duplicates(rows, names, numbers)

    def _rank_without_duplicates(self, rows: _QueryRows, names: list[bytes], numbers: Ints) -> None:
        """Report documents that appear twice in a ranking, or leave them out."""
        group = group_of(rows.offsets)
        first_rows, repeated_rows = repeated(rows.docs, group)
        if self.on_duplicate == "error":
            report_duplicates(
                self.faults, rows.line, rows.docs, lambda row: names[int(group[row])], first_rows, repeated_rows
            )
        elif not self.faults.total("error"):
            rows = rows.without(repeated_rows)
            self.builder.add(numbers, rows.offsets, rows.docs, rows.scores)

    def result(self) -> Scan:
        """The join of everything that was scanned."""
        return Scan(self.builder.build(), self.tag, self.rows, Ids.from_bytes(list(self.seen_queries)))
