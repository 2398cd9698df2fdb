"""Judgments by several judges: each judgment group of a query is a set of judgments of its own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankgauge.core.ids import Ids, Ints, repeated
from rankgauge.core.preferences import numbered
from rankgauge.core.qrels import Qrels
from rankgauge.core.tables import Floats, frozen
from rankgauge.errors import InputError, shown


@dataclass(frozen=True, eq=False)
class GroupedQrels:
    """Judgments by group: ``layers[i]`` has the i-th group of each query that has so many, in the order of their ids.

    ``members[i]`` are the numbers of the queries in that layer; ``count`` is the number of groups of each query.
    """

    queries: Ids
    count: Ints
    layers: tuple[Qrels, ...]
    members: tuple[Ints, ...]

    @classmethod
    def build(cls, query: Ids, group: Ids, doc: Ids, grades: Floats, *, name: str) -> GroupedQrels:
        """From parallel columns, rows in any order. A document that is judged twice by one group is an error."""
        query_number, queries = numbered(query)
        group_number, _ = numbered(group)
        rows = np.lexsort((group_number, query_number))
        query_number, group_number = query_number[rows], group_number[rows]
        is_first = np.ones(len(rows), dtype=bool)
        is_first[1:] = (query_number[1:] != query_number[:-1]) | (group_number[1:] != group_number[:-1])
        set_number = np.cumsum(is_first) - 1
        first, _ = repeated(doc.take(rows), set_number)
        if len(first):
            row = int(rows[first[0]])
            raise InputError(
                f"document {shown(doc[row])} is judged twice by group {shown(group[row])} for query {shown(query[row])}"
            )
        owner = query_number[is_first]
        count = np.bincount(owner, minlength=len(queries))
        layer = (np.arange(len(owner)) - (np.cumsum(count) - count)[owner])[set_number]
        by_layer = np.argsort(layer, kind="stable")
        bounds = np.searchsorted(layer[by_layer], np.arange(int(count.max(initial=0)) + 1)).tolist()
        parts = [rows[by_layer[begin:end]] for begin, end in pairwise(bounds)]
        return cls(
            queries=queries,
            count=frozen(count),
            layers=tuple(
                Qrels.build(query.take(part), doc.take(part), grades[part], name=name, unique=False) for part in parts
            ),
            members=tuple(frozen(np.flatnonzero(count > depth)) for depth in range(len(parts))),
        )
