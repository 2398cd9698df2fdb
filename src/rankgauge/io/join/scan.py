"""A TREC run scanned as bytes: it yields judged rows, counts and faults, without a run in memory.

The file is read in blocks. The rows of the complete queries of a block are split into columns, ranked and looked up
among the judgments; unjudged rows are only counted. The rows of the last query, of which more may follow, are carried
over to the next block. A file whose queries are not contiguous is left to the plain reader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankgauge.core import ranking
from rankgauge.core.hits import Hits
from rankgauge.core.ids import PADDING, Ids, Ints, repeated, seeds
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import OnDuplicate, Status
from rankgauge.core.tables import Floats, group_of, offsets_of
from rankgauge.errors import InputError
from rankgauge.io.checks import ranks
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.invisible import DELETE, report_invisible
from rankgauge.io.checks.swapped import check_kind
from rankgauge.io.formats import trec
from rankgauge.io.formats.tokens import Bytes, TokenLines, split_columns
from rankgauge.io.rows import report_duplicates, report_long_ids
from rankgauge.io.sources import ByteStream
from rankgauge.io.text import check_text

BLOCK_BYTES = 1 << 20  # large enough that the fixed cost of a block is small, small enough for a cache
Progress = Callable[[int], None]


class ScatteredError(Exception):
    """The rows of a query are not contiguous, so that no block contains all of them."""


@dataclass(frozen=True, eq=False)
class Scan:
    """The result of a scan."""

    hits: Hits
    tag: bytes  # the tag on the last line
    rows: int
    queries: Ids  # all of them, judged or not


def scan(
    stream: ByteStream,
    qrels: Qrels,
    faults: Faults,
    *,
    compat: ranking.Compat = "trec_eval-9",
    on_duplicate: OnDuplicate = "error",
    progress: Progress | None = None,
) -> Scan:
    """Read a run from a stream and join it with judgments; raises if anything is wrong."""
    scanner = _Scanner(qrels.as_documents(), faults, compat, on_duplicate, stream.limits.line)
    # Freeing one large array makes glibc keep the memory that later, smaller ones release, instead of requesting new
    # pages again and again: this saves a fifth of the time.
    np.empty(1 << 24, dtype=np.uint8)
    buffer = np.zeros(BLOCK_BYTES + PADDING, dtype=np.uint8)
    kept, is_last, is_first = 0, False, True
    while not is_last:
        filled, is_last = _fill(stream, buffer, kept)
        if is_first:
            filled, is_first = _check_first_block(faults, buffer, filled, is_last=is_last), False
        size = filled if is_last else _complete_lines(stream, buffer, filled)
        used = scanner.scan_block(buffer[: size + PADDING], is_last=is_last) if size else 0
        kept = filled - used
        buffer[:kept] = buffer[used:filled].copy()
        if not used and not is_last:
            # One query, or one line, fills the entire block: it needs a larger one.
            buffer = np.concatenate([buffer, np.zeros(len(buffer), dtype=np.uint8)])
        if progress is not None:
            progress(stream.bytes_read)
    faults.raise_errors()
    if not scanner.rows:
        raise InputError.at(faults.source, None, "no lines with content")
    return scanner.result()


def _fill(stream: ByteStream, buffer: Bytes, kept: int) -> tuple[int, bool]:
    """Read until the buffer is full; return its size and whether the stream is at its end."""
    view = buffer.data
    filled, room = kept, len(buffer) - PADDING
    while filled < room:
        size = stream.readinto(view[filled:room])
        if not size:
            return filled, True
        filled += size
    return filled, False


def _check_first_block(faults: Faults, buffer: Bytes, filled: int, *, is_last: bool) -> int:
    """Raise if the first block is not the text of a run; skip a byte order mark and return the new size."""
    data = check_text(faults, buffer[:filled].tobytes())
    check_kind(faults.source, data if is_last else data[: data.rfind(b"\n") + 1], "run")
    buffer[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return len(data)


def _complete_lines(stream: ByteStream, buffer: Bytes, filled: int) -> int:
    """The size of the complete lines; 0 if there is none yet."""
    reach = min(filled, stream.limits.line + 1)
    for size in (min(4096, reach), reach):
        newline = buffer[filled - size : filled].tobytes().rfind(b"\n")
        if newline >= 0:
            return filled - size + newline + 1
    if filled > stream.limits.line:
        raise InputError.at(
            stream.path, None, f"a line of more than {stream.limits.line} bytes", hint="raise the limit with --max-line"
        )
    return 0


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


class _Scanner:
    """The state of a scan."""

    def __init__(
        self, qrels: Qrels, faults: Faults, compat: ranking.Compat, on_duplicate: OnDuplicate, max_id_bytes: int
    ) -> None:
        self.qrels, self.faults, self.compat, self.on_duplicate = qrels, faults, compat, on_duplicate
        self.max_id_bytes = max_id_bytes
        self.query_numbers = {query: number for number, query in enumerate(qrels.queries)}
        self.seen_queries: dict[bytes, None] = {}
        self.retrieved = np.zeros(len(qrels.queries), dtype=np.int64)
        self.status = np.full(len(qrels.queries), Status.MISSING, dtype=np.uint8)
        self.judged_rows: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []
        self.rows, self.lines, self.usual_columns, self.tag = 0, 0, 0, b""

    def scan_block(self, buffer: Bytes, *, is_last: bool) -> int:
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
        queries_before = len(self.seen_queries)
        self.seen_queries.update(dict.fromkeys(names))
        if len(self.seen_queries) < queries_before + len(names):
            raise ScatteredError
        self.rows += len(lines)
        if not self.usual_columns and len(lines):
            self.usual_columns = int(lines.count[0])
        usual_columns = self.usual_columns or len(trec.RUN_COLUMNS)
        scores, wrong_rows = trec.read_run_lines(self.faults, lines, usual_columns)
        if not len(lines):
            return
        # An unjudged query has a number too, after the others, so that its rows can be checked.
        unjudged = len(self.query_numbers) + queries_before
        numbers = [self.query_numbers.get(name, unjudged + n) for n, name in enumerate(names)]
        rows = _QueryRows(lines.line, lines.column(2), scores, np.append(begins, len(lines)))
        if len(wrong_rows):
            rows = rows.without(wrong_rows)
        else:
            self._check_rows(lines, rows, query)
        self._rank(rows, names, np.array(numbers, dtype=np.int64))

    def _check_rows(self, lines: TokenLines, rows: _QueryRows, query: Ids) -> None:
        """Report what is wrong or odd in ids and ranks, cheaply: most ranks and ids of plain ASCII are not read."""
        ranks.report_contradictions(
            self.faults, rows.line, query.__getitem__, lambda cells: lines.cells(3, cells), rows.scores, rows.offsets
        )
        report_long_ids(self.faults, rows.line, query, rows.docs, self.max_id_bytes)
        if not lines.regular or lines.buffer.max() >= DELETE:
            report_invisible(self.faults, rows.line, query, rows.docs)

    def _rank(self, rows: _QueryRows, names: list[bytes], number: Ints) -> None:
        hashes = rows.docs.hash(np.repeat(seeds(number), np.diff(rows.offsets)))
        sorted_hashes = np.sort(hashes)
        if (sorted_hashes[1:] == sorted_hashes[:-1]).any():
            group = group_of(rows.offsets)
            first_rows, repeated_rows = repeated(rows.docs, number[group], hashes)
            if self.on_duplicate == "error":
                report_duplicates(
                    self.faults, rows.line, rows.docs, lambda row: names[int(group[row])], first_rows, repeated_rows
                )
            elif len(repeated_rows):
                rows, hashes = rows.without(repeated_rows), np.delete(hashes, repeated_rows)
        if self.faults.total("error"):
            return
        sizes = np.diff(rows.offsets)
        ranked = ranking.rank(rows.offsets, rows.docs, rows.scores, self.compat)
        judged = np.flatnonzero(number < len(self.query_numbers))
        self.retrieved[number[judged]] = sizes[judged]
        self.status[number[judged]] = Status.ANSWERED
        query = np.repeat(number, sizes)
        hits, ordinal = self.qrels.index.find(rows.docs, query, hashes)
        self.judged_rows.append(
            (query[hits], ranked.rank[hits], ranked.tie_first[hits], ranked.tie_last[hits], ordinal)
        )

    def result(self) -> Scan:
        """The join of everything that was scanned."""
        columns = zip(*self.judged_rows, strict=True)
        query, rank, tie_first, tie_last, ordinal = (np.concatenate(column) for column in columns)
        order = np.lexsort((rank, query))
        hits = Hits(
            queries=self.qrels.queries,
            status=self.status,
            retrieved=self.retrieved,
            offsets=offsets_of(query[order], len(self.qrels.queries)),
            rank=rank[order],
            grade=self.qrels.grades[ordinal[order]],
            ordinal=ordinal[order],
            tie_first=tie_first[order],
            tie_last=tie_last[order],
            judged_offsets=self.qrels.offsets,
            judged=self.qrels.grades,
            columns=self.qrels.columns,
            by_group=self.qrels.groups_for(self.compat),
        )
        return Scan(hits, self.tag, self.rows, Ids.from_bytes(list(self.seen_queries)))
