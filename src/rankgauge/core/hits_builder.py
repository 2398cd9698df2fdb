"""Judgments joined with a run that arrives in blocks of whole queries: the one place that ranks a block and joins it.

Memory is that of the judged rows: unjudged rows are ranked, counted and forgotten. In which blocks the rows arrive
changes nothing: the result is the same to the last bit as that of :func:`rankgauge.core.hits.join` on all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.core import compiled, ranking
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ids, Ints, repeated, seeds
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Status
from rankgauge.core.tables import Floats, offsets_of

JudgedRows = tuple[Ints, Ints, Ints, Ints, Ints]  # query, rank, first and last rank of the tie, judgment
ANY_LENGTH = (1 << 31) - 1
MAX_BUFFER_BYTES = (1 << 31) - 16  # of the extension's columns


class HitsBuilder:
    """Collects the judged rows of one run: ``add`` blocks of whole queries, then ``build``.

    The extension does it if there is one, otherwise NumPy; ``max_id_bytes`` is for its scanner of TREC files only.
    """

    def __init__(self, qrels: Qrels, compat: ranking.Compat = "trec_eval-9", *, max_id_bytes: int = ANY_LENGTH) -> None:
        self.qrels, self.compat = qrels, compat
        queries = len(self.qrels.queries)
        self.retrieved = np.zeros(queries, dtype=np.int64)
        self.status = np.full(queries, Status.MISSING, dtype=np.uint8)
        self._judged_rows: list[JudgedRows] = []
        self.scanner: Any = None
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

    def add(self, numbers: Ints, offsets: Ints, docs: Ids, scores: Floats) -> bool:
        """Rank the rows of whole queries and keep the judged ones. A query comes once, and all its rows with it.

        ``numbers`` are those of the queries (see ``numbers``), ``offsets`` say where their rows begin and where the
        last one ends. False if a document appears twice in a query: then nothing is added, and the caller says why or
        leaves the second one out.
        """
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
            self.count(numbers, np.diff(offsets))
        return is_added

    def count(self, numbers: Ints, sizes: Ints) -> None:
        """Count the rows of queries whose judged rows are known already."""
        judged = np.flatnonzero(numbers >= 0)
        self.retrieved[numbers[judged]] = sizes[judged]
        self.status[numbers[judged]] = Status.ANSWERED

    def add_empty(self, queries: Ids) -> None:
        """Add queries that got an empty answer."""
        numbers = self.numbers(queries)
        self.status[numbers[numbers >= 0]] = Status.EMPTY

    def _add_with_numpy(self, numbers: Ints, offsets: Ints, docs: Ids, scores: Floats) -> bool:
        # An unjudged query has a number too, after the others, so that its documents can be distinguished.
        distinct = np.where(numbers < 0, len(self.qrels.queries) + np.arange(len(numbers)), numbers)
        query = np.repeat(distinct, np.diff(offsets))
        hashes = docs.hash(seeds(query))
        if len(repeated(docs, query, hashes)[0]):
            return False
        ranked = ranking.rank(offsets, docs, scores, self.compat)
        rows, ordinal = self.qrels.index.find(docs, query, hashes)
        self._judged_rows.append(
            (query[rows], ranked.rank[rows], ranked.tie_first[rows], ranked.tie_last[rows], ordinal)
        )
        return True

    def build(self) -> Hits:
        """The join of everything that was added; it has every query of the judgments and no other."""
        query, rank, tie_first, tie_last, ordinal = self._all_judged_rows()
        return Hits(
            queries=self.qrels.queries,
            status=self.status,
            retrieved=self.retrieved,
            offsets=offsets_of(query, len(self.qrels.queries)),
            rank=rank,
            grade=self.qrels.grades[ordinal],
            ordinal=ordinal,
            tie_first=tie_first,
            tie_last=tie_last,
            judged_offsets=self.qrels.offsets,
            judged=self.qrels.grades,
            columns=self.qrels.columns,
            by_group=self.qrels.groups_for(self.compat),
        )

    def _all_judged_rows(self) -> JudgedRows:
        """All judged rows, by query and rank."""
        parts = list(self._judged_rows)
        if self.scanner is not None:
            query, rank, tie_first, tie_last, ordinal = np.frombuffer(self.scanner.hits(), dtype=np.int64).reshape(
                5, -1
            )
            parts.append((query, rank, tie_first, tie_last, ordinal))
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, nothing, nothing, nothing
        query, rank, tie_first, tie_last, ordinal = map(np.concatenate, zip(*parts, strict=True))
        # The rows of a query are sorted by rank if the extension found them.
        order = np.lexsort((rank, query)) if self._judged_rows else _by_query(query)
        return query[order], rank[order], tie_first[order], tie_last[order], ordinal[order]


def _by_query(query: Ints) -> Ints:
    """The rows by query, for rows whose queries are contiguous."""
    begins = np.flatnonzero(np.diff(query, prepend=-1))
    sizes = np.diff(begins, append=len(query))
    order = np.argsort(query[begins])
    begins, sizes = begins[order], sizes[order]
    return np.repeat(begins - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(query))
