"""Which documents to judge: the tops of several runs, pooled by a strategy, within a budget of judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from rankgauge.core.arrays import Floats, group_of
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import InputError, UsageError
from rankgauge.io.formats.judgment_lines import Inclusion
from rankgauge.retrieval.fusion import DEFAULT_RRF_K, pool_runs, rrf
from rankgauge.stats.draws import RandomStream

PoolStrategy = Literal["depth", "rrf", "uniform", "stratified", "move-to-front"]
POOL_STRATEGIES: tuple[PoolStrategy, ...] = get_args(PoolStrategy)
SAMPLED_STRATEGIES = ("uniform", "stratified")


@dataclass(frozen=True)
class PoolOptions:
    """How documents are chosen.

    The pool of a query has the first ``depth`` documents of each run. ``depth`` takes them by their best rank, ``rrf``
    by reciprocal rank fusion; a ``budget`` takes as many of each query as of the others. ``uniform`` and ``stratified``
    draw a random sample of ``budget`` documents with known probabilities. ``move-to-front`` prefers the runs whose
    documents were judged relevant so far; what it takes depends on judgments, so it has no probabilities.
    ``sample_queries`` pools only this many queries, drawn at random.
    """

    strategy: PoolStrategy = setting(
        "depth",
        "Take documents by their best rank, in RRF order, as a random sample, or where relevant ones were found.",
        Section.POOL,
        choices=POOL_STRATEGIES,
        common=True,
    )
    depth: int = setting(10, "Pool the top K of each run.", Section.POOL, flag="--depth K", limits=">=1", common=True)
    budget: int | None = setting(
        None,
        "Choose N documents in all.  [default: the whole pool]",
        Section.POOL,
        flag="--budget N",
        limits=">=1",
        common=True,
    )
    sample_queries: int | None = setting(
        None,
        "Pool only N queries, drawn at random.",
        Section.POOL,
        flag="--sample-queries N",
        limits=">=1",
        common=True,
    )
    seed: int = setting(0, "Seed the random numbers.", Section.POOL, flag="--seed N", common=True)

    def __post_init__(self) -> None:
        check_settings(self)
        if self.budget is None and self.strategy in SAMPLED_STRATEGIES:
            raise UsageError(f"a {self.strategy} sample needs a size", hint="name it: --budget N")


@dataclass(frozen=True)
class PooledDocument:
    """A document of a pool; one that is not ``sampled`` is in the pool but was not drawn."""

    query: bytes
    doc: bytes
    inclusion: Inclusion
    sampled: bool = True


@dataclass(frozen=True, eq=False)
class _PoolTable:
    """The pooled documents of all queries: the rank of each in each run (0 if it is not there) and its RRF score."""

    queries: Ids
    offsets: Ints
    docs: Ids
    rank: Ints
    rrf: Floats

    @cached_property
    def best_rank(self) -> Ints:
        ranks: Ints = np.where(self.rank > 0, self.rank, np.iinfo(np.int64).max).min(axis=1)
        return ranks


def pool_documents(
    runs: Sequence[Run], options: PoolOptions | None = None, *, judged: Qrels | None = None
) -> list[PooledDocument]:
    """The documents to judge, query by query; those in ``judged`` are left out."""
    options = options or PoolOptions()
    if not runs:
        raise UsageError("a pool needs at least one run")
    if judged is not None and options.strategy == "uniform":
        raise UsageError(
            "a uniform sample must not leave out what is judged: its documents would be no longer equally likely",
            hint="use --strategy stratified, which keeps judged documents apart",
        )
    table = _pooled([run.top(options.depth) for run in runs])
    grades = _known_grades(table, judged)
    chosen = _sampled_queries(table.queries, options)
    choose = _drawn if options.strategy in SAMPLED_STRATEGIES else _ordered
    documents = choose(table, grades, chosen, options)
    if options.sample_queries is None:
        return list(documents)
    share = len(chosen) / len(table.queries)
    return [replace(document, inclusion=replace(document.inclusion, query_probability=share)) for document in documents]


def _pooled(runs: Sequence[Run]) -> _PoolTable:
    if not any(len(run) for run in runs):
        raise InputError("the runs have no results to pool")
    pooled = pool_runs(runs, "none", None, DEFAULT_RRF_K)
    return _PoolTable(pooled.queries, pooled.pool.offsets, pooled.docs, pooled.pool.rank, rrf(pooled.pool))


def _known_grades(table: _PoolTable, judged: Qrels | None) -> Floats:
    """The grade of each pooled document; NaN if it is not judged. Negative grades count as unjudged."""
    grades = np.full(len(table.docs), np.nan)
    if judged is None:
        return grades
    rows, numbers = judged.query_index.find(table.queries, np.zeros(len(table.queries), dtype=np.int64))
    judged_query = np.full(len(table.queries), -1, dtype=np.int64)
    judged_query[rows] = numbers
    number = judged_query[group_of(table.offsets)]
    known = np.flatnonzero(number >= 0)
    rows, index = judged.index.find(table.docs.take(known), number[known])
    grades[known[rows]] = judged.grades[index]
    grades[grades < 0] = np.nan
    return grades


def _sampled_queries(queries: Ids, options: PoolOptions) -> list[int]:
    """The numbers of the queries to pool, in their order: all of them, or a random sample."""
    by_id = queries.order().tolist()
    count = options.sample_queries
    if count is None or count >= len(by_id):
        return list(range(len(by_id)))
    words = RandomStream(options.seed, ("pool", "queries")).bits().words(1, len(by_id))[0]
    drawn = [by_id[position] for position in np.argsort(words, kind="stable")[:count].tolist()]
    return sorted(drawn)


def _ordered(
    table: _PoolTable, grades: Floats, chosen: Sequence[int], options: PoolOptions
) -> Iterator[PooledDocument]:
    """The first documents of each query in the order of a strategy, as many of each query as the budget allows."""
    orders = {}
    for query in chosen:
        rows = np.arange(table.offsets[query], table.offsets[query + 1])
        if options.strategy == "move-to-front":
            order = move_to_front_order(table.rank[rows], grades[rows])
        else:
            keys = -table.rrf[rows] if options.strategy == "rrf" else table.best_rank[rows]
            order = np.lexsort((-table.rrf[rows], keys))  # documents are sorted by id, which decides ties
        orders[query] = [int(row) for row in rows[order] if np.isnan(grades[row])]
    shares = shared_budget([len(orders[query]) for query in chosen], options.budget)
    probability = None if options.strategy == "move-to-front" else 1.0
    if options.budget is not None and probability is not None:
        # A budget cuts the pool at some rank: what is below has no chance to be judged, which is not a sample.
        complete = sum(shares) == sum(map(len, orders.values()))
        probability = 1.0 if complete else None
    inclusion = Inclusion(options.strategy, probability)
    for query, share in zip(chosen, shares, strict=True):
        for row in orders[query][:share]:
            yield PooledDocument(table.queries[query], table.docs[row], inclusion)


def _drawn(table: _PoolTable, grades: Floats, chosen: Sequence[int], options: PoolOptions) -> Iterator[PooledDocument]:
    """A random sample of each query's documents, and those that were not drawn."""
    best = table.best_rank
    unjudged = {
        query: [row for row in range(int(begin), int(end)) if np.isnan(grades[row])]
        for query, (begin, end) in enumerate(pairwise(table.offsets.tolist()))
    }
    shares = shared_budget([len(unjudged[query]) for query in chosen], options.budget)
    least = min((share - min(2, len(unjudged[query])) for query, share in zip(chosen, shares, strict=True)), default=0)
    if least < 0:
        raise UsageError(
            f"a budget of {options.budget} is less than two judgments for each of {len(chosen)} queries",
            hint="increase --budget, or pool fewer queries: --sample-queries N",
        )
    for query, share in zip(chosen, shares, strict=True):
        rows = unjudged[query]
        if not rows:
            continue
        stream = RandomStream(
            options.seed, ("pool", "sample", table.queries[query].decode("utf-8", "backslashreplace"))
        )
        strata = draw_strata(best[rows], share, stream, single=options.strategy == "uniform")
        for stratum in strata:
            inclusion = Inclusion(
                options.strategy,
                len(stratum.drawn) / len(stratum.members),
                stratum.name,
                len(stratum.members),
                len(stratum.drawn),
            )
            drawn = set(stratum.drawn)
            for member in stratum.members:
                row = rows[member]
                yield PooledDocument(table.queries[query], table.docs[row], inclusion, member in drawn)


def shared_budget(sizes: Sequence[int], budget: int | None) -> list[int]:
    """How many documents of each query fit into a budget: equally many of each, unless a query has fewer."""
    if budget is None or budget >= sum(sizes):
        return list(sizes)
    shares = [0] * len(sizes)
    left = budget
    while left:
        open_queries = [query for query, size in enumerate(sizes) if shares[query] < size]
        step = max(1, left // len(open_queries))
        for query in open_queries:
            added = min(step, sizes[query] - shares[query], left)
            shares[query] += added
            left -= added
    return shares


# The move-to-front order of a pool: documents of the runs that found relevant ones come first.


def move_to_front_order(rank: Ints, grades: Floats) -> Ints:
    """The documents of one query in the order in which to judge them, given those that are judged already.

    ``rank`` has one row per document and one column per run, 0 if the run does not have it; ``grades`` is NaN for what
    is not judged. The run with the highest priority gives its next document. A run keeps its priority if that document
    is relevant, and loses one if it is not, or not judged yet. Cormack, Palmer and Clarke, Efficient construction of
    large test collections, SIGIR 1998 (local move-to-front).
    """
    rankings = [[int(doc) for doc in np.argsort(column, kind="stable") if column[doc] > 0] for column in rank.T]
    positions, priorities = [0] * len(rankings), [0] * len(rankings)
    taken: dict[int, None] = {}
    while True:
        waiting = [run for run, ranking in enumerate(rankings) if positions[run] < len(ranking)]
        if not waiting:
            return np.array(list(taken), dtype=np.int64)
        run = max(waiting, key=lambda candidate: (priorities[candidate], -candidate))
        doc = rankings[run][positions[run]]
        positions[run] += 1
        if doc not in taken:
            taken[doc] = None
            priorities[run] -= not grades[doc] > 0


# A random sample from the pool of one query, drawn from strata of ranks, with known probabilities.

FIRST_LIMIT = 5  # the last rank of the first stratum; each further one ends at twice the rank


@dataclass(frozen=True)
class Stratum:
    """Documents of one range of ranks, by position, and those that were drawn from them."""

    name: str
    members: tuple[int, ...]
    drawn: tuple[int, ...]


def draw_strata(best_rank: Ints, count: int, stream: RandomStream, *, single: bool = False) -> list[Stratum]:
    """Draw ``count`` documents; ``best_rank`` is the best rank of each in any run.

    The strata are the best ranks 1–5, 6–10, 11–20, 21–40, …: relevant documents are more frequent at the top, so that a
    stratum gets a share of the sample in proportion to its size divided by its rank, and at least two documents. If the
    sample is too small for that, the last strata are merged. Within a stratum every document is equally likely.
    ``single`` draws from one stratum.
    """
    by_rank = np.argsort(best_rank, kind="stable").tolist()
    ranges: list[tuple[int, int, list[int]]] = []
    for position in by_rank:
        first, last = _range(int(best_rank[position]))
        if not ranges or ranges[-1][0] != first:
            ranges.append((first, last, []))
        ranges[-1][2].append(position)
    while len(ranges) > 1 and (single or 2 * len(ranges) > count):
        (first, _, upper), (_, last, lower) = ranges[-2:]
        ranges[-2:] = [(first, last, upper + lower)]
    weights = [len(members) / float(np.mean(best_rank[members])) for *_, members in ranges]
    shares = _shares([len(members) for *_, members in ranges], weights, count)
    return [
        Stratum(f"{first}–{last}", tuple(members), _draw(members, share, stream.child(str(first))))
        for (first, last, members), share in zip(ranges, shares, strict=True)
    ]


def _range(rank: int) -> tuple[int, int]:
    first, last = 1, FIRST_LIMIT
    while rank > last:
        first, last = last + 1, 2 * last
    return first, last


def _shares(sizes: Sequence[int], weights: Sequence[float], count: int) -> list[int]:
    """How many documents each stratum gives: two each from the top down, then one at a time to the neediest."""
    shares = [0] * len(sizes)
    left = min(count, sum(sizes))
    for stratum, size in enumerate(sizes):
        shares[stratum] = min(2, size, left)
        left -= shares[stratum]
    while left:
        open_strata = [stratum for stratum, size in enumerate(sizes) if shares[stratum] < size]
        stratum = max(open_strata, key=lambda s: (weights[s] / (shares[s] + 1), -s))
        shares[stratum] += 1
        left -= 1
    return shares


def _draw(members: Sequence[int], count: int, stream: RandomStream) -> tuple[int, ...]:
    words = stream.bits().words(1, max(1, len(members)))[0][: len(members)]
    return tuple(sorted(members[position] for position in np.argsort(words, kind="stable")[:count].tolist()))
