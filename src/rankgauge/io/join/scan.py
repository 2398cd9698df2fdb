"""A TREC run, scanned as bytes: judged rows, counts and faults out, and no run in memory.

The file goes by in blocks. Of a block the rows of its complete queries are cut, ranked and looked up among the
judgments; what is not judged is only counted. The rows of the last query, of which more may follow, are carried over to
the next block. A file whose queries do not stand together is left to the plain reader.
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
from rankgauge.io import text
from rankgauge.io.checks import ranks
from rankgauge.io.checks.faults import Faults
from rankgauge.io.checks.invisible import DELETE, add_invisible
from rankgauge.io.checks.swapped import refuse_swapped
from rankgauge.io.formats import trec
from rankgauge.io.formats.tokens import Bytes, Lines, cut
from rankgauge.io.rows import add_duplicates, refuse_long
from rankgauge.io.sources import Stream

BLOCK = 1 << 20  # large enough that a block's fixed cost is small, small enough for a cache
Progress = Callable[[int], None]


class ScatteredError(Exception):
    """A query's rows do not stand together, so that no block can know all of them."""


@dataclass(frozen=True, eq=False)
class Scan:
    """What a scan found out."""

    hits: Hits
    tag: bytes  # the name on the last line
    rows: int
    queries: Ids  # all of them, judged or not


def scan(
    stream: Stream,
    qrels: Qrels,
    faults: Faults,
    *,
    compat: ranking.Compat = "trec_eval-9",
    on_duplicate: OnDuplicate = "error",
    progress: Progress | None = None,
) -> Scan:
    """Read a run from a stream and join it with judgments; raises where anything is wrong."""
    scanner = _Scanner(qrels.as_documents(), faults, compat, on_duplicate, stream.limits.line)
    # Freeing one large array makes glibc keep what later, smaller ones give back, instead of asking for fresh pages
    # again and again: a fifth of the time.
    np.empty(1 << 24, dtype=np.uint8)
    buffer = np.zeros(BLOCK + PADDING, dtype=np.uint8)
    held, last, begun = 0, False, False
    while not last:
        filled, last = _fill(stream, buffer, held)
        if not begun:
            filled, begun = _begin(faults, buffer, filled, last=last), True
        size = filled if last else _complete(stream, buffer, filled)
        used = scanner.block(buffer[: size + PADDING], last=last) if size else 0
        held = filled - used
        buffer[:held] = buffer[used:filled].copy()
        if not used and not last:
            # One query, or one line, fills the whole block: it needs a larger one.
            buffer = np.concatenate([buffer, np.zeros(len(buffer), dtype=np.uint8)])
        if progress is not None:
            progress(stream.done)
    faults.stop()
    if not scanner.rows:
        raise InputError.at(faults.source, None, "no lines with anything on them")
    return scanner.result()


def _fill(stream: Stream, buffer: Bytes, held: int) -> tuple[int, bool]:
    """Read until the buffer is full; says whether that was the last of it."""
    view = buffer.data
    filled, room = held, len(buffer) - PADDING
    while filled < room:
        size = stream.readinto(view[filled:room])
        if not size:
            return filled, True
        filled += size
    return filled, False


def _begin(faults: Faults, buffer: Bytes, filled: int, *, last: bool) -> int:
    """See that the first block is the text of a run, and skip a byte order mark."""
    data = text.checked(faults, buffer[:filled].tobytes())
    refuse_swapped(faults.source, data if last else data[: data.rfind(b"\n") + 1], "run")
    buffer[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return len(data)


def _complete(stream: Stream, buffer: Bytes, filled: int) -> int:
    """The size of the part that ends where a line ends; 0 where none does yet."""
    reach = min(filled, stream.limits.line + 1)
    for size in (min(4096, reach), reach):
        found = buffer[filled - size : filled].tobytes().rfind(b"\n")
        if found >= 0:
            return filled - size + found + 1
    if filled > stream.limits.line:
        raise InputError.at(
            stream.path, None, f"a line of more than {stream.limits.line} bytes", hint="raise it with --max-line"
        )
    return 0


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of some queries."""

    line: Ints
    docs: Ids
    scores: Floats
    offsets: Ints

    def without(self, rows: Ints) -> _Rows:
        """All but some of them."""
        keep = np.delete(np.arange(len(self.line)), rows)
        offsets = offsets_of(group_of(self.offsets)[keep], len(self.offsets) - 1)
        return _Rows(self.line[keep], self.docs.take(keep), self.scores[keep], offsets)


class _Scanner:
    """What is known so far."""

    def __init__(
        self, qrels: Qrels, faults: Faults, compat: ranking.Compat, on_duplicate: OnDuplicate, longest: int
    ) -> None:
        self.qrels, self.faults, self.compat, self.on_duplicate = qrels, faults, compat, on_duplicate
        self.longest = longest  # bytes that an id may have
        self.known = {query: number for number, query in enumerate(qrels.queries)}
        self.seen: dict[bytes, None] = {}
        self.retrieved = np.zeros(len(qrels.queries), dtype=np.int64)
        self.status = np.full(len(qrels.queries), Status.MISSING, dtype=np.uint8)
        self.found: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []
        self.rows, self.lines, self.usual, self.tag = 0, 0, 0, b""

    def block(self, buffer: Bytes, *, last: bool) -> int:
        """Take in the complete queries of a block; says how many bytes that were."""
        lines = cut(buffer, len(trec.RUN_COLUMNS), before=self.lines)
        query = lines.column(0)
        begins = query.changes()
        used = len(buffer) - PADDING
        if not last and len(begins):
            # The last query may go on in the next block.
            used = int(query.start[begins[-1]])
            self.lines = int(lines.line[begins[-1]]) - 1
            lines, query, begins = lines.head(int(begins[-1])), query.head(int(begins[-1])), begins[:-1]
        else:
            self.lines += lines.total
        self._queries(lines, query, begins)
        if last and len(lines):
            self.tag = lines.column(5)[len(lines) - 1]
        return used

    def _queries(self, lines: Lines, query: Ids, begins: Ints) -> None:
        """Rank and look up the rows of some complete queries."""
        names = list(query.take(begins))
        before = len(self.seen)
        self.seen.update(dict.fromkeys(names))
        if len(self.seen) < before + len(names):
            raise ScatteredError
        self.rows += len(lines)
        if not self.usual and len(lines):
            self.usual = int(lines.count[0])
        scores, wrong = trec.check_run(self.faults, lines, self.usual or len(trec.RUN_COLUMNS))
        if not len(lines):
            return
        # A query that is not judged has a number too, behind the others, so that its rows can be checked.
        unknown = len(self.known) + before
        number = np.array([self.known.get(name, unknown + n) for n, name in enumerate(names)], dtype=np.int64)
        rows = _Rows(lines.line, lines.column(2), scores, np.append(begins, len(lines)))
        if len(wrong):
            rows = rows.without(wrong)
        else:
            self._look_at(lines, rows, query)
        self._rank(rows, names, number)

    def _look_at(self, lines: Lines, rows: _Rows, query: Ids) -> None:
        """What is wrong or odd in ids and ranks, at little cost: most ranks are not read, nor ids of plain ASCII."""
        ranks.add_contradictions(
            self.faults, rows.line, query.__getitem__, lambda some: lines.cells(3, some), rows.scores, rows.offsets
        )
        refuse_long(self.faults, rows.line, query, rows.docs, self.longest)
        if not lines.regular or lines.buffer.max() >= DELETE:
            add_invisible(self.faults, rows.line, query, rows.docs)

    def _rank(self, rows: _Rows, names: list[bytes], number: Ints) -> None:
        hashes = rows.docs.hash(np.repeat(seeds(number), np.diff(rows.offsets)))
        ordered = np.sort(hashes)
        if (ordered[1:] == ordered[:-1]).any():
            place = group_of(rows.offsets)
            first, second = repeated(rows.docs, number[place], hashes)
            if self.on_duplicate == "error":
                add_duplicates(self.faults, rows.line, rows.docs, lambda row: names[int(place[row])], first, second)
            elif len(second):
                rows, hashes = rows.without(second), np.delete(hashes, second)
        if self.faults.total("error"):
            return
        sizes = np.diff(rows.offsets)
        places = ranking.rank(rows.offsets, rows.docs, rows.scores, self.compat)
        judged = np.flatnonzero(number < len(self.known))
        self.retrieved[number[judged]] = sizes[judged]
        self.status[number[judged]] = Status.ANSWERED
        group = np.repeat(number, sizes)
        found, ordinal = self.qrels.index.find(rows.docs, group, hashes)
        self.found.append((group[found], places.rank[found], places.tie_first[found], places.tie_last[found], ordinal))

    def result(self) -> Scan:
        """The join of all that was seen."""
        query, rank, tie_first, tie_last, ordinal = (np.concatenate(column) for column in zip(*self.found, strict=True))
        by = np.lexsort((rank, query))
        hits = Hits(
            queries=self.qrels.queries,
            status=self.status,
            retrieved=self.retrieved,
            offsets=offsets_of(query[by], len(self.qrels.queries)),
            rank=rank[by],
            grade=self.qrels.grades[ordinal[by]],
            ordinal=ordinal[by],
            tie_first=tie_first[by],
            tie_last=tie_last[by],
            judged_offsets=self.qrels.offsets,
            judged=self.qrels.grades,
            columns=self.qrels.columns,
        )
        return Scan(hits, self.tag, self.rows, Ids.from_bytes(list(self.seen)))
