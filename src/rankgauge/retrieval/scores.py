"""The one place where a retriever's scores become a ranking: rounded, then ordered, then cut.

Scores are rounded to six significant digits before anything is decided by them, so that the last bits, which differ
between processors, libraries and batch sizes, decide nothing; six digits also survive trec_eval's float32. The cut
takes everything at or above the k-th value and sorts it by the order rule of :mod:`rankgauge.core.ranking`:
``argpartition`` would choose among ties as the processor pleases.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import ranking
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run, Status
from rankgauge.core.tables import Floats, frozen, group_of, offsets_of
from rankgauge.errors import InputError, shown

LOWEST, HIGHEST = -11, 22  # the decimal exponents between which all powers of ten used below are exact
POWERS = np.array([float(f"1e{exponent}") for exponent in range(LOWEST, HIGHEST + 1)])
WHOLE = POWERS[-LOWEST:]  # from 10 to the 0 on
# Two numbers that round to the same six digits are less than this apart, relative to either.
SLACK = 2e-5
Scored = tuple[Ints, NDArray[np.floating]]  # places of documents, and their scores


def rounded(scores: NDArray[np.floating]) -> Floats:
    """Each score as the nearest number of six significant digits.

    It is rounded to twelve digits first: a score that is exactly half a sixth digit, as fractions often are, would
    else go up or down with the noise in its last bit. Only operations that IEEE 754 fixes to the bit are used.
    """
    values: Floats = np.asarray(scores, dtype=np.float64) + 0.0  # -0 becomes 0
    size = np.abs(values)
    usual = (size >= POWERS[0]) & (size < POWERS[-1])
    out = values.copy()
    out[usual] = _round_usual(values[usual], size[usual])
    for at in np.flatnonzero(~usual & (size > 0) & np.isfinite(size)).tolist():
        out[at] = float(f"{float(f'{values[at]:.12g}'):.6g}")
    return out


def _round_usual(values: Floats, size: Floats) -> Floats:
    exponent = np.searchsorted(POWERS, size, side="right") - 1 + LOWEST
    twelve = np.rint(_scaled(values, 11 - exponent))
    return _scaled(np.rint(twelve / 1e6), exponent - 5)


def _scaled(values: Floats, by: Ints) -> Floats:
    """Numbers times powers of ten; a negative power divides, because 1e-5 is no exact number and 1e5 is."""
    out: Floats = np.where(by >= 0, values * WHOLE[np.maximum(by, 0)], values / WHOLE[np.maximum(-by, 0)])
    return out


def contenders(scores: NDArray[np.floating], k: int) -> Ints:
    """The places that may stand among the first k once the scores are rounded; all that tie with the k-th are there."""
    if k >= len(scores):
        return np.arange(len(scores))
    threshold = float(np.partition(scores, len(scores) - k)[len(scores) - k])
    return np.flatnonzero(scores >= below(threshold))


def below(threshold: float) -> float:
    """A little less: nothing that is lower rounds to the same six digits."""
    return threshold - abs(threshold) * SLACK if np.isfinite(threshold) else threshold


def first(offsets: Ints, docs: Ids, scores: Floats, k: int) -> tuple[Ints, Ints]:
    """The rows of the first k of each query, in rank order, and where each query's begin. Scores are rounded ones."""
    by = ranking.order(offsets, docs, scores)
    group = group_of(offsets)
    kept = np.arange(len(by)) - offsets[:-1][group] < k
    return by[kept], offsets_of(group[kept], len(offsets) - 1)


def ranked_run(name: str, queries: Ids, docs: Ids, found: Sequence[Scored], k: int) -> Run:
    """A run from what each query found: places in ``docs`` and raw scores, in any order."""
    sizes = np.array([len(rows) for rows, _ in found], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    nothing: Ints = np.zeros(0, dtype=np.int64)
    rows = np.concatenate([nothing, *(rows for rows, _ in found)])
    raw = np.concatenate([np.zeros(0), *(np.asarray(scores, dtype=np.float64) for _, scores in found)])
    bad = np.flatnonzero(np.isnan(raw))
    if len(bad):
        query = int(np.searchsorted(offsets, bad[0], side="right")) - 1
        raise InputError(f"score of document {shown(docs[int(rows[bad[0]])])} for query {shown(queries[query])} is NaN")
    return cut_run(name, queries, offsets, docs.take(rows), raw, k)


def cut_run(name: str, queries: Ids, offsets: Ints, docs: Ids, raw: Floats, k: int | None) -> Run:
    """A run from rows that are grouped by query: rounded, ordered, cut."""
    scores = rounded(raw)
    by, kept = first(offsets, docs, scores, len(docs) + 1 if k is None else k)
    status = np.where(np.diff(kept) > 0, Status.ANSWERED, Status.EMPTY).astype(np.uint8)
    return Run(
        name=name,
        queries=queries,
        offsets=frozen(kept),
        docs=docs.take(by),
        scores=frozen(scores[by]),
        status=frozen(status),
    )
