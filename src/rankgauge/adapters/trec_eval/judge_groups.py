"""Judgments by groups, which are judges: their rows, and a ranking joined with one group of each query at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, count_by, group_of, offsets_of
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ids, Ints, numbered, repeated
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, shown


@dataclass(frozen=True, eq=False)
class JudgeRows:
    """One row per judgment of a group, by query, group, subgroup and document.

    Without subgroups, levels are grades, and each group has its own judgments. With subgroups, levels are preferences:
    within a subgroup, a document is preferred to every document with a lower level; preferences are transitive across
    the subgroups of a group. Groups may disagree.

    ``judged`` has the documents of each query, without grades: a run is joined with it. ``ordinal`` is the row of the
    document there.
    """

    judged: Qrels
    offsets: Ints
    ordinal: Ints
    group: Ints
    level: Floats
    groups: Ids
    subgroup: Ints | None = None

    @classmethod
    def of(cls, query: Ids, group: Ids, doc: Ids, level: Floats, subgroup: Ids | None, name: str) -> JudgeRows:
        """The rows of parallel columns, in any order; a document that a group grades twice is an error."""
        query_number, queries = numbered(query)
        doc_number, _ = numbered(doc)
        group_number, groups = numbered(group)
        subgroup_number = np.zeros(len(query), dtype=np.int64) if subgroup is None else numbered(subgroup)[0]
        if subgroup is None:
            _check_repeated(query, group, doc, query_number * max(len(groups), 1) + group_number)
        by_doc = np.lexsort((doc_number, query_number))
        is_first = np.ones(len(by_doc), dtype=bool)
        is_first[1:] = (np.diff(query_number[by_doc]) != 0) | (np.diff(doc_number[by_doc]) != 0)
        firsts = by_doc[is_first]
        ordinal = np.empty(len(by_doc), dtype=np.int64)
        ordinal[by_doc] = np.cumsum(is_first) - 1
        rows = np.lexsort((ordinal, subgroup_number, group_number, query_number))
        offsets = offsets_of(query_number[firsts], len(queries))
        return cls(
            judged=Qrels(name, queries, offsets, doc.take(firsts), np.zeros(len(firsts))),
            offsets=offsets_of(query_number, len(queries)),
            ordinal=ordinal[rows],
            group=group_number[rows],
            level=level[rows],
            groups=groups,
            subgroup=None if subgroup is None else subgroup_number[rows],
        )

    def __len__(self) -> int:
        return len(self.level)

    @property
    def query(self) -> Ints:
        """The query number of each row."""
        return group_of(self.offsets)

    def filter(self, kept: NDArray[np.bool_]) -> JudgeRows:
        """Only the rows to keep; every query and every document stays."""
        return replace(
            self,
            offsets=offsets_of(self.query[kept], len(self.offsets) - 1),
            ordinal=self.ordinal[kept],
            group=self.group[kept],
            level=self.level[kept],
            subgroup=None if self.subgroup is None else self.subgroup[kept],
        )


def _check_repeated(query: Ids, group: Ids, doc: Ids, group_of_query: Ints) -> None:
    first, _ = repeated(doc, group_of_query)
    if len(first):
        row = int(first[0])
        raise InputError(
            f"document {shown(doc[row])} is judged twice by group {shown(group[row])} for query {shown(query[row])}"
        )


def mean_over_groups(hits: Hits, rows: JudgeRows, values_of: Callable[[Hits], Floats]) -> Floats:
    """The mean over the groups of each query of values (columns) that are computed with the judgments of one group."""
    sets = _group_sets(rows)
    parts = [(layer.members, values_of(layer.hits)) for layer in _layers(hits, rows, sets)]
    sums = np.zeros((len(hits), *(parts[0][1].shape[1:] if parts else ())))
    for members, values in parts:
        sums[members] += values
    means: Floats = (sums.T / np.maximum(sets.count, 1)).T
    return means


@dataclass(frozen=True, eq=False)
class _Layer:
    """The i-th group of each query that has one; ``members`` are the numbers of these queries."""

    members: Ints
    hits: Hits


@dataclass(frozen=True, eq=False)
class _GroupSets:
    """The sets of judgments of a query by one group, numbered by query and then by the order of the groups' ids."""

    set_number: Ints  # of each judgment
    owner: Ints  # the query of each set
    count: Ints  # the number of sets of each query

    @property
    def layer(self) -> Ints:
        """The position of each set among those of its query."""
        return np.arange(len(self.owner)) - (np.cumsum(self.count) - self.count)[self.owner]


def _group_sets(groups: JudgeRows) -> _GroupSets:
    """The sets of judgments of each query."""
    query = groups.query
    is_first = np.ones(len(groups), dtype=bool)
    is_first[1:] = (np.diff(query) != 0) | (np.diff(groups.group) != 0)
    owner = query[is_first]
    return _GroupSets(np.cumsum(is_first) - 1, owner, count_by(owner, len(groups.offsets) - 1))


def _layers(hits: Hits, groups: JudgeRows, sets: _GroupSets) -> Iterator[_Layer]:
    """The join of each layer. Only documents that the group of this layer judged are hits in it."""
    layer_of_row = sets.layer[sets.set_number]
    for depth in range(int(sets.count.max(initial=0))):
        members = np.flatnonzero(sets.count > depth)
        rows = np.flatnonzero(layer_of_row == depth)
        yield _Layer(members, _layer_hits(hits, groups, members, rows))


def _layer_hits(hits: Hits, groups: JudgeRows, members: Ints, rows: Ints) -> Hits:
    """The join of some queries with some of the judgments, all of one group of each query."""
    position = np.full(len(hits.judged), -1, dtype=np.int64)
    position[groups.ordinal[rows]] = np.arange(len(rows))
    kept = np.flatnonzero(position[hits.ordinal] >= 0)
    ordinal = position[hits.ordinal[kept]]
    level = groups.level[rows]
    new_number = np.full(len(hits), -1, dtype=np.int64)
    new_number[members] = np.arange(len(members))
    return replace(
        hits,
        queries=hits.queries.take(members),
        status=hits.status[members],
        retrieved=hits.retrieved[members],
        offsets=offsets_of(new_number[hits.query[kept]], len(members)),
        rank=hits.rank[kept],
        grade=level[ordinal],
        ordinal=ordinal,
        tie_first=hits.tie_first[kept],
        tie_last=hits.tie_last[kept],
        judged_offsets=offsets_of(new_number[groups.query[rows]], len(members)),
        judged=level,
    )
