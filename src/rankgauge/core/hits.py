"""The join of judgments and run. A measure sees this and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import ids as ids_module
from rankgauge.core import ranking
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import Column, Floats, count_by, group_of, offsets_of, running, sum_by
from rankgauge.errors import InputError, Note, shown

PerQuery = Floats


@dataclass(frozen=True, eq=False)
class Ideal:
    """The positive gains of each query's judgments in the best possible order."""

    offsets: Ints
    gain: Floats

    @cached_property
    def query(self) -> Ints:
        """The query number of each gain."""
        return group_of(self.offsets)

    @cached_property
    def rank(self) -> Ints:
        """The rank at which each gain stands in the best possible ranking."""
        return np.arange(1, len(self.gain) + 1) - self.offsets[:-1][self.query]

    @cached_property
    def count(self) -> Ints:
        """How many positive gains each query has."""
        return np.diff(self.offsets)

    def at(self, values: Floats, query: Ints, rank: Ints) -> Floats:
        """A running value of the ideal list at some ranks: past its end it stays, before it it is 0."""
        place = np.minimum(rank, self.count[query])
        out = np.zeros(len(query))
        some = np.flatnonzero(place)
        out[some] = values[self.offsets[query[some]] + place[some] - 1]
        return out


@dataclass(frozen=True, eq=False)
class Hits:
    """Per query, the retrieved documents that have a judgment (negative grades too), by rank.

    ``ordinal`` is the row of each in the judgments, whose grades are all in ``judged``. Documents without a
    judgment are only counted, in ``retrieved``. Queries are sorted by their bytes.
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

    def __len__(self) -> int:
        return len(self.queries)

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
        """The number of each hit among the hits of its query, from 1: how many were found up to here."""
        return np.arange(1, len(self.rank) + 1) - self.offsets[:-1][self.query]

    @cached_property
    def count(self) -> Ints:
        """How many hits each query has."""
        return np.diff(self.offsets)

    @cached_property
    def _memo(self) -> dict[object, Hits]:
        return {}

    # -- transformations ------------------------------------------------------------------------------------

    def where(self, keep: NDArray[np.bool_]) -> Hits:
        """Only some of the hits; nothing else changes."""
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
        """The rankings cut at a depth, which may differ from query to query."""
        if depth is None:
            return self
        limit = depth if isinstance(depth, int) else depth[self.query]
        cut = self.where(self.rank <= limit)
        return replace(cut, retrieved=np.minimum(self.retrieved, depth))

    def relevant(self, rel: float) -> Hits:
        """Only the relevant hits; a negative grade never is."""
        key = ("relevant", rel)
        if key not in self._memo:
            self._memo[key] = self.where(self.grade >= max(rel, 0))
        return self._memo[key]

    def judged_only(self) -> Hits:
        """The rankings condensed to documents with a grade of at least 0, ranked anew."""
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
        """The same rankings under other grades."""
        return replace(self, grade=change(self.grade), judged=change(self.judged))

    def select(self, wanted: Ints) -> Hits:
        """Some of the queries, by their numbers, ascending."""
        keep = np.zeros(len(self), dtype=bool)
        keep[wanted] = True
        place = np.cumsum(keep) - 1
        rows = np.flatnonzero(keep[self.query])
        judged = np.flatnonzero(keep[self.judged_query])
        moved = np.cumsum(keep[self.judged_query]) - 1
        return Hits(
            queries=self.queries.take(np.flatnonzero(keep)),
            status=self.status[keep],
            retrieved=self.retrieved[keep],
            offsets=offsets_of(place[self.query[rows]], int(keep.sum())),
            rank=self.rank[rows],
            grade=self.grade[rows],
            ordinal=moved[self.ordinal[rows]],
            tie_first=self.tie_first[rows],
            tie_last=self.tie_last[rows],
            judged_offsets=offsets_of(place[self.judged_query[judged]], int(keep.sum())),
            judged=self.judged[judged],
            columns={name: values[keep] for name, values in self.columns.items()},
        )

    # -- what kernels ask -----------------------------------------------------------------------------------

    def sum(self, values: Floats | Ints) -> PerQuery:
        """The sum over each query's hits, added one by one from the first rank on."""
        return sum_by(self.query, values, len(self))

    def last(self, values: Floats | Ints, default: float = 0.0) -> PerQuery:
        """The value at each query's last hit."""
        out = np.full(len(self), default)
        some = np.flatnonzero(self.count)
        out[some] = values[self.offsets[some + 1] - 1]
        return out

    def first(self, values: Floats | Ints, default: float = 0.0) -> PerQuery:
        """The value at each query's first hit."""
        out = np.full(len(self), default)
        some = np.flatnonzero(self.count)
        out[some] = values[self.offsets[some]]
        return out

    def running(self, values: Floats | Ints) -> Floats:
        """The sum over each query's hits up to and including each one, added one by one."""
        return running(np.asarray(values, dtype=np.float64), self.offsets)

    def above(self, chosen: NDArray[np.bool_]) -> Ints:
        """How many of the chosen hits stand above each hit in its query."""
        total: Ints = np.concatenate([[0], np.cumsum(chosen)])
        return total[:-1] - total[self.offsets[:-1][self.query]]

    def relevant_judged(self, rel: float) -> Ints:
        """R: how many of each query's judgments are relevant."""
        return count_by(self.judged_query[self.judged >= max(rel, 0)], len(self))

    def nonrelevant_judged(self, rel: float) -> Ints:
        """How many of each query's judgments say that a document is not relevant."""
        chosen = (self.judged >= 0) & (self.judged < rel)
        return count_by(self.judged_query[chosen], len(self))

    def ideal(self, gains: Floats) -> Ideal:
        """The best possible ranking, for the gain of each judgment."""
        rows = np.flatnonzero(gains > 0)
        rows = rows[np.lexsort((-gains[rows], self.judged_query[rows]))]
        return Ideal(offsets_of(self.judged_query[rows], len(self)), gains[rows])


@dataclass(frozen=True, eq=False)
class Joined:
    """A join, and what is known of the run that it was made of."""

    hits: Hits
    name: str
    queries: int  # how many the run has, judged or not
    sample: tuple[bytes, ...] = ()  # some of them, for a message
    sha256: str | None = None  # where it was asked for
    notes: tuple[Note, ...] = ()  # what was seen on the way
    run: Run | None = field(default=None, repr=False)  # the whole ranking, if it was kept


def divide(upper: Floats | Ints, lower: Floats | Ints) -> PerQuery:
    """The quotient, and 0 where the divisor is 0."""
    out = np.zeros(len(upper))
    np.divide(upper, lower, out=out, where=np.asarray(lower) != 0)
    return out


def join(qrels: Qrels, run: Run, *, compat: ranking.Compat = "trec_eval-9") -> Hits:
    """Rank the run and look up what is judged. Every query of the judgments is there; others are left out."""
    qrels = qrels.as_documents()
    zeros = np.zeros(len(run.queries), dtype=np.int64)
    known, number = qrels.query_index.find(run.queries, zeros)
    part = run if len(known) == len(run.queries) else run.select(known)
    places = ranking.rank(part.offsets, part.docs, part.scores, compat)
    rows, ordinal = qrels.index.find(part.docs, number[part.query])
    query = number[part.query[rows]]
    by = np.lexsort((places.rank[rows], query))
    rows, ordinal, query = rows[by], ordinal[by], query[by]
    status = np.full(len(qrels.queries), Status.MISSING, dtype=np.uint8)
    status[number] = part.status
    retrieved = np.zeros(len(qrels.queries), dtype=np.int64)
    retrieved[number] = np.diff(part.offsets)
    return Hits(
        queries=qrels.queries,
        status=status,
        retrieved=retrieved,
        offsets=offsets_of(query, len(qrels.queries)),
        rank=places.rank[rows],
        grade=qrels.grades[ordinal],
        ordinal=ordinal,
        tie_first=places.tie_first[rows],
        tie_last=places.tie_last[rows],
        judged_offsets=qrels.offsets,
        judged=qrels.grades,
        columns=qrels.columns,
    )


def concatenate(parts: Sequence[Hits]) -> Hits:
    """One Hits from parts that hold different queries, whatever their order."""
    queries = ids_module.concatenate([part.queries for part in parts])
    order = queries.order()
    same = np.flatnonzero(queries.same(order[1:], queries, order[:-1]))
    if len(same):
        raise InputError(f"query {shown(queries[int(order[same[0]])])} stands in more than one part")
    sizes = np.array([len(part) for part in parts])
    judged_sizes = np.array([len(part.judged) for part in parts])
    query_shift = np.cumsum(sizes) - sizes
    judged_shift = np.cumsum(judged_sizes) - judged_sizes
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    query = place[np.concatenate([p.query + by for p, by in zip(parts, query_shift, strict=True)])]
    judged_query = place[np.concatenate([p.judged_query + by for p, by in zip(parts, query_shift, strict=True)])]
    rows = np.argsort(query, kind="stable")
    judged_rows = np.argsort(judged_query, kind="stable")
    moved = np.empty_like(judged_rows)
    moved[judged_rows] = np.arange(len(judged_rows))
    ordinal = np.concatenate([p.ordinal + by for p, by in zip(parts, judged_shift, strict=True)])

    def hits(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part, name) for part in parts])[rows]

    shared = set.intersection(*(set(part.columns) for part in parts))
    return Hits(
        queries=queries.take(order),
        status=np.concatenate([part.status for part in parts])[order],
        retrieved=np.concatenate([part.retrieved for part in parts])[order],
        offsets=offsets_of(query[rows], len(order)),
        rank=hits("rank"),  # type: ignore[arg-type]  # a column keeps its own type
        grade=hits("grade"),  # type: ignore[arg-type]
        ordinal=moved[ordinal[rows]],
        tie_first=hits("tie_first"),  # type: ignore[arg-type]
        tie_last=hits("tie_last"),  # type: ignore[arg-type]
        judged_offsets=offsets_of(judged_query[judged_rows], len(order)),
        judged=np.concatenate([part.judged for part in parts])[judged_rows],
        columns={name: np.concatenate([part.columns[name] for part in parts])[order] for name in sorted(shared)},
    )
