"""A join with judgments by group as several joins, each with the judgments of one group of each query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.core.arrays import count_by, offsets_of
from rankgauge.core.group_judgments import GroupJudgments
from rankgauge.core.hits import Hits
from rankgauge.core.ids import Ints


@dataclass(frozen=True, eq=False)
class Layer:
    """The i-th group of each query that has one; ``members`` are the numbers of these queries."""

    members: Ints
    hits: Hits


@dataclass(frozen=True, eq=False)
class GroupSets:
    """The sets of judgments of a query by one group, numbered by query and then by the order of the groups' ids."""

    set_number: Ints  # of each judgment
    owner: Ints  # the query of each set
    count: Ints  # the number of sets of each query

    @property
    def layer(self) -> Ints:
        """The position of each set among those of its query."""
        return np.arange(len(self.owner)) - (np.cumsum(self.count) - self.count)[self.owner]


def group_sets(groups: GroupJudgments) -> GroupSets:
    """The sets of judgments of each query."""
    query = groups.query
    is_first = np.ones(len(groups), dtype=bool)
    is_first[1:] = (np.diff(query) != 0) | (np.diff(groups.group) != 0)
    owner = query[is_first]
    return GroupSets(np.cumsum(is_first) - 1, owner, count_by(owner, len(groups.offsets) - 1))


def layers(hits: Hits, groups: GroupJudgments, sets: GroupSets) -> Iterator[Layer]:
    """The join of each layer. Only documents that the group of this layer judged are hits in it."""
    layer_of_row = sets.layer[sets.set_number]
    for depth in range(int(sets.count.max(initial=0))):
        members = np.flatnonzero(sets.count > depth)
        rows = np.flatnonzero(layer_of_row == depth)
        yield Layer(members, _layer(hits, groups, members, rows))


def _layer(hits: Hits, groups: GroupJudgments, members: Ints, rows: Ints) -> Hits:
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
        columns={name: values[members] for name, values in hits.columns.items()},
        by_group=None,
    )
