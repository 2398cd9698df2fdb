"""The only maker of ``Hits``: whole queries are ranked and joined with the judgments, in whatever portions they come.

Memory is that of the judged rows: unjudged rows are ranked, counted and forgotten. In which portions the rows come
changes nothing, to the last bit. Ranking and joining exist twice, in the extension and with NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import compiled, ranking
from rankgauge.core.arrays import Column, Floats, offsets_of
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ids, Ints, repeated, seeds
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status

if TYPE_CHECKING:
    from rankgauge.core.passage_judgments import PassageJudgments
    from rankgauge.core.subtopic_judgments import SubtopicJudgments

ANY_LENGTH = (1 << 31) - 1
MAX_BUFFER_BYTES = (1 << 31) - 16  # of the extension's columns


class JudgedRows(NamedTuple):
    """Rows whose document is judged, by query and rank."""

    query: Ints  # the number of the query among the judged ones
    rank: Ints
    tie_first: Ints
    tie_last: Ints
    ordinal: Ints  # of the judgment


class JudgedQueries(NamedTuple):
    """What a join needs of the judgments: queries, and where the grades of each are."""

    queries: Ids
    offsets: Ints
    grades: Floats
    columns: Mapping[str, Column]
    by_group: SubtopicJudgments | PassageJudgments | None = None


NOTHING: Ints = np.zeros(0, dtype=np.int64)
NO_JUDGED_ROWS = JudgedRows(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


def build_hits(
    judged: JudgedQueries, rows: JudgedRows, status: NDArray[np.uint8], retrieved: Ints, offsets: Ints | None = None
) -> Hits:
    """The join of judged rows, which are sorted by query and rank; it has every judged query and no other.

    ``offsets`` say where the rows of each query begin, if that is known: then the queries of the rows are not needed.
    """
    return Hits(
        queries=judged.queries,
        status=status,
        retrieved=retrieved,
        offsets=offsets_of(rows.query, len(judged.queries)) if offsets is None else offsets,
        rank=rows.rank,
        grade=judged.grades[rows.ordinal],
        ordinal=rows.ordinal,
        tie_first=rows.tie_first,
        tie_last=rows.tie_last,
        judged_offsets=judged.offsets,
        judged=judged.grades,
        columns=judged.columns,
        by_group=judged.by_group,
    )


class HitsBuilder:
    """Collects the judged rows of one run: ``add`` whole queries, then ``build``.

    A shortcut that has ranked and joined queries by itself adds them with ``add_judged``. ``max_id_bytes`` is for the
    extension's scanner of TREC files only.
    """

    def __init__(self, qrels: Qrels, compat: ranking.Compat = "trec_eval-9", *, max_id_bytes: int = ANY_LENGTH) -> None:
        self.qrels, self.compat = qrels, compat
        queries = len(self.qrels.queries)
        self._retrieved = np.zeros(queries, dtype=np.int64)
        self._status = np.full(queries, Status.MISSING, dtype=np.uint8)
        self._judged_rows: list[JudgedRows] = []
        self.scanner: Any = None  # the extension's join, which keeps the rows that it joins
        if compiled.scanner is not None:
            self.scanner = compiled.scanner.Scanner(
                self.qrels.queries.parts,
                self.qrels.docs.parts,
                np.ascontiguousarray(self.qrels.offsets),
                compat == "trec_eval-10",
                max_id_bytes,
                compiled.SEED,
            )

    def numbers(self, queries: Ids) -> Ints:
        """The number of each query among the judged ones; -1 if it is not judged."""
        numbers = np.full(len(queries), -1, dtype=np.int64)
        rows, index_rows = self.qrels.query_index.find(queries, np.zeros(len(queries), dtype=np.int64))
        numbers[rows] = index_rows
        return numbers

    def add(self, queries: Ids, offsets: Ints, docs: Ids, scores: Floats) -> bool:
        """Rank the rows of whole queries and keep the judged ones. A query comes once, and all its rows with it.

        ``offsets`` say where the rows of each query begin and where the last one ends. False if a document appears
        twice in a query: then nothing is added, and the caller says why or leaves the second one out.
        """
        numbers = self.numbers(queries)
        if self.scanner is None or len(docs.buffer) > MAX_BUFFER_BYTES:
            is_added = self._add_with_numpy(numbers, offsets, docs, scores)
        else:
            is_added = self.scanner.join(
                docs.parts,
                np.ascontiguousarray(offsets, dtype=np.int64),
                np.ascontiguousarray(numbers, dtype=np.int64),
                np.ascontiguousarray(scores, dtype=np.float64),
            )
        if is_added:
            self.add_judged(numbers, np.diff(offsets))
        return is_added

    def add_judged(self, numbers: Ints, sizes: Ints, rows: JudgedRows | None = None) -> None:
        """Add queries that are joined already: the number of each (see ``numbers``), and how many rows it has.

        ``rows`` are the judged ones of them, sorted; None if the extension's join of this builder has them.
        """
        judged = np.flatnonzero(numbers >= 0)
        self._retrieved[numbers[judged]] = sizes[judged]
        self._status[numbers[judged]] = Status.ANSWERED
        if rows is not None:
            self._judged_rows.append(rows)

    def set_status(self, queries: Ids, status: NDArray[np.uint8] | Status) -> None:
        """Say how queries ended that have no rows."""
        numbers = self.numbers(queries)
        is_judged = numbers >= 0
        self._status[numbers[is_judged]] = status[is_judged] if isinstance(status, np.ndarray) else status

    def _add_with_numpy(self, numbers: Ints, offsets: Ints, docs: Ids, scores: Floats) -> bool:
        # An unjudged query has a number too, after the others, so that its documents can be distinguished.
        distinct = np.where(numbers < 0, len(self.qrels.queries) + np.arange(len(numbers)), numbers)
        query = np.repeat(distinct, np.diff(offsets))
        hashes = docs.hash(seeds(query))
        if len(repeated(docs, query, hashes)[0]):
            return False
        self._rank_and_find(query, offsets, docs, scores, hashes)
        return True

    def _rank_and_find(self, query: Ints, offsets: Ints, docs: Ids, scores: Floats, hashes: Any) -> None:
        ranked = ranking.rank(offsets, docs, scores, self.compat)
        rows, ordinal = self.qrels.index.find(docs, query, hashes)
        self._judged_rows.append(
            JudgedRows(query[rows], ranked.rank[rows], ranked.tie_first[rows], ranked.tie_last[rows], ordinal)
        )

    def add_with_repetitions(self, queries: Ids, offsets: Ints, docs: Ids, scores: Floats) -> None:
        """Add whole queries in which a document may appear twice: it counts each time."""
        numbers = self.numbers(queries)
        distinct = np.where(numbers < 0, len(self.qrels.queries) + np.arange(len(numbers)), numbers)
        query = np.repeat(distinct, np.diff(offsets))
        self._rank_and_find(query, offsets, docs, scores, docs.hash(seeds(query)))
        self.add_judged(numbers, np.diff(offsets))

    def build(self) -> Hits:
        """The join of everything that was added; it has every query of the judgments and no other."""
        qrels = self.qrels
        groups = qrels.groups_for(self.compat)
        judged = JudgedQueries(qrels.queries, qrels.offsets, qrels.grades, qrels.columns, groups)
        return build_hits(judged, self._all_judged_rows(), self._status, self._retrieved)

    def _all_judged_rows(self) -> JudgedRows:
        """All judged rows, by query and rank."""
        parts = list(self._judged_rows)
        if self.scanner is not None:
            parts.append(JudgedRows(*np.frombuffer(self.scanner.hits(), dtype=np.int64).reshape(5, -1)))
        if not parts:
            return NO_JUDGED_ROWS
        rows = JudgedRows(*map(np.concatenate, zip(*parts, strict=True)))
        # The rows of a query are sorted by rank if the extension found them.
        order = np.lexsort((rows.rank, rows.query)) if self._judged_rows else _by_query(rows.query)
        return JudgedRows(*(column[order] for column in rows))


def _by_query(query: Ints) -> Ints:
    """The rows by query, for rows whose queries are contiguous."""
    begins = np.flatnonzero(np.diff(query, prepend=-1))
    sizes = np.diff(begins, append=len(query))
    order = np.argsort(query[begins])
    begins, sizes = begins[order], sizes[order]
    return np.repeat(begins - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(query))


def join(qrels: Qrels, run: Run, *, compat: ranking.Compat = "trec_eval-9") -> Hits:
    """The join of judgments and a run in memory. A document that appears twice in a ranking counts each time."""
    builder = HitsBuilder(qrels, compat)
    rows = run.queries, run.offsets, run.docs, run.scores
    if not builder.add(*rows):
        builder.add_with_repetitions(*rows)
    if (run.status != Status.ANSWERED).any():
        others = np.flatnonzero(run.status != Status.ANSWERED)
        builder.set_status(run.queries.take(others), run.status[others])
    return builder.build()
