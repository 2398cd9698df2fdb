"""Rank correlation: of systems under two measures or two sets of judgments, or of any labels."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.formatting import listing, plural
from rankgauge.errors import InputError, InputTypeError, printable
from rankgauge.stats.distributions import normal_quantile
from rankgauge.stats.results import Interval, check_between
from rankgauge.stats.samples import Floats, sample, vector

SystemScores = ArrayLike | Mapping[Any, float]  # by position, or by the systems' names
_LISTED_NAMES = 10


@dataclass(frozen=True, slots=True)
class Agreement:
    """How closely two rankings agree; 1 means the same ranking."""

    value: float | None
    n: int
    method: str
    reason: str | None = None


def kendall_tau(first: SystemScores, second: SystemScores) -> Agreement:
    """Kendall's tau-b of two lists of scores for the same systems: concordant pairs minus discordant pairs.

    Divided by the geometric mean of the numbers of untied pairs on each side. The scores may be dicts, name → score,
    with the same names in any order. Kendall, The treatment of ties in ranking problems, Biometrika 1945.
    """
    x, y = _scores(first, second)
    n = len(x)
    agreeing, untied_x, untied_y = 0, 0, 0
    for row in range(1, n):
        a, b = np.sign(x[row] - x[:row]), np.sign(y[row] - y[:row])
        agreeing += int((a * b).sum())
        untied_x += int(np.count_nonzero(a))
        untied_y += int(np.count_nonzero(b))
    if not untied_x or not untied_y:
        return Agreement(None, n, "Kendall tau-b", "one ranking has no untied pairs")
    return Agreement(agreeing / math.sqrt(untied_x * untied_y), n, "Kendall tau-b")


def spearman(first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Spearman's rank correlation of pairs of values, ties at their mean rank, with an interval.

    The interval is Fisher's, with the variance (1 + r² / 2) / (n − 3) of ranks: Bonett and Wright, Sample size
    requirements for estimating Pearson, Kendall and Spearman correlations, Psychometrika 2000.
    """
    check_between("confidence", confidence, 0, 1)
    x, y = map(_mean_ranks, _scores(first, second))
    n, method = len(x), "Spearman"
    if n < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        reason = "at least 4 pairs are needed" if n < 4 else "all values of one side are equal"
        return Interval(None, None, confidence, method, n, reason)
    x, y = x - x.mean(), y - y.mean()
    rho = min(1.0, max(-1.0, float((x @ y) / math.sqrt(float(x @ x) * float(y @ y)))))
    if abs(rho) == 1:
        return Interval(rho, rho, confidence, method, n, "all pairs are in one order", estimate=rho)
    half = normal_quantile((1 + confidence) / 2) * math.sqrt((1 + rho * rho / 2) / (n - 3))
    middle = math.atanh(rho)
    return Interval(math.tanh(middle - half), math.tanh(middle + half), confidence, method, n, estimate=rho)


def _mean_ranks(values: Floats) -> Floats:
    """The rank of each value, from 0; of equal values, the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends: Floats = np.cumsum(counts) - (counts + 1) / 2
    return ends[inverse]


def discordant_pairs(first: ArrayLike, second: ArrayLike) -> list[tuple[int, int]]:
    """The pairs of systems in opposite order, by position; the one that is better by the first comes first."""
    x, y = _scores(first, second)
    order = np.argsort(-x, kind="stable").tolist()
    return [
        (better, worse)
        for rank, better in enumerate(order)
        for worse in order[rank + 1 :]
        if x[better] > x[worse] and y[better] < y[worse]
    ]


def tau_ap(truth: SystemScores, estimate: SystemScores) -> Agreement:
    """The AP correlation of an estimated ranking with the true one, from scores of the same systems, highest first.

    2 / (n − 1) · Σ C(i) / (i − 1) − 1 over ranks i from 2, where C(i) of the systems ranked above i in the estimate
    are truly better: errors at the top count most. Yilmaz, Aslam and Robertson, A new rank correlation coefficient for
    information retrieval, SIGIR 2008. If the estimate has ties, it is the mean over all their orders (Urbano and
    Marrero, The treatment of ties in AP correlation, ICTIR 2017); the truth must have none. The scores may be dicts,
    name → score.
    """
    x, y = _scores(truth, estimate)
    n = len(x)
    if n < 2:
        return Agreement(None, n, "tau-ap", f"at least 2 systems are needed, found {n}")
    if len(np.unique(x)) < n:
        return Agreement(None, n, "tau-ap", "the true ranking has ties")
    total = 0.0
    for value, size in zip(*(part.tolist() for part in np.unique(y, return_counts=True)), strict=True):
        group, above = y == value, y > value
        ahead = int(np.count_nonzero(above))
        right = int(np.count_nonzero(x[above][:, np.newaxis] > x[group]))
        # Each system of the tie is equally likely at each of its ranks, and half of those tied above it are better.
        ranks = [ahead + k for k in range(size)]
        total += sum((right / size + k / 2) / rank for k, rank in enumerate(ranks) if rank)
    return Agreement(2 / (n - 1) * total - 1, n, "tau-ap")


def rbo(first: Sequence[Hashable], second: Sequence[Hashable], *, p: float = 0.9) -> Agreement:
    """Rank-biased overlap of two lists of labels, best first, extrapolated beyond their ends.

    (1 − p) Σ p^(d − 1) A_d, where A_d is the overlap of the first d of each, over d. The shorter list is assumed to
    keep agreeing as it did at its end, and beyond the longer list the agreement is constant: equation 32 of Webber,
    Moffat and Zobel, A similarity measure for indefinite rankings, TOIS 2010.
    """
    check_between("p", p, 0, 1)
    for labels in (first, second):
        if len(set(labels)) < len(labels):
            raise InputError("a ranking must not contain a label twice")
    short, long = sorted((first, second), key=len)
    s, n = len(short), len(long)
    if not s:
        return Agreement(None, n, "RBO", "a ranking is empty")
    overlap, at_end, weight, total = 0, 0, 1.0, 0.0
    in_short: set[Hashable] = set()
    in_long: set[Hashable] = set()
    agreement = 0.0
    for depth, label in enumerate(long, 1):
        if depth <= s:
            in_short.add(short[depth - 1])
            overlap += short[depth - 1] in in_long
        in_long.add(label)
        overlap += label in in_short
        at_end = overlap if depth == s else at_end
        agreement = (overlap + max(0, depth - s) * at_end / s) / depth
        total += (1 - p) * weight * agreement
        weight *= p
    return Agreement(total + weight * agreement, n, f"RBO(p={p:g})")


def _scores(first: SystemScores, second: SystemScores) -> tuple[Floats, Floats]:
    if isinstance(first, Mapping) or isinstance(second, Mapping):
        first, second = _by_name(first, second)
    x, y = vector(first, "first"), vector(second, "second")
    if len(x) != len(y):
        raise InputError(f"the two rankings must have the same systems, found {len(x)} and {len(y)} scores")
    return sample(x).whole, sample(y).whole


def _by_name(first: SystemScores, second: SystemScores) -> tuple[list[float], list[float]]:
    """The scores of two dicts, in the order of the first one's names."""
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        raise InputTypeError(
            "scores by name can only be compared with scores by name: one is a dict, the other is not",
            hint="pass two dicts, or two lists in the same order",
        )
    missing = {"first": [name for name in second if name not in first]}
    missing["second"] = [name for name in first if name not in second]
    lacking = [
        f"the {side} lacks {plural(len(names), 'name')} ({listing(map(_printable, names), _LISTED_NAMES)})"
        for side, names in missing.items()
        if names
    ]
    if lacking:
        raise InputError(
            f"the two rankings must have the same systems: {'; '.join(lacking)}",
            hint="keep the systems that both have",
        )
    return list(first.values()), [second[name] for name in first]


def _printable(name: Any) -> str:
    return printable(str(name))
