"""Judgments by groups of judges and preferences: their report, and trec_eval's measures of preferences.

A preference for document A over document B is fulfilled if A is retrieved and B is ranked after A or not retrieved.
Documents with tied scores are in ascending order of their ids, as in trec_eval, which has the descending order for all
other measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.adapters.trec_eval.command_line import (
    TREC_COMPUTE_ERROR,
    TREC_NO_QUERIES,
    Options,
    Request,
    TrecEvalError,
    check_measures,
)
from rankgauge.adapters.trec_eval.families import ANY_FORMAT_NAMES, FAMILY_BY_NAME, PREFERENCE_FORMATS
from rankgauge.adapters.trec_eval.judge_groups import JudgeRows, mean_over_groups
from rankgauge.adapters.trec_eval.lenient_files import ZScores, read_group_judgments, read_run
from rankgauge.adapters.trec_eval.printed_lines import Column, Totals, number_line, summary_lines
from rankgauge.adapters.trec_eval.query_values import family_values
from rankgauge.core import ranking
from rankgauge.core.arrays import Floats
from rankgauge.core.hits import Hits
from rankgauge.core.hits_builder import join
from rankgauge.core.ids import Ids, Ints, repeated
from rankgauge.core.run import Run
from rankgauge.errors import InputError, shown
from rankgauge.measures.aggregates import total


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


def preferences_of(hits: Hits, judgments: JudgeRows, query: int) -> QueryPreferences:
    """The preferences of one query. A group that contradicts itself is an error."""
    positions, retrieved = positions_of(hits, query)
    rows = slice(int(judgments.offsets[query]), int(judgments.offsets[query + 1]))
    first = int(hits.judged_offsets[query])
    position = positions[judgments.ordinal[rows] - first]
    group, level = judgments.group[rows], judgments.level[rows]
    subgroup = np.zeros(len(group), dtype=np.int64) if judgments.subgroup is None else judgments.subgroup[rows]
    order = np.lexsort((position, -level, subgroup, group))
    groups = []
    for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else ():
        try:
            groups.append(make_group(GroupRows(subgroup[part], level[part], position[part]), retrieved))
        except ContradictionError as error:
            row = first + int(np.flatnonzero(positions == error.position)[0])
            raise _located(error, judgments, query, row, int(group[part[0]])) from None
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


def _located(error: ContradictionError, judgments: JudgeRows, query: int, row: int, group: int) -> InputError:
    """The error with the ids of what it is about."""
    return InputError(
        f"query {shown(judgments.judged.queries[query])}, document {shown(judgments.judged.docs[row])}, judgment group "
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


# The preferences of one query, with the positions that a ranking gives to their documents.

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


# The values of the measures for one query.


def possible_count(query: QueryPreferences) -> float:
    """The number of preferences."""
    return sum(group.count("all").possible for group in query.groups)


def fulfilled_count(query: QueryPreferences, *, scope: Scope) -> float:
    """The number of preferences that the ranking fulfills."""
    return sum(group.count(scope).fulfilled for group in query.groups)


def fulfilled_share(query: QueryPreferences, *, scope: Scope) -> float:
    """The share of preferences that the ranking fulfills."""
    counts = [group.count(scope) for group in query.groups]
    possible = sum(count.possible for count in counts)
    return sum(count.fulfilled for count in counts) / possible if possible else 0.0


def group_mean(query: QueryPreferences, *, scope: Scope) -> float:
    """The mean of the share over groups; a group without any preference counts as 0."""
    counts = (group.count(scope) for group in query.groups)
    return _mean_share((count for count in counts if count.possible), len(query.groups))


def document_pair_mean(query: QueryPreferences, *, scope: Scope) -> float:
    """The mean over pairs of documents of the share of groups that agree with the ranking."""
    if len(query.groups) == 1 and not has_repeats(query.groups[0].position):
        return fulfilled_share(query, scope=scope)  # each pair has one vote
    first, second = np.nonzero(np.triu(query.votes + query.votes.T, k=1))
    agreeing = query.votes[first, second]
    shares = agreeing / (agreeing + query.votes[second, first])
    both = second < query.retrieved
    one = (first < query.retrieved) & ~both
    agreement = shares[both] if scope == "retrieved" else np.concatenate([shares[both], shares[one]])
    pairs = len(shares) if scope == "all" else len(agreement)
    return total(agreement) / pairs if pairs else 0.0


def balanced_group_mean(query: QueryPreferences, *, scope: Literal["all", "retrieved"]) -> float:
    """The mean of the share over groups, each with as many nonrelevant documents as relevant ones."""
    counts = [_balanced(group, scope) for group in query.groups]
    if not all(count.possible for count in counts):
        return 0.0
    return _mean_share(counts, len(query.groups))


def _balanced(group: OrderedGroup | PartialGroup, scope: Literal["all", "retrieved"]) -> PairCounts:
    relevant = int(np.count_nonzero(group.is_relevant))
    found = int(np.count_nonzero(group.is_relevant & group.is_retrieved))
    if scope == "all":
        target, nonrelevant = relevant, int(np.count_nonzero(group.is_nonrelevant))
    else:
        target, nonrelevant = found, int(np.count_nonzero(group.is_nonrelevant & group.is_retrieved))
    if target >= nonrelevant:
        added = target - nonrelevant
        return group.count(scope) + PairCounts(found * added, relevant * added)
    return group.count_limited(target if isinstance(group, OrderedGroup) else relevant, scope)


def _mean_share(counts: Iterable[PairCounts], groups: int) -> float:
    """The mean of the shares over a number of groups, added one by one."""
    shares = np.array([count.fulfilled / count.possible for count in counts])
    return total(shares) / groups if groups else 0.0


VALUES: dict[str, Callable[[QueryPreferences], float]] = {
    "prefs_num_prefs_poss": possible_count,
    "prefs_num_prefs_ful": partial(fulfilled_count, scope="all"),
    "prefs_num_prefs_ful_ret": partial(fulfilled_count, scope="retrieved"),
    "prefs_simp": partial(fulfilled_share, scope="all"),
    "prefs_pair": partial(document_pair_mean, scope="all"),
    "prefs_avgjg": partial(group_mean, scope="all"),
    "prefs_avgjg_Rnonrel": partial(balanced_group_mean, scope="all"),
    "prefs_simp_ret": partial(fulfilled_share, scope="retrieved"),
    "prefs_pair_ret": partial(document_pair_mean, scope="retrieved"),
    "prefs_avgjg_ret": partial(group_mean, scope="retrieved"),
    "prefs_avgjg_Rnonrel_ret": partial(balanced_group_mean, scope="retrieved"),
    "prefs_simp_imp": partial(fulfilled_share, scope="implied"),
    "prefs_pair_imp": partial(document_pair_mean, scope="implied"),
    "prefs_avgjg_imp": partial(group_mean, scope="implied"),
}

# The evaluation with preference judgments or judgments by group, as trec_eval does it.

GROUP_SUFFIX = "_avgjg"


class QueryValues(Protocol):
    """The values of the requested lines for one query at a time."""

    def values(self, query: int) -> Sequence[float]:
        """The value of each line for a query."""


@dataclass(frozen=True, eq=False)
class PreferenceValues:
    """Values of preferences. A query whose judgments contradict themselves is an error when its turn comes."""

    hits: Hits
    rows: JudgeRows
    requests: Sequence[Request]

    def values(self, query: int) -> Sequence[float]:
        """The value of each line for a query."""
        try:
            preferences = preferences_of(self.hits, self.rows, query)
        except InputError as error:
            raise TrecEvalError(TREC_COMPUTE_ERROR, error.message) from None
        return [float(VALUES[request.name](preferences)) for request in self.requests]


@dataclass(frozen=True, eq=False)
class GroupValues:
    """Means over judgment groups."""

    hits: Hits
    rows: JudgeRows
    requests: Sequence[Request]
    options: Options

    @cached_property
    def columns(self) -> list[Floats]:
        """The values of each line for all queries."""
        return list(mean_over_groups(self.hits, self.rows, self.group_values).T)

    def group_values(self, hits: Hits) -> Floats:
        """The values of each line with the judgments of one group, by the measures that are averaged over groups."""
        if self.options.max_retrieved is not None:
            hits = hits.top(self.options.max_retrieved)
        if self.options.judged_only:
            hits = hits.judged_only()
        columns = []
        for request in self.requests:
            averaged = FAMILY_BY_NAME[request.name.removesuffix(GROUP_SUFFIX)]
            columns += family_values(replace(request, family=averaged), hits, self.options)
        return np.column_stack(columns)

    def values(self, query: int) -> Sequence[float]:
        """The value of each line for a query."""
        return [float(column[query]) for column in self.columns]


def group_report(options: Options) -> Iterator[bytes]:
    """The lines that trec_eval prints for judgments other than plain qrels."""
    rows = read_group_judgments(options.files[0], options.judgments, options.compat)
    judgments = rows.judged
    run, run_id = read_run(options.files[1], options.compat)
    zscores = ZScores.read(options.zscores) if options.zscores is not None else None
    if options.refusal is not None:
        raise options.refusal
    is_present = np.isin(np.arange(len(judgments.queries)), common_queries(judgments.queries, run))
    evaluated = evaluated_queries(options, is_present)
    check_measures(options)
    requests = [request for request in options.requests if request.name not in ANY_FORMAT_NAMES]
    query_values: QueryValues
    hits = join(judgments, run, compat=options.compat)
    if options.judgments in PREFERENCE_FORMATS:
        if options.max_retrieved is not None:
            hits = hits.where(ascending_rank(hits) <= options.max_retrieved)
        query_values = PreferenceValues(hits, rows, requests)
    else:
        query_values = GroupValues(hits, rows, requests, options)
    broken = repeated_queries(options, judgments.queries, run) if requests else frozenset()
    columns = [Column(request, label, np.zeros(0)) for request in requests for label in request.labels]
    table = []
    for query in evaluated.tolist():
        query_id = judgments.queries[query]
        if not is_present[query] and not options.complete:
            raise TrecEvalError(
                TREC_COMPUTE_ERROR, f"query {shown(query_id)} is judged and not in the results", hint="-c accepts that"
            )
        if query in broken:
            raise TrecEvalError(TREC_COMPUTE_ERROR, f"query {shown(query_id)} has a document twice in the results")
        values = query_values.values(query) if requests else []
        if zscores is not None:
            pairs = zip(columns, values, strict=True)
            values = [zscores.scale(query_id, column.label, value) for column, value in pairs]
        table.append(values)
        if options.per_query:
            for column, value in zip(columns, values, strict=True):
                yield number_line(options, column, query_id, value)
    if options.summary:
        count = len(judgments.queries) if options.complete else len(evaluated)
        filled = [replace(column, values=values) for column, values in zip(columns, np.array(table).T, strict=True)]
        others = [
            Column(request, request.labels[0], np.zeros(0)) for request in options.requests if request not in requests
        ]
        yield from summary_lines(options, [*others, *filled], Totals(run_id, count, None))


def common_queries(queries: Ids, run: Run) -> NDArray[np.int64]:
    """The numbers of the judged queries that the run has."""
    numbers = {query: number for number, query in enumerate(queries)}
    return np.array(sorted(numbers[query] for query in run.queries if query in numbers), dtype=np.int64)


def evaluated_queries(options: Options, is_present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The numbers of the queries that trec_eval looks at: 10 takes every judged one, 9 those that the run has."""
    if options.compat == "trec_eval-10":
        return np.arange(len(is_present))
    if not is_present.any():
        raise TrecEvalError(TREC_NO_QUERIES, "no query is in both files")
    return np.flatnonzero(is_present)


def repeated_queries(options: Options, queries: Ids, run: Run) -> frozenset[int]:
    """The numbers of the queries for which the run has a document twice within the depth of -M."""
    ranked = ranking.rank(run.offsets, run.docs, run.scores, options.compat)
    ranks = ranked.rank if options.judgments == "qrels_jg" else ranked.tie_first + ranked.tie_last - ranked.rank
    depth = options.max_retrieved
    kept = np.flatnonzero(ranks <= depth) if depth is not None else np.arange(len(ranks))
    first, _ = repeated(run.docs.take(kept), run.query[kept])
    names = {run.queries[number] for number in np.unique(run.query[kept][first]).tolist()}
    return frozenset(number for number, query in enumerate(queries) if query in names)
