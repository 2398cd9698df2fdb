"""The join of preference judgments and a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankgauge.core.hits import Hits, join
from rankgauge.core.ids import Ints
from rankgauge.core.preference_pairs import OrderedGroup, Pairs, PartialGroup, QueryPreferences
from rankgauge.core.preferences import Preferences
from rankgauge.core.ranking import Compat, comparable
from rankgauge.core.run import Run
from rankgauge.core.tables import Floats
from rankgauge.errors import InputError, shown


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


@dataclass(frozen=True, eq=False)
class PreferenceJoin:
    """Preference judgments with the hits of a run among their documents, down to ``depth``."""

    preferences: Preferences
    hits: Hits
    depth: int | None
    compat: Compat

    def query(self, query: int) -> QueryPreferences:
        """The preferences of one query. A group that contradicts itself is an error."""
        positions, retrieved = self.positions(query)
        rows = slice(int(self.preferences.offsets[query]), int(self.preferences.offsets[query + 1]))
        group, subgroup = self.preferences.group[rows], self.preferences.subgroup[rows]
        level = comparable(self.preferences.level[rows], self.compat).astype(np.float64)
        position = positions[self.preferences.doc[rows]]
        order = np.lexsort((position, -level, subgroup, group))
        groups = []
        for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            group_rows = GroupRows(subgroup[part], level[part], position[part])
            try:
                groups.append(make_group(group_rows, retrieved))
            except ContradictionError as error:
                doc = int(np.flatnonzero(positions == error.position)[0])
                raise InputError(
                    f"query {shown(self.preferences.queries[query])}, document "
                    f"{shown(self.preferences.pool.docs[int(self.preferences.pool.offsets[query]) + doc])}: "
                    f"{error.message}"
                ) from None
        return QueryPreferences(tuple(groups), len(positions), retrieved)

    def positions(self, query: int) -> tuple[Ints, int]:
        """The position of each document of a query's pool, and the number of retrieved ones.

        Ties are in ascending order of document ids, as in trec_eval, which uses the descending order everywhere else.
        """
        hits, pool = self.hits, self.preferences.pool
        rows = slice(int(hits.offsets[query]), int(hits.offsets[query + 1]))
        rank = hits.tie_first[rows] + hits.tie_last[rows] - hits.rank[rows]
        doc = hits.ordinal[rows] - pool.offsets[query]
        if self.depth is not None:
            doc, rank = doc[rank <= self.depth], rank[rank <= self.depth]
        ranked = doc[np.argsort(rank, kind="stable")]
        missed = np.setdiff1d(np.arange(pool.offsets[query + 1] - pool.offsets[query]), ranked)
        positions = np.empty(len(ranked) + len(missed), dtype=np.int64)
        positions[np.concatenate([ranked, missed])] = np.arange(len(positions))
        return positions, len(ranked)


def join_preferences(
    preferences: Preferences, run: Run, *, depth: int | None = None, compat: Compat = "trec_eval-9"
) -> PreferenceJoin:
    """Look up the judged documents in the ranking; only its first ``depth`` documents count."""
    return PreferenceJoin(preferences, join(preferences.pool, run, compat=compat), depth, compat)


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
