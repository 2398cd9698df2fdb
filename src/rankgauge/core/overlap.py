"""Which queries and documents judgments and results share, exactly or nearly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankgauge.core.ids import IdIndex, Ids, Ints, repeated
from rankgauge.core.near import near_matches, unpaired

Near = list[tuple[str, Ints, Ints]]


@dataclass(frozen=True, eq=False)
class IdSide:
    """The queries of one side, and the query number and document of each row."""

    queries: Ids
    query: Ints
    docs: Ids


@dataclass(frozen=True, eq=False)
class IdOverlap:
    """Judgments and results, compared by their ids."""

    judged: IdSide
    results: IdSide

    @cached_property
    def common(self) -> tuple[Ints, Ints]:
        """The numbers of the shared queries, in the results and in the judgments."""
        return _index(self.judged.queries).find(self.results.queries, _zeros(self.results.queries))

    @cached_property
    def near_queries(self) -> Near:
        """Near matches of queries that only one side has: code, numbers in the judgments, numbers in the results."""
        judged_numbers = np.flatnonzero(unpaired(len(self.judged.queries), self.common[1]))
        result_numbers = np.flatnonzero(unpaired(len(self.results.queries), self.common[0]))
        judged, results = self.judged.queries.take(judged_numbers), self.results.queries.take(result_numbers)
        matches = near_matches(judged, _zeros(judged), results, _zeros(results))
        return [
            (code, judged_numbers[judged_rows], result_numbers[result_rows])
            for code, judged_rows, result_rows in matches
        ]

    @property
    def missing(self) -> Ints:
        """The queries of the judgments without an exact or near match in the results."""
        near = [judged_numbers for _, judged_numbers, _ in self.near_queries]
        return np.flatnonzero(unpaired(len(self.judged.queries), self.common[1], *near))

    @property
    def extra(self) -> Ints:
        """The queries of the results without an exact or near match in the judgments."""
        near = [result_numbers for _, _, result_numbers in self.near_queries]
        return np.flatnonzero(unpaired(len(self.results.queries), self.common[0], *near))

    @cached_property
    def _group(self) -> Ints:
        """The number in the judgments of each result's query; -1 if it is not judged."""
        number = np.full(len(self.results.queries), -1, dtype=np.int64)
        number[self.common[0]] = self.common[1]
        return number[self.results.query]

    @cached_property
    def _shared_rows(self) -> tuple[Ints, Ints]:
        """The rows of the results that are judged, and the judged rows that were retrieved."""
        rows = np.flatnonzero(self._group >= 0)
        unique = self._unique_judged
        index = IdIndex(self.judged.docs.take(unique), self.judged.query[unique])
        matching, index_rows = index.find(self.results.docs.take(rows), self._group[rows])
        return rows[matching], unique[index_rows]

    @cached_property
    def _unique_judged(self) -> Ints:
        """The judged rows; of a document judged twice, only the first."""
        again = repeated(self.judged.docs, self.judged.query)[1]
        return np.flatnonzero(unpaired(len(self.judged.docs), again))

    @property
    def any_document(self) -> bool:
        """Whether any judged document was retrieved."""
        return len(self._shared_rows[0]) > 0

    @cached_property
    def unretrieved(self) -> Ints:
        """The judged rows of shared queries that were not retrieved; of a document judged twice, the first."""
        is_shared = ~unpaired(len(self.judged.queries), self.common[1])
        rows = np.setdiff1d(self._unique_judged, self._shared_rows[1])
        return rows[is_shared[self.judged.query[rows]]]

    @cached_property
    def near_documents(self) -> Near:
        """Near matches of documents of a shared query that only one side has: code, judged rows, result rows."""
        judged = self.unretrieved
        results = np.flatnonzero(unpaired(len(self.results.docs), self._shared_rows[0]) & (self._group >= 0))
        matches = near_matches(
            self.judged.docs.take(judged),
            self.judged.query[judged],
            self.results.docs.take(results),
            self._group[results],
        )
        return [(code, judged[judged_rows], results[result_rows]) for code, judged_rows, result_rows in matches]


def queries_only(queries: Ids) -> IdSide:
    """A side that has queries and no rows."""
    no_rows = np.zeros(0, dtype=np.int64)
    return IdSide(queries, no_rows, queries.take(no_rows))


def _index(ids: Ids) -> IdIndex:
    return IdIndex(ids, _zeros(ids))


def _zeros(ids: Ids) -> Ints:
    return np.zeros(len(ids), dtype=np.int64)
