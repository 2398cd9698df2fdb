"""Judgments and results side by side: which queries and documents both have, and which they nearly have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankgauge.core.ids import IdIndex, Ids, Ints, repeated
from rankgauge.core.near import partners, unpaired

Near = list[tuple[str, Ints, Ints]]


@dataclass(frozen=True, eq=False)
class IdSide:
    """The queries of one side, and each row's query number and document."""

    queries: Ids
    query: Ints
    docs: Ids


@dataclass(frozen=True, eq=False)
class IdOverlap:
    """Two sides, the judged one first."""

    judged: IdSide
    results: IdSide

    @cached_property
    def common(self) -> tuple[Ints, Ints]:
        """The numbers of the queries that both have, on the side of the results and on that of the judgments."""
        return _index(self.judged.queries).find(self.results.queries, _zeros(self.results.queries))

    @cached_property
    def near_queries(self) -> Near:
        """Of those that only one side has: code, judged numbers, numbers of the results."""
        here = np.flatnonzero(unpaired(len(self.judged.queries), self.common[1]))
        there = np.flatnonzero(unpaired(len(self.results.queries), self.common[0]))
        wanted, found = self.judged.queries.take(here), self.results.queries.take(there)
        return [
            (code, here[one], there[other])
            for code, one, other in partners(wanted, _zeros(wanted), found, _zeros(found))
        ]

    @property
    def missing(self) -> Ints:
        """The queries of the judgments that the results do not have, nor nearly."""
        near = [one for _, one, _ in self.near_queries]
        return np.flatnonzero(unpaired(len(self.judged.queries), self.common[1], *near))

    @property
    def extra(self) -> Ints:
        """The queries of the results that the judgments do not have, nor nearly."""
        near = [other for _, _, other in self.near_queries]
        return np.flatnonzero(unpaired(len(self.results.queries), self.common[0], *near))

    @cached_property
    def _group(self) -> Ints:
        """The judged number of each result's query; -1 where it is not judged."""
        number = np.full(len(self.results.queries), -1, dtype=np.int64)
        number[self.common[0]] = self.common[1]
        return number[self.results.query]

    @cached_property
    def _met(self) -> tuple[Ints, Ints]:
        """The rows of the results that are judged, and the judged rows that were retrieved."""
        rows = np.flatnonzero(self._group >= 0)
        once = self._once
        known = IdIndex(self.judged.docs.take(once), self.judged.query[once])
        found, where = known.find(self.results.docs.take(rows), self._group[rows])
        return rows[found], once[where]

    @cached_property
    def _once(self) -> Ints:
        """The judged rows, of a document judged twice the first only."""
        again = repeated(self.judged.docs, self.judged.query)[1]
        return np.flatnonzero(unpaired(len(self.judged.docs), again))

    @property
    def any_document(self) -> bool:
        """Whether any judged document was retrieved."""
        return len(self._met[0]) > 0

    @cached_property
    def unretrieved(self) -> Ints:
        """The judged rows of common queries that were not retrieved; of a document judged twice, the first."""
        asked = ~unpaired(len(self.judged.queries), self.common[1])
        alone = np.setdiff1d(self._once, self._met[1])
        return alone[asked[self.judged.query[alone]]]

    @cached_property
    def near_documents(self) -> Near:
        """Of the documents of a common query that only one side has: code, judged rows, rows of the results."""
        here = self.unretrieved
        there = np.flatnonzero(unpaired(len(self.results.docs), self._met[0]) & (self._group >= 0))
        found = partners(
            self.judged.docs.take(here), self.judged.query[here], self.results.docs.take(there), self._group[there]
        )
        return [(code, here[one], there[other]) for code, one, other in found]


def queries_only(queries: Ids) -> IdSide:
    """A side of queries only."""
    none = np.zeros(0, dtype=np.int64)
    return IdSide(queries, none, queries.take(none))


def _index(ids: Ids) -> IdIndex:
    return IdIndex(ids, _zeros(ids))


def _zeros(ids: Ids) -> Ints:
    return np.zeros(len(ids), dtype=np.int64)
