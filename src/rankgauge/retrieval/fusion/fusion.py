"""Several runs made into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import ranking
from rankgauge.core.ids import Ids, Interner, Ints, concatenate
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import Floats, group_of, offsets_of, sum_by
from rankgauge.errors import InputError, UsageError, nearest, shown
from rankgauge.retrieval.fusion.normalization import NORMALISATIONS
from rankgauge.retrieval.scores import cut_run

RRF_K = 60.0


@dataclass(frozen=True, eq=False)
class Pool:
    """Every document of every query that some run returned: rows × runs.

    ``score`` holds normalised scores, ``rank`` the rank in each run, 0 where the run did not return the document.
    """

    offsets: Ints
    score: Floats
    rank: Ints
    weights: Floats
    rrf_k: float

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which run returned which document."""
        return self.rank > 0

    @property
    def count(self) -> Ints:
        """How many runs returned each document."""
        count: Ints = self.present.sum(axis=1)
        return count


Method = Callable[[Pool], Floats]


def _added(table: Floats, weights: Floats) -> Floats:
    """Weighted columns added from left to right: a matrix product would add as the processor likes."""
    out = np.zeros(len(table))
    for column, weight in zip(table.T, weights.tolist(), strict=True):
        out += weight * column
    return out


def rrf(pool: Pool) -> Floats:
    """Reciprocal rank fusion: the sum of w / (k + rank). https://doi.org/10.1145/1571941.1572114"""
    return _added(np.where(pool.present, 1.0 / (pool.rrf_k + pool.rank), 0.0), pool.weights)


def weighted_sum(pool: Pool) -> Floats:
    """The sum of weights times normalised scores; weights are brought to a sum of 1."""
    total = float(np.cumsum(pool.weights)[-1])
    return _added(pool.score, pool.weights / total)


def comb_sum(pool: Pool) -> Floats:
    """CombSUM: the sum of the normalised scores (Fox & Shaw 1994, as the five that follow)."""
    return _added(pool.score, pool.weights)


def comb_mnz(pool: Pool) -> Floats:
    """CombMNZ: the sum times the number of runs that returned the document."""
    return comb_sum(pool) * pool.count


def comb_anz(pool: Pool) -> Floats:
    """CombANZ: the mean over the runs that returned the document."""
    seen = np.where(pool.present, pool.score, 0.0)
    return _added(seen, pool.weights) / pool.count


def comb_med(pool: Pool) -> Floats:
    """CombMED: the median over the runs that returned the document."""
    ordered = np.sort(np.where(pool.present, pool.score, np.inf), axis=1)
    rows = np.arange(len(ordered))
    middle: Floats = (ordered[rows, (pool.count - 1) // 2] + ordered[rows, pool.count // 2]) / 2
    return middle


def comb_max(pool: Pool) -> Floats:
    """CombMAX: the highest."""
    highest: Floats = np.where(pool.present, pool.score, -np.inf).max(axis=1)
    return highest


def comb_min(pool: Pool) -> Floats:
    """CombMIN: the lowest over the runs that returned the document."""
    lowest: Floats = np.where(pool.present, pool.score, np.inf).min(axis=1)
    return lowest


def borda(pool: Pool) -> Floats:
    """Borda count: of c documents the first of a run gets c points, the next c − 1; those that a run did not return
    share what is left. https://doi.org/10.1145/383952.384007
    """
    query = group_of(pool.offsets)
    candidates = np.diff(pool.offsets)[query].astype(np.float64)
    points = np.empty_like(pool.score)
    for run in range(pool.rank.shape[1]):
        returned = sum_by(query, pool.present[:, run].astype(np.float64), len(pool.offsets) - 1)[query]
        # The places c − r, …, 1 remain, whose mean is (c − r + 1) / 2.
        points[:, run] = np.where(
            pool.present[:, run], candidates - pool.rank[:, run] + 1, (candidates - returned + 1) / 2
        )
    return _added(points, pool.weights)


def isr(pool: Pool) -> Floats:
    """Inverse square rank: the number of runs times the sum of w / rank². https://doi.org/10.1016/j.ipm.2014.05.003"""
    squares = np.where(pool.present, 1.0 / np.maximum(pool.rank, 1) ** 2, 0.0)
    return _added(squares, pool.weights) * pool.count


METHODS: dict[str, Method] = {
    "rrf": rrf,
    "weighted": weighted_sum,
    "combsum": comb_sum,
    "combmnz": comb_mnz,
    "combanz": comb_anz,
    "combmed": comb_med,
    "combmax": comb_max,
    "combmin": comb_min,
    "borda": borda,
    "isr": isr,
}
UNWEIGHTED = ("combmed", "combmax", "combmin")


def fuse(
    runs: Sequence[Run],
    method: str = "rrf",
    *,
    k: int | None = None,
    weights: Sequence[float] | None = None,
    normalise: str = "min-max",
    rrf_k: float = RRF_K,
    name: str | None = None,
) -> Run:
    """One run from several, at most ``k`` documents a query.

    ``method`` is rrf, weighted, combsum, combmnz, combanz, combmed, combmax, combmin, borda or isr; ``normalise``
    (min-max, z-score, rank, none) makes scores comparable where a method adds scores. A query that only some runs
    have is fused from those.
    """
    _check(runs, method, weights, normalise, rrf_k)
    pooled, queries, docs = pool(runs, normalise, weights, rrf_k)
    made = METHODS[method](pooled)
    out = cut_run(name or method, queries, pooled.offsets, docs, made, k)
    return _with_failed(out, runs)


def pool(runs: Sequence[Run], normalise: str, weights: Sequence[float] | None, rrf_k: float) -> tuple[Pool, Ids, Ids]:
    """The join of the runs on query and document, the queries in order of appearance, and the documents."""
    intern = Interner()
    numbers = [intern(run.queries) for run in runs]
    queries = intern.ids
    query = np.concatenate([number[run.query] for number, run in zip(numbers, runs, strict=True)])
    docs = concatenate([run.docs for run in runs])
    by = np.argsort(query, kind="stable")
    by = by[docs.take(by).order(query[by])]
    fresh = np.ones(len(by), dtype=bool)
    fresh[1:] = (query[by][1:] != query[by][:-1]) | ~docs.same(by[1:], docs, by[:-1])
    cell = np.empty(len(by), dtype=np.int64)
    cell[by] = np.cumsum(fresh) - 1
    begins = by[fresh]
    group = query[begins]
    score, rank = np.zeros((len(begins), len(runs))), np.zeros((len(begins), len(runs)), dtype=np.int64)
    at = 0
    for place, run in enumerate(runs):
        mine = cell[at : at + len(run)]
        at += len(run)
        ranks = ranking.rank(run.offsets, run.docs, run.scores).rank
        values, rest = NORMALISATIONS[normalise](run.offsets, run.scores, ranks)
        absent = np.zeros(len(queries))
        absent[numbers[place]] = rest
        score[:, place] = absent[group]
        score[mine, place] = values
        rank[mine, place] = ranks
    given = np.ones(len(runs)) if weights is None else np.array(weights, dtype=np.float64)
    made = Pool(offsets_of(group, len(queries)), score, rank, given, rrf_k)
    return made, queries, docs.take(begins)


def _with_failed(run: Run, runs: Sequence[Run]) -> Run:
    """A query that failed in every run that has it failed here too."""
    failed: dict[bytes, bool] = {}
    for one in runs:
        for query, status in zip(one.queries, one.status.tolist(), strict=True):
            failed[query] = failed.get(query, True) and status == Status.FAILED
    marks = np.array([failed[query] for query in run.queries], dtype=bool)
    return replace(run, status=np.where(marks, np.uint8(Status.FAILED), run.status)) if marks.any() else run


def _check(runs: Sequence[Run], method: str, weights: Sequence[float] | None, normalise: str, rrf_k: float) -> None:
    if not runs:
        raise UsageError("no runs to fuse")
    for given, known, what in ((method, METHODS, "fusion"), (normalise, NORMALISATIONS, "normalisation")):
        if given not in known:
            close = nearest(given, list(known))
            raise UsageError(
                f"no {what} {shown(given)}" + (f"; did you mean {close}?" if close else ""),
                hint=f"one of {', '.join(known)}",
            )
    if weights is not None:
        if len(weights) != len(runs):
            raise UsageError(f"expected a weight for each of {len(runs)} runs, found {len(weights)}")
        if method in UNWEIGHTED:
            raise UsageError(f"{method} takes no weights")
        if not all(np.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
            raise UsageError("weights must be numbers of at least 0, and not all 0")
    if not rrf_k > 0:
        raise UsageError(f"the constant of reciprocal rank fusion must be above 0, found {rrf_k:g}")
    for run in runs:
        if np.isinf(run.scores).any():
            raise InputError(f"run {shown(run.name)} has infinite scores, which cannot be fused")
