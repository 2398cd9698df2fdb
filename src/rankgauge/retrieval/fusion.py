"""Fuse several runs into one: the join of runs, and fusion methods and normalizations, one function each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.config.retriever_settings import DEFAULT_SETTINGS, RetrieverSettings
from rankgauge.core import ranking
from rankgauge.core.arrays import Floats, count_by, group_of, offsets_of, sum_by
from rankgauge.core.ids import Ids, Interner, Ints, concatenate
from rankgauge.core.run import Run, Status
from rankgauge.core.settings import check_values
from rankgauge.errors import InputError, UsageError, shown, warn_user
from rankgauge.retrieval.named_code import unknown_name
from rankgauge.retrieval.ranked_scores import ordered_run, separate_scores

# Needs no comparable scores; with equal weights, the choice of a rule: docs/concepts/retrieval-defaults.md.
DEFAULT_METHOD = DEFAULT_SETTINGS.fusion
DEFAULT_NORMALIZATION = DEFAULT_SETTINGS.normalization
DEFAULT_RRF_K = DEFAULT_SETTINGS.rrf_k
TOO_CLOSE = (
    "some fused scores are too close for float32, in which scores are compared by default: the higher ones were raised "
    "to keep their order"
)


def fuse(
    runs: Sequence[Run],
    method: str = DEFAULT_METHOD,
    *,
    k: int | None = None,
    weights: Sequence[float] | None = None,
    normalization: str = DEFAULT_NORMALIZATION,
    rrf_k: float = DEFAULT_RRF_K,
    name: str | None = None,
) -> Run:
    """Fuse runs into one with at most ``k`` documents per query.

    ``method`` is rrf, weighted, combsum, combmnz, combmed, combmax, combmin, borda or isr; ``normalization``
    (min-max, z-score, rank, none) makes scores comparable for the methods that combine scores.

    The queries are those of all runs. A query is fused from the runs that answered it: it is answered if any run
    answered it, failed if it failed in every run that has it, and empty otherwise.

    The scores have six digits, or more if it takes more to keep the order and the ties of the exact fused scores when
    they are compared as float32, as evaluation does by default. If float32 cannot tell scores apart, the higher ones
    are raised to the next numbers that it has, and a warning says so.
    """
    _check_arguments(runs, method, weights, normalization, rrf_k)
    pooled = pool_runs(runs, normalization, weights, rrf_k)
    scores, are_too_close = separate_scores(pooled.pool.offsets, _exact_scores(pooled, method))
    if are_too_close:
        warn_user(TOO_CLOSE)
    fused = ordered_run(name or method, pooled.queries, pooled.pool.offsets, pooled.docs, scores, k)
    return _with_failed_queries(fused, runs)


class PooledRuns(NamedTuple):
    """The join of several runs on query and document."""

    pool: Pool
    queries: Ids  # in order of appearance
    docs: Ids  # of the rows of the pool


def pool_runs(runs: Sequence[Run], normalization: str, weights: Sequence[float] | None, rrf_k: float) -> PooledRuns:
    """Join runs on query and document."""
    intern = Interner()
    query_numbers = [intern(run.queries) for run in runs]
    queries = intern.ids
    query = np.concatenate([numbers[run.query] for numbers, run in zip(query_numbers, runs, strict=True)])
    docs = concatenate([run.docs for run in runs])
    order = np.argsort(query, kind="stable")
    order = order[docs.take(order).order(query[order])]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (query[order][1:] != query[order][:-1]) | ~docs.same(order[1:], docs, order[:-1])
    pool_row = np.empty(len(order), dtype=np.int64)
    pool_row[order] = np.cumsum(is_new) - 1
    first_rows = order[is_new]
    group = query[first_rows]
    candidates = count_by(group, len(queries))
    score, rank = np.zeros((len(first_rows), len(runs))), np.zeros((len(first_rows), len(runs)), dtype=np.int64)
    absent = np.zeros((len(queries), len(runs)))
    begin = 0
    for column, run in enumerate(runs):
        rows = pool_row[begin : begin + len(run)]
        begin += len(run)
        ranks = ranking.rank(run.offsets, run.docs, run.scores).rank
        numbers = query_numbers[column]
        values, absent[numbers, column] = NORMALIZATIONS[normalization](
            run.offsets, run.own_scores, ranks, candidates[numbers]
        )
        score[:, column] = absent[group, column]
        score[rows, column] = values
        rank[rows, column] = ranks
    run_weights = np.ones(len(runs)) if weights is None else np.array(weights, dtype=np.float64)
    pool = Pool(offsets_of(group, len(queries)), score, absent, rank, run_weights, rrf_k)
    return PooledRuns(pool, queries, docs.take(first_rows))


def _exact_scores(pooled: PooledRuns, method: str) -> Floats:
    """The fused scores, with all their digits."""
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        scores = FUSION_METHODS[method](pooled.pool)
    infinite = np.flatnonzero(~np.isfinite(scores))
    if len(infinite):
        row = int(infinite[0])
        query = pooled.queries[int(group_of(pooled.pool.offsets)[row])]
        raise InputError(
            f"{method} of the scores of document {shown(pooled.docs[row])} for query {shown(query)} is too large for a "
            "number",
            hint="normalize the scores: min-max, z-score or rank",
        )
    return scores


def _with_failed_queries(fused: Run, runs: Sequence[Run]) -> Run:
    """The fused run, with the queries marked as failed that failed in every run that has them."""
    failed_everywhere: dict[bytes, bool] = {}
    for run in runs:
        for query, status in zip(run.queries, run.status.tolist(), strict=True):
            failed_everywhere[query] = failed_everywhere.get(query, True) and status == Status.FAILED
    failed = np.array([failed_everywhere[query] for query in fused.queries], dtype=bool)
    return replace(fused, status=np.where(failed, np.uint8(Status.FAILED), fused.status)) if failed.any() else fused


def _check_arguments(
    runs: Sequence[Run], method: str, weights: Sequence[float] | None, normalization: str, rrf_k: float
) -> None:
    if not runs:
        raise UsageError("no runs to fuse")
    if method not in FUSION_METHODS:
        raise unknown_name("fusion method", method, list(FUSION_METHODS))
    if normalization not in NORMALIZATIONS:
        raise unknown_name("normalization", normalization, list(NORMALIZATIONS))
    if weights is not None:
        if len(weights) != len(runs):
            raise UsageError(f"expected one weight for each of {len(runs)} runs, found {len(weights)}")
        if method in UNWEIGHTED_METHODS:
            raise UsageError(f"{method} takes no weights")
        if not all(weight >= 0 for weight in weights) or not 0 < sum(weights) < np.inf:
            raise UsageError("weights must be finite, at least 0, and not all 0")
    check_values(RetrieverSettings, {"rrf_k": rrf_k})
    for run in runs:
        if np.isinf(run.scores).any():
            raise InputError(f"run {shown(run.name)} has infinite scores, which cannot be fused")


# Fusion methods: one function each, from the pooled documents to their fused scores.


@dataclass(frozen=True, eq=False)
class Pool:
    """Every document that at least one run returned for a query, as a table with one column per run.

    ``score`` holds normalized scores; ``absent`` holds, with one row per query, those of documents that the run did not
    return, which are never above those of its results. ``rank`` holds the rank in each run, 0 if it did not return the
    document.
    """

    offsets: Ints
    score: Floats
    absent: Floats
    rank: Ints
    weights: Floats
    rrf_k: float

    @property
    def present(self) -> NDArray[np.bool_]:
        """Whether each run returned each document."""
        return self.rank > 0

    @property
    def count(self) -> Ints:
        """The number of runs that returned each document."""
        count: Ints = self.present.sum(axis=1)
        return count

    @property
    def returned(self) -> Ints:
        """The number of documents that each run returned for the query of each row."""
        query = group_of(self.offsets)
        counts = [sum_by(query, column, len(self.offsets) - 1) for column in self.present.T.astype(np.int64)]
        return np.stack(counts, axis=1).astype(np.int64)[query]


FusionMethod = Callable[[Pool], Floats]


def _weighted_sum(table: Floats, weights: Floats) -> Floats:
    """The weighted sum of each row, lowest term first.

    So the same terms in another order have the same sum; the order in a matrix product depends on the processor.
    """
    out = np.zeros(len(table))
    for column in np.sort(table * weights, axis=1).T:
        out += column
    return out


def rrf(pool: Pool) -> Floats:
    """Reciprocal rank fusion: the sum of w / (k + rank). https://doi.org/10.1145/1571941.1572114"""
    return _weighted_sum(np.where(pool.present, 1.0 / (pool.rrf_k + pool.rank), 0.0), pool.weights)


def weighted(pool: Pool) -> Floats:
    """The sum of weights times normalized scores; the weights are scaled to a sum of 1."""
    total = float(np.cumsum(pool.weights)[-1])
    return _weighted_sum(pool.score, pool.weights / total)


def comb_sum(pool: Pool) -> Floats:
    """CombSUM: the sum of the normalized scores (Fox & Shaw 1994, as are the next four)."""
    return _weighted_sum(pool.score, pool.weights)


def comb_mnz(pool: Pool) -> Floats:
    """CombMNZ: the sum times the number of runs that returned the document.

    It is the sum of how much each score is above that of an absent document: the product of a negative sum would
    be lower with every run.
    """
    above = pool.score - pool.absent[group_of(pool.offsets)]
    return _weighted_sum(above, pool.weights) * pool.count


def comb_med(pool: Pool) -> Floats:
    """CombMED: the median over the runs that answered the query."""
    answered = pool.returned > 0
    ordered = np.sort(np.where(answered, pool.score, np.inf), axis=1)
    rows, count = np.arange(len(ordered)), answered.sum(axis=1)
    median: Floats = (ordered[rows, (count - 1) // 2] + ordered[rows, count // 2]) / 2
    return median


def comb_max(pool: Pool) -> Floats:
    """CombMAX: the highest over the runs that returned the document."""
    highest: Floats = np.where(pool.present, pool.score, -np.inf).max(axis=1)
    return highest


def comb_min(pool: Pool) -> Floats:
    """CombMIN: the lowest over the runs that answered the query."""
    lowest: Floats = np.where(pool.returned > 0, pool.score, np.inf).min(axis=1)
    return lowest


def borda(pool: Pool) -> Floats:
    """Borda count: of c documents, the first of a run gets c points, the next c − 1, and so on; those that a run did
    not return share the remaining points. https://doi.org/10.1145/383952.384007
    """
    candidates = np.diff(pool.offsets)[group_of(pool.offsets)].astype(np.float64)[:, None]
    # The points c − r, …, 1 remain, and their mean is (c − r + 1) / 2.
    points = np.where(pool.present, candidates - pool.rank + 1, (candidates - pool.returned + 1) / 2)
    return _weighted_sum(points, pool.weights)


def isr(pool: Pool) -> Floats:
    """Inverse square rank: the number of runs times the sum of w / rank². https://doi.org/10.1016/j.ipm.2014.05.003"""
    squares = np.where(pool.present, 1.0 / np.maximum(pool.rank, 1) ** 2, 0.0)
    return _weighted_sum(squares, pool.weights) * pool.count


FUSION_METHODS: dict[str, FusionMethod] = {
    "rrf": rrf,
    "weighted": weighted,
    "combsum": comb_sum,
    "combmnz": comb_mnz,
    "combmed": comb_med,
    "combmax": comb_max,
    "combmin": comb_min,
    "borda": borda,
    "isr": isr,
}
UNWEIGHTED_METHODS = ("combmed", "combmax", "combmin")

# Normalization: make the scores of different retrievers comparable, one query at a time.
#
# A document that a retriever did not return also has a score there, which is never above that of a result. A single
# result gets the highest value that the normalization can give.

# Query offsets, scores and ranks of a run, and the number of documents that any run returned for each of its queries →
# the new scores of its rows, and each query's score of absent documents.
Normalization = Callable[[Ints, Floats, Ints, Ints], tuple[Floats, Floats]]


def min_max(offsets: Ints, scores: Floats, ranks: Ints, candidates: Ints) -> tuple[Floats, Floats]:
    """From 0 for the lowest to 1 for the highest; 1 if all are equal. An absent document has 0."""
    query = group_of(offsets)
    scaled = _scale(offsets, scores)
    low, high = _extremes(offsets, scaled)
    span = (high - low)[query]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(span > 0, (scaled - low[query]) / span, 1.0)
    return out, np.zeros(len(offsets) - 1)


def z_score(offsets: Ints, scores: Floats, ranks: Ints, candidates: Ints) -> tuple[Floats, Floats]:
    """Standard deviations from the mean. An absent document has the lowest.

    Equal scores, such as that of a single result, only separate results from absent documents: they get the z-scores of
    two values, that of m results above that of the other c − m of c candidates. For a single result this is √(c − 1),
    the highest z-score that one of c documents can have (https://doi.org/10.2307/2285901).
    """
    query, queries = group_of(offsets), len(offsets) - 1
    scaled, count = _scale(offsets, scores), count_by(query, queries)
    low, high = _extremes(offsets, scaled)
    mean = sum_by(query, scaled, queries) / np.maximum(count, 1)
    difference = scaled - mean[query]
    deviation = np.sqrt(sum_by(query, difference * difference, queries) / np.maximum(count, 1))[query]
    absent_count = candidates - count
    is_equal, above = low == high, np.sqrt(absent_count / np.maximum(count, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(is_equal[query], above[query], difference / deviation)
    lowest, _ = _extremes(offsets, out)
    below = np.where(absent_count > 0, -np.sqrt(count / np.maximum(absent_count, 1)), 0.0)
    return out, np.where(is_equal, below, np.where(count > 0, lowest, 0.0))


def by_rank(offsets: Ints, scores: Floats, ranks: Ints, candidates: Ints) -> tuple[Floats, Floats]:
    """1 for the first, then in equal steps down to 1/n for the last of n. An absent document has 0."""
    query, queries = group_of(offsets), len(offsets) - 1
    count = count_by(query, queries)[query]
    return 1 - (ranks - 1) / np.maximum(count, 1), np.zeros(queries)


def unchanged(offsets: Ints, scores: Floats, ranks: Ints, candidates: Ints) -> tuple[Floats, Floats]:
    """The scores themselves. An absent document has 0, or the lowest score if that is negative."""
    return scores, np.minimum(_extremes(offsets, scores)[0], 0.0)


def _extremes(offsets: Ints, scores: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest score of each query."""
    query, queries = group_of(offsets), len(offsets) - 1
    low, high = np.full(queries, np.inf), np.full(queries, -np.inf)
    np.minimum.at(low, query, scores)
    np.maximum.at(high, query, scores)
    return low, high


def _scale(offsets: Ints, scores: Floats) -> Floats:
    """Scores times a power of two for each query, so that neither spans nor squares leave the range of numbers.

    No digit of a ratio changes.
    """
    largest = np.zeros(len(offsets) - 1)
    np.maximum.at(largest, group_of(offsets), np.abs(scores))
    exponent = np.frexp(largest)[1]
    scaled: Floats = np.ldexp(scores, -exponent[group_of(offsets)])
    return scaled


NORMALIZATIONS: dict[str, Normalization] = {
    "min-max": min_max,
    "z-score": z_score,
    "rank": by_rank,
    "none": unchanged,
}
