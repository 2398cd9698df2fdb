"""Preference judgments: which of two documents a judge prefers, written as levels within groups."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ids, Interner, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats, frozen, offsets_of


@dataclass(frozen=True, eq=False)
class Preferences:
    """Levels of documents within subgroups of judgment groups, one row per judgment, by query.

    Within a subgroup, a document is preferred to every document with a lower level. A group is one judge with one
    information need: its preferences are transitive across its subgroups and must not contradict each other. Different
    groups may disagree. Groups, subgroups and documents are numbered within the file in the order of their bytes.

    ``pool`` has every judged document of a query once, sorted by its bytes; ``doc`` is the row's index in that list.
    """

    pool: Qrels
    offsets: Ints
    doc: Ints
    group: Ints
    subgroup: Ints
    level: Floats

    @classmethod
    def build(cls, query: Ids, group: Ids, subgroup: Ids, doc: Ids, level: Floats, *, name: str) -> Preferences:
        """From parallel columns, rows in any order."""
        query_number, queries = numbered(query)
        doc_number, _ = numbered(doc)
        rows = np.lexsort((doc_number, query_number))
        query_number, doc_number = query_number[rows], doc_number[rows]
        is_first = np.ones(len(rows), dtype=bool)
        is_first[1:] = (query_number[1:] != query_number[:-1]) | (doc_number[1:] != doc_number[:-1])
        firsts = np.flatnonzero(is_first)
        pool_offsets = offsets_of(query_number[firsts], len(queries))
        pool = Qrels(
            name=name,
            queries=queries,
            offsets=frozen(pool_offsets),
            docs=doc.take(rows[firsts]),
            grades=frozen(np.zeros(len(firsts))),
        )
        return cls(
            pool=pool,
            offsets=frozen(offsets_of(query_number, len(queries))),
            doc=frozen(np.cumsum(is_first) - 1 - pool_offsets[query_number]),
            group=frozen(numbered(group)[0][rows]),
            subgroup=frozen(numbered(subgroup)[0][rows]),
            level=frozen(level[rows]),
        )

    def __len__(self) -> int:
        return len(self.level)

    @property
    def queries(self) -> Ids:
        """The judged queries, sorted by their bytes."""
        return self.pool.queries

    def filter(self, kept: NDArray[np.bool_]) -> Preferences:
        """The judgments of the kept rows; every query and every document stays in the pool."""
        query = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))[kept]
        return replace(
            self,
            offsets=frozen(offsets_of(query, len(self.queries))),
            doc=frozen(self.doc[kept]),
            group=frozen(self.group[kept]),
            subgroup=frozen(self.subgroup[kept]),
            level=frozen(self.level[kept]),
        )


def numbered(ids: Ids) -> tuple[Ints, Ids]:
    """The number of each row's id in the order of their bytes, and the distinct ids in that order."""
    intern = Interner()
    number = intern(ids)
    order = intern.ids.order()
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position[number], intern.ids.take(order).compact()
