"""The preferences of one query, with the positions that a ranking gives to their documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats

Pairs = NDArray[np.bool_]
Scope = Literal["all", "implied", "retrieved"]  # of a pair: any, at least one document retrieved, both retrieved


@dataclass(frozen=True)
class PairCounts:
    """The number of pairs that are fulfilled, and the number of all pairs."""

    fulfilled: int
    possible: int

    def __add__(self, added: PairCounts) -> PairCounts:
        return PairCounts(self.fulfilled + added.fulfilled, self.possible + added.possible)


@dataclass(frozen=True, eq=False)
class PreferenceGroup:
    """The preferences of one judgment group of a query.

    ``position`` is the place of each entry's document among the judged documents of the query: those retrieved come
    first, by rank; the others follow in the order of their ids. ``retrieved`` is the number of retrieved ones.
    """

    position: Ints
    level: Floats
    retrieved: int

    @cached_property
    def is_retrieved(self) -> NDArray[np.bool_]:
        """Whether each entry's document is retrieved."""
        return self.position < self.retrieved

    @cached_property
    def is_relevant(self) -> NDArray[np.bool_]:
        """Whether each entry's level is above 0."""
        return self.level > 0


@dataclass(frozen=True, eq=False)
class OrderedGroup(PreferenceGroup):
    """A group with one subgroup: its levels order its entries, which are sorted from the highest level down."""

    @cached_property
    def is_nonrelevant(self) -> NDArray[np.bool_]:
        """Whether each entry's level is 0 or below."""
        return self.level <= 0

    def count(self, scope: Scope) -> PairCounts:
        """The fulfilled and the possible preferences."""
        found, missed = self.level[self.is_retrieved], self.level[~self.is_retrieved]
        positions = self.position[self.is_retrieved]
        both = np.greater.outer(found, found) & np.less.outer(positions, positions)
        counts = PairCounts(int(np.count_nonzero(both)), count_lower(found, found))
        if scope == "retrieved":
            return counts
        fulfilled = count_lower(found, missed)
        counts += PairCounts(fulfilled, fulfilled + count_lower(missed, found))
        return counts if scope == "implied" else counts + PairCounts(0, count_lower(missed, missed))

    def count_limited(self, nonrelevant: int, scope: Scope) -> PairCounts:
        """The counts if only the first ``nonrelevant`` entries of the lowest level are judged.

        As in trec_eval, those are paired with every entry, also with the others of their level.
        """
        is_lowest = self.level == self.level.min(initial=np.inf)
        upper = OrderedGroup(self.position[~is_lowest], self.level[~is_lowest], self.retrieved)
        positions, kept = self.position, self.position[is_lowest][:nonrelevant]
        if scope == "retrieved":
            positions, kept = positions[positions < self.retrieved], kept[kept < self.retrieved]
        before = np.searchsorted(np.sort(self.position[self.is_retrieved]), kept)
        return upper.count(scope) + PairCounts(int(before.sum()), len(positions) * len(kept))

    @cached_property
    def prefers(self) -> Pairs:
        """Whether the first entry of a pair is preferred to the second."""
        return np.greater.outer(self.level, self.level)


@dataclass(frozen=True, eq=False)
class PartialGroup(PreferenceGroup):
    """A group with several subgroups: ``prefers`` is a partial order of its documents.

    Each document is one entry, with its last level; the entries are sorted by position.
    """

    prefers: Pairs

    @cached_property
    def is_nonrelevant(self) -> NDArray[np.bool_]:
        """Whether each entry's level is 0."""
        return np.equal(self.level, 0)

    def count(self, scope: Scope, kept: NDArray[np.bool_] | None = None) -> PairCounts:
        """The fulfilled and the possible preferences, of the kept entries only."""
        pairs = self.prefers if kept is None else self.prefers & np.logical_and.outer(kept, kept)
        if scope != "all":
            combine = np.logical_or if scope == "implied" else np.logical_and
            pairs = pairs & combine.outer(self.is_retrieved, self.is_retrieved)
        fulfilled = np.triu(pairs, k=1)[self.is_retrieved]
        return PairCounts(int(np.count_nonzero(fulfilled)), int(np.count_nonzero(pairs)))

    def count_limited(self, nonrelevant: int, scope: Scope) -> PairCounts:
        """The counts if only the first ``nonrelevant`` nonrelevant entries are judged."""
        kept = ~self.is_nonrelevant
        kept[np.flatnonzero(self.is_nonrelevant)[:nonrelevant]] = True
        return self.count(scope, kept)


@dataclass(frozen=True, eq=False)
class QueryPreferences:
    """The preferences of one query: its groups in the order of their ids, and the number of judged documents."""

    groups: tuple[OrderedGroup | PartialGroup, ...]
    judged: int
    retrieved: int

    @cached_property
    def votes(self) -> NDArray[np.int64]:
        """The number of groups that prefer the document at one position to the document at another."""
        votes = np.zeros((self.judged, self.judged), dtype=np.int64)
        for group in self.groups:
            if has_repeats(group.position):  # a document that is judged twice at one level counts twice
                preferred, other = np.nonzero(group.prefers)
                np.add.at(votes, (group.position[preferred], group.position[other]), 1)
            else:
                votes[np.ix_(group.position, group.position)] += group.prefers
        return votes


def count_lower(levels: Floats, candidates: Floats) -> int:
    """The number of pairs of a level and a lower candidate."""
    return int(np.searchsorted(np.sort(candidates), levels).sum())


def has_repeats(values: Ints) -> bool:
    """Whether a value appears twice."""
    return len(np.unique(values)) < len(values)
