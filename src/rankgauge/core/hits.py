"""The join of judgments and a run: the only input of a measure. ``hits_builder`` makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Column, Floats, count_true, group_of, offsets_of, running, sum_by
from rankgauge.core.dataclass import dataclass
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import JudgmentKind
from rankgauge.core.run import Run, RunExtras
from rankgauge.errors import Note

if TYPE_CHECKING:
    from rankgauge.core.passage_judgments import PassageJudgments
    from rankgauge.core.query_answers import QueryAnswers
    from rankgauge.core.subtopic_judgments import SubtopicJudgments

PerQuery = Floats


@dataclass(frozen=True, eq=False)
class Ideal:
    """The positive gains of each query's judgments in the ideal order."""

    offsets: Ints
    gain: Floats

    @cached_property
    def query(self) -> Ints:
        """The query number of each gain."""
        return group_of(self.offsets)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each gain in the ideal ranking."""
        return np.arange(1, len(self.gain) + 1) - self.offsets[:-1][self.query]

    @cached_property
    def count(self) -> Ints:
        """The number of positive gains of each query."""
        return np.diff(self.offsets)

    def at(self, values: Floats, query: Ints, rank: Ints) -> Floats:
        """A running value of the ideal ranking at the given ranks: constant after its end, 0 before its start."""
        position = np.minimum(rank, self.count[query])
        out = np.zeros(len(query))
        started = np.flatnonzero(position)
        out[started] = values[self.offsets[query[started]] + position[started] - 1]
        return out


@dataclass(frozen=True, eq=False)
class Hits:
    """Per query, the retrieved documents that have a judgment (negative grades too), by rank.

    ``ordinal`` is the row of each hit in the judgments, whose grades are in ``judged``. Documents without a judgment
    are only counted, in ``retrieved``. Queries are sorted by their bytes. ``by_group`` has the judgments by
    subtopic, passage or label, if that is what they are: a document then has its largest level as grade.
    """

    queries: Ids
    status: NDArray[np.uint8]
    retrieved: Ints
    offsets: Ints
    rank: Ints
    grade: Floats
    ordinal: Ints
    tie_first: Ints
    tie_last: Ints
    judged_offsets: Ints
    judged: Floats
    columns: Mapping[str, Column] = field(default_factory=dict)
    by_group: SubtopicJudgments | PassageJudgments | None = None
    answers: QueryAnswers | None = None  # if a measure needs them
    uncombined: Hits | None = None  # if labels were combined because one result is the first match of several

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def judgments(self) -> JudgmentKind:
        """What kind of judgments these are."""
        return "grades" if self.by_group is None else self.by_group.kind

    @cached_property
    def query(self) -> Ints:
        """The query number of each hit."""
        return group_of(self.offsets)

    @cached_property
    def judged_query(self) -> Ints:
        """The query number of each judgment."""
        return group_of(self.judged_offsets)

    @cached_property
    def position(self) -> Ints:
        """The number of each hit among the hits of its query, from 1."""
        return np.arange(1, len(self.rank) + 1) - self.offsets[:-1][self.query]

    @cached_property
    def count(self) -> Ints:
        """The number of hits of each query."""
        return np.diff(self.offsets)

    @cached_property
    def _memo(self) -> dict[object, Hits]:
        return {}

    # -- labels ---------------------------------------------------------------------------------------------

    @property
    def by_label(self) -> Hits:
        """What a measure sees: if results are matched with labels, one hit per label that some result matches.

        A label is at the rank of the first result that matches it; further matches count as unjudged results. Labels
        that one result is the first to match are combined into one with their largest grade, as a rank has one
        document; ``every_label`` has each of them.
        """
        if self.judgments != "labels":
            return self
        if "by_label" not in self._memo:
            from rankgauge.core.subtopic_judgments import combined, label_hits  # few judgments are labels

            self._memo["by_label"] = combined(label_hits(self))
        return self._memo["by_label"]

    @property
    def every_label(self) -> Hits:
        """The hits with each label on its own: several may have the same rank. It is for shares of the labels."""
        return self if self.uncombined is None else self.uncombined

    # -- transformations ------------------------------------------------------------------------------------

    def where(self, keep: NDArray[np.bool_]) -> Hits:
        """Only the hits to keep; nothing else changes."""
        rows = np.flatnonzero(keep)
        if len(rows) == len(self.rank):
            return self
        return replace(
            self,
            offsets=offsets_of(self.query[rows], len(self)),
            rank=self.rank[rows],
            grade=self.grade[rows],
            ordinal=self.ordinal[rows],
            tie_first=self.tie_first[rows],
            tie_last=self.tie_last[rows],
        )

    def top(self, depth: int | Ints | None) -> Hits:
        """The rankings cut at a depth, which may differ between queries."""
        if depth is None:
            return self
        limit = depth if isinstance(depth, int) else depth[self.query]
        cut = self.where(self.rank <= limit)
        return replace(cut, retrieved=np.minimum(self.retrieved, depth))

    def relevant(self, rel: float) -> Hits:
        """Only the relevant hits; a negative grade is never relevant."""
        key = ("relevant", rel)
        if key not in self._memo:
            self._memo[key] = self.where(self.grade >= max(rel, 0))
        return self._memo[key]

    def judged_only(self) -> Hits:
        """The rankings condensed to documents with a grade of at least 0, renumbered from 1."""
        if "judged_only" not in self._memo:
            kept = self.where(self.grade >= 0)
            tie = np.ones(len(kept.rank), dtype=bool)
            tie[1:] = (kept.query[1:] != kept.query[:-1]) | (kept.tie_first[1:] != kept.tie_first[:-1])
            begins = np.flatnonzero(tie)
            width = np.diff(np.append(begins, len(tie)))
            first = np.repeat(kept.position[begins], width)
            self._memo["judged_only"] = replace(
                kept,
                retrieved=kept.count,
                rank=kept.position,
                tie_first=first,
                tie_last=first + np.repeat(width, width) - 1,
            )
        return self._memo["judged_only"]

    def graded(self, change: Callable[[Floats], Floats]) -> Hits:
        """These rankings with changed grades."""
        return replace(self, grade=change(self.grade), judged=change(self.judged))

    def select(self, numbers: Ints) -> Hits:
        """The queries with the given numbers, ascending."""
        keep = np.zeros(len(self), dtype=bool)
        keep[numbers] = True
        new_number = np.cumsum(keep) - 1
        rows = np.flatnonzero(keep[self.query])
        judged = np.flatnonzero(keep[self.judged_query])
        moved = np.cumsum(keep[self.judged_query]) - 1
        return replace(
            self,
            queries=self.queries.take(np.flatnonzero(keep)),
            status=self.status[keep],
            retrieved=self.retrieved[keep],
            offsets=offsets_of(new_number[self.query[rows]], int(keep.sum())),
            rank=self.rank[rows],
            grade=self.grade[rows],
            ordinal=moved[self.ordinal[rows]],
            tie_first=self.tie_first[rows],
            tie_last=self.tie_last[rows],
            judged_offsets=offsets_of(new_number[self.judged_query[judged]], int(keep.sum())),
            judged=self.judged[judged],
            columns={name: values[keep] for name, values in self.columns.items()},
            by_group=None if self.by_group is None else self.by_group.take(np.flatnonzero(keep), self.judged_offsets),
            answers=None if self.answers is None else self.answers.select(keep),
        )

    # -- for kernels ----------------------------------------------------------------------------------------

    def sum(self, values: Floats | Ints) -> PerQuery:
        """The sum over each query's hits, added one by one from the first rank."""
        return sum_by(self.query, values, len(self))

    def last(self, values: Floats | Ints, default: float = 0.0) -> PerQuery:
        """The value at each query's last hit."""
        out = np.full(len(self), default)
        answered = np.flatnonzero(self.count)
        out[answered] = values[self.offsets[answered + 1] - 1]
        return out

    def first(self, values: Floats | Ints, default: float = 0.0) -> PerQuery:
        """The value at each query's first hit."""
        out = np.full(len(self), default)
        answered = np.flatnonzero(self.count)
        out[answered] = values[self.offsets[answered]]
        return out

    def running(self, values: Floats | Ints) -> Floats:
        """The sum over each query's hits up to and including each one, added one by one."""
        return running(np.asarray(values, dtype=np.float64), self.offsets)

    def above(self, chosen: NDArray[np.bool_]) -> Ints:
        """The number of chosen hits above each hit in its query."""
        total: Ints = np.concatenate([[0], np.cumsum(chosen)])
        return total[:-1] - total[self.offsets[:-1][self.query]]

    def relevant_judged(self, rel: float) -> Ints:
        """R: the number of relevant judgments of each query."""
        return count_true(self.judged >= max(rel, 0), self.judged_offsets)

    def nonrelevant_judged(self, rel: float) -> Ints:
        """The number of nonrelevant judgments of each query."""
        return count_true((self.judged >= 0) & (self.judged < rel), self.judged_offsets)

    def ideal(self, gains: Floats) -> Ideal:
        """The ideal ranking, for the gain of each judgment."""
        rows = np.flatnonzero(gains > 0)
        rows = rows[np.lexsort((-gains[rows], self.judged_query[rows]))]
        return Ideal(offsets_of(self.judged_query[rows], len(self)), gains[rows])


@dataclass(frozen=True, eq=False)
class Joined:
    """A join, and information about its run."""

    hits: Hits
    name: str
    queries: int  # the number of queries of the run, judged or not
    sample: tuple[bytes, ...] = ()  # a few of them, for messages
    sha256: str | None = None  # if it was requested
    notes: tuple[Note, ...] = ()  # from reading the run
    run: Run | None = field(default=None, repr=False)  # the whole run, if it was kept
    top: Run | None = field(default=None, repr=False)  # the first documents of each query, if they are shown
    extras: RunExtras | None = field(default=None, repr=False)  # what came with the results
    scored: Hits | None = field(default=None, repr=False)  # the join with what rules forbid as nonrelevant
    holds_empty: bool = False  # whether a query that is not in the run was not asked

    @property
    def shown(self) -> Run | None:
        """The rankings that can be shown, if there are any: whole, or their first documents."""
        return self.run if self.top is None else self.top


def divide(upper: Floats | Ints, lower: Floats | Ints) -> PerQuery:
    """The quotient; 0 if the divisor is 0."""
    out = np.zeros(len(upper))
    np.divide(upper, lower, out=out, where=np.asarray(lower) != 0)
    return out
