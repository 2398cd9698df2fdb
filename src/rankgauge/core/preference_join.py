"""From a join to the preferences of each query, with the positions that the ranking gives to their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.group_judgments import GroupJudgments
from rankgauge.core.ids import Ints
from rankgauge.core.preference_pairs import OrderedGroup, Pairs, PartialGroup, QueryPreferences
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown

if TYPE_CHECKING:
    from rankgauge.core.hits import Hits


@dataclass(frozen=True, eq=False)
class GroupRows:
    """The judgments of one group of one query, by subgroup, then from the highest level down, then by position."""

    subgroup: Ints
    level: Floats
    position: Ints


class ContradictionError(InputError):
    """A judgment group that contradicts itself, at the document with this position."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


def preferences_of(hits: Hits, query: int) -> QueryPreferences:
    """The preferences of one query. A group that contradicts itself is an error."""
    judgments = hits.by_group
    if not isinstance(judgments, GroupJudgments) or judgments.subgroup is None:
        raise InputError("the judgments are not preferences")
    positions, retrieved = positions_of(hits, query)
    rows = judgments.rows(query)
    first = int(hits.judged_offsets[query])
    position = positions[judgments.ordinal[rows] - first]
    group, subgroup, level = judgments.group[rows], judgments.subgroup[rows], judgments.level[rows]
    order = np.lexsort((position, -level, subgroup, group))
    groups = []
    for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else ():
        try:
            groups.append(make_group(GroupRows(subgroup[part], level[part], position[part]), retrieved))
        except ContradictionError as error:
            row = first + int(np.flatnonzero(positions == error.position)[0])
            raise _located(error, hits, judgments, query, row, int(group[part[0]])) from None
    return QueryPreferences(tuple(groups), len(positions), retrieved)


def positions_of(hits: Hits, query: int) -> tuple[Ints, int]:
    """The position of each judged document of a query, and the number of retrieved ones.

    Ties are in ascending order of document ids, as in trec_eval, which uses the descending order everywhere else.
    """
    rows = slice(int(hits.offsets[query]), int(hits.offsets[query + 1]))
    first, end = hits.judged_offsets[query : query + 2].tolist()
    doc = hits.ordinal[rows] - first
    ranked = doc[np.argsort(ascending_rank(hits)[rows], kind="stable")]
    missed = np.setdiff1d(np.arange(end - first), ranked)
    positions = np.empty(len(ranked) + len(missed), dtype=np.int64)
    positions[np.concatenate([ranked, missed])] = np.arange(len(positions))
    return positions, len(ranked)


def ascending_rank(hits: Hits) -> Ints:
    """The rank of each hit if tied documents are in ascending order of their ids."""
    return hits.tie_first + hits.tie_last - hits.rank


def _located(
    error: ContradictionError, hits: Hits, judgments: GroupJudgments, query: int, row: int, group: int
) -> InputError:
    """The error with the ids of what it is about."""
    return InputError(
        f"query {shown(hits.queries[query])}, document {shown(judgments.docs[row])}, judgment group "
        f"{shown(judgments.groups[group])}: {error.message}",
        hint="one group is one judge whose preferences agree; give judges who disagree different groups",
    )


def make_group(rows: GroupRows, retrieved: int) -> OrderedGroup | PartialGroup:
    """The preferences of one group."""
    if len(np.unique(rows.subgroup)) == 1:
        return ordered_group(rows, retrieved)
    return partial_group(rows, retrieved)


def ordered_group(rows: GroupRows, retrieved: int) -> OrderedGroup:
    """A group with one subgroup: its levels order all of its documents."""
    order = np.argsort(rows.position, kind="stable")
    position, level = rows.position[order], rows.level[order]
    conflicts = np.flatnonzero((position[1:] == position[:-1]) & (level[1:] != level[:-1]))
    if len(conflicts):
        raise ContradictionError(int(position[conflicts[0]]), "two levels in one subgroup")
    return OrderedGroup(rows.position, rows.level, retrieved)


def partial_group(rows: GroupRows, retrieved: int) -> PartialGroup:
    """A group with several subgroups: a partial order, closed under transitivity."""
    position, entry = np.unique(rows.position, return_inverse=True)
    entry = entry.reshape(-1)
    levels: dict[int, float] = {}
    for number, level in zip(entry.tolist(), rows.level.tolist(), strict=True):
        if number in levels and levels[number] >= 0 and level >= 0 and (levels[number] == 0) != (level == 0):
            raise ContradictionError(int(position[number]), "level 0 in one subgroup and above 0 in another")
        levels[number] = level
    prefers = np.zeros((len(position), len(position)), dtype=bool)
    for subgroup in np.unique(rows.subgroup).tolist():
        members = np.flatnonzero(rows.subgroup == subgroup)
        better, worse = np.nonzero(np.greater.outer(rows.level[members], rows.level[members]))
        prefers[entry[members[better]], entry[members[worse]]] = True
    prefers = closure(prefers)
    conflicts = np.flatnonzero((prefers & prefers.T).any(axis=1))
    if len(conflicts):
        raise ContradictionError(int(position[conflicts[0]]), "preferred to a document that is preferred to it")
    level = np.array([levels[number] for number in range(len(position))])
    return PartialGroup(position, level, retrieved, prefers)


def closure(prefers: Pairs) -> Pairs:
    """The transitive closure; nothing is preferred to itself."""
    reached = prefers.copy()
    for through in range(len(reached)):
        reached |= np.logical_and.outer(reached[:, through], reached[through])
    np.fill_diagonal(reached, False)
    return reached
