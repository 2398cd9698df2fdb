"""Fusion methods: one function each, from the pooled documents to their fused scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.ids import Ints
from rankgauge.core.tables import Floats, group_of, sum_by


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
