"""Fuse several runs into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankgauge.config.retriever_settings import DEFAULT_SETTINGS
from rankgauge.core import ranking
from rankgauge.core.ids import Ids, Interner, concatenate
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import Floats, count_by, group_of, offsets_of
from rankgauge.errors import InputError, UsageError, shown, warn_user
from rankgauge.retrieval.fusion.methods import FUSION_METHODS, UNWEIGHTED_METHODS, Pool
from rankgauge.retrieval.fusion.normalization import NORMALIZATIONS
from rankgauge.retrieval.loading import unknown_name
from rankgauge.retrieval.scores import ordered_run, separate_scores

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
            run.offsets, run.scores, ranks, candidates[numbers]
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
    if not 0 < rrf_k < np.inf:
        raise UsageError(f"the constant of reciprocal rank fusion must be finite and above 0, found {rrf_k:g}")
    for run in runs:
        if np.isinf(run.scores).any():
            raise InputError(f"run {shown(run.name)} has infinite scores, which cannot be fused")
