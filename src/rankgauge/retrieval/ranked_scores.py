"""The one place where scores become a ranking: a retriever's are rounded, fused ones separated, then ordered, then cut.

A retriever's scores are rounded to six significant digits before anything is decided by them, so that the last bits,
which differ between processors, libraries and batch sizes, decide nothing; six digits also survive trec_eval's float32.
The cut takes everything at or above the k-th value and sorts it by the order rule of :mod:`rankgauge.core.ranking`:
``argpartition`` would choose among ties arbitrarily.

Fused scores come from such scores, or from a file, by operations that IEEE 754 fixes to the bit, so all their digits
count. They are separated: replaced by scores that have the same order and the same ties when compared as float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core import ranking
from rankgauge.core.arrays import Floats, frozen, group_of, offsets_of, within
from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, shown

LOWEST_EXPONENT, HIGHEST_EXPONENT = -11, 22  # between them all powers of ten used below are exact
POWERS = np.array([float(f"1e{exponent}") for exponent in range(LOWEST_EXPONENT, HIGHEST_EXPONENT + 1)])
INTEGER_POWERS = POWERS[-LOWEST_EXPONENT:]  # from 10 to the power of 0
# Two numbers that round to the same six digits are less than this apart, relative to either.
ROUNDING_MARGIN = 2e-5
FLOAT32_DIGITS = 9  # every float32 survives as a decimal of nine digits
HIGHEST_KEY = int(np.finfo(np.float32).max.view(np.int32))  # float32 has as many positive finite numbers
ScoredRows = tuple[Ints, NDArray[np.floating]]  # rows of documents, and their scores


def round_scores(scores: NDArray[np.floating], digits: int = 6) -> Floats:
    """Round each score to the nearest number of six significant digits, or of up to twelve.

    It is rounded to twelve digits first: otherwise a score that is exactly half a last digit, as fractions often
    are, would go up or down with the noise in its last bit. Only operations that IEEE 754 fixes to the bit are used.
    """
    values: Floats = np.asarray(scores, dtype=np.float64) + 0.0  # -0 becomes 0
    size = np.abs(values)
    usual = (size >= POWERS[0]) & (size < POWERS[-1])
    out = values.copy()
    out[usual] = _round_usual(values[usual], size[usual], digits)
    for row in np.flatnonzero(~usual & (size > 0) & np.isfinite(size)).tolist():
        out[row] = float(f"{float(f'{values[row]:.12g}'):.{digits}g}")
    return out


def _round_usual(values: Floats, size: Floats, digits: int) -> Floats:
    exponent = np.searchsorted(POWERS, size, side="right") - 1 + LOWEST_EXPONENT
    twelve_digits = np.rint(_scale(values, 11 - exponent))
    return _scale(np.rint(twelve_digits / INTEGER_POWERS[12 - digits]), exponent - (digits - 1))


def _scale(values: Floats, exponent: Ints) -> Floats:
    """Multiply by powers of ten; a negative power divides, because 1e5 is an exact number and 1e-5 is not."""
    multiplied = values * INTEGER_POWERS[np.maximum(exponent, 0)]
    out: Floats = np.where(exponent >= 0, multiplied, values / INTEGER_POWERS[np.maximum(-exponent, 0)])
    return out


def separate_scores(offsets: Ints, exact: Floats) -> tuple[Floats, bool]:
    """Scores that, compared as float32, have the order and the ties of exact ones, and whether float32 has too few.

    Six digits if they separate the scores of a query, otherwise nine, which is all that float32 has. Of scores that
    float32 cannot tell apart, the higher ones are raised to the next numbers that it has. That is worth a remark only
    if they differ in their first twelve digits: later ones may be noise of the arithmetic.
    """
    query = group_of(offsets)
    order = np.lexsort((exact, query))
    rising = exact[order]
    is_higher = (np.diff(query, prepend=-1) == 0) & _differs_from_previous(rising)
    out = round_scores(rising)
    merged = is_higher & ~_differs_from_previous(ranking.comparable(out, "trec_eval-9"))
    rows = within(np.unique(query[merged]), offsets)
    keys = _float32_keys(rising[rows])
    raised = _raise_keys(keys, np.cumsum(is_higher)[rows], query[rows])
    out[rows] = round_scores(_float32_from_keys(raised), FLOAT32_DIGITS)
    scores = np.empty_like(out)
    scores[order] = out
    too_close = is_higher[rows] & ~_differs_from_previous(keys) & _differs_from_previous(round_scores(rising[rows], 12))
    return scores, bool(too_close.any())


def _differs_from_previous(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.append(True, values[1:] != values[:-1])[: len(values)]


def _raise_keys(keys: Ints, level: Ints, query: Ints) -> Ints:
    """The lowest keys, none below the given ones, that rise from level to level of each query, as far as there are any.

    Levels are numbered through all queries.
    """
    above_other_queries = query * (4 * HIGHEST_KEY)
    raised = np.maximum.accumulate(keys - level + above_other_queries) - above_other_queries + level
    last = np.append(query[1:] != query[:-1], True)[: len(query)]
    last_level = level[last][np.cumsum(last) - last]
    highest: Ints = np.minimum(raised, HIGHEST_KEY - (last_level - level))
    return highest


def _float32_keys(values: Floats) -> Ints:
    """The number of the nearest finite float32, counted from that of zero."""
    largest = np.finfo(np.float32).max
    bits = np.clip(values, -largest, largest).astype(np.float32).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits + 2**31), bits)


def _float32_from_keys(keys: Ints) -> Floats:
    size = np.abs(keys).astype(np.int32).view(np.float32).astype(np.float64)
    return np.where(keys < 0, -size, size)


def contenders(scores: NDArray[np.floating], k: int) -> Ints:
    """The rows that may be among the top k once the scores are rounded, including all that tie with the k-th."""
    if k >= len(scores):
        return np.arange(len(scores))
    threshold = float(np.partition(scores, len(scores) - k)[len(scores) - k])
    return np.flatnonzero(scores >= lower_bound(threshold))


def lower_bound(threshold: float) -> float:
    """A little less than the threshold: no score below it rounds to the same six digits."""
    return threshold - abs(threshold) * ROUNDING_MARGIN if np.isfinite(threshold) else threshold


def top_k(offsets: Ints, docs: Ids, scores: Floats, k: int) -> tuple[Ints, Ints]:
    """The rows of the top k of each query, in rank order, and the offsets of the queries. Scores must be rounded."""
    order = ranking.order(offsets, docs, scores)
    group = group_of(offsets)
    kept = np.arange(len(order)) - offsets[:-1][group] < k
    return order[kept], offsets_of(group[kept], len(offsets) - 1)


def ranked_run(name: str, queries: Ids, docs: Ids, results: Sequence[ScoredRows], k: int) -> Run:
    """A run from each query's results: rows of ``docs`` and raw scores, in any order."""
    sizes = np.array([len(rows) for rows, _ in results], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    no_rows: Ints = np.zeros(0, dtype=np.int64)
    rows = np.concatenate([no_rows, *(rows for rows, _ in results)])
    raw = np.concatenate([np.zeros(0), *(np.asarray(scores, dtype=np.float64) for _, scores in results)])
    nan_rows = np.flatnonzero(np.isnan(raw))
    if len(nan_rows):
        query = int(np.searchsorted(offsets, nan_rows[0], side="right")) - 1
        raise InputError(
            f"score of document {shown(docs[int(rows[nan_rows[0]])])} for query {shown(queries[query])} is NaN"
        )
    return cut_run(name, queries, offsets, docs.take(rows), raw, k)


def cut_run(name: str, queries: Ids, offsets: Ints, docs: Ids, raw: Floats, k: int | None) -> Run:
    """A run from a retriever's rows, which are grouped by query: rounded, ordered, cut."""
    return ordered_run(name, queries, offsets, docs, round_scores(raw), k)


def ordered_run(name: str, queries: Ids, offsets: Ints, docs: Ids, scores: Floats, k: int | None) -> Run:
    """A run from rows that are grouped by query, whose scores are rounded or separated: ordered, cut."""
    order, kept = top_k(offsets, docs, scores, len(docs) + 1 if k is None else k)
    status = np.where(np.diff(kept) > 0, Status.ANSWERED, Status.EMPTY).astype(np.uint8)
    return Run(
        name=name,
        queries=queries,
        offsets=frozen(kept),
        docs=docs.take(order),
        scores=frozen(scores[order]),
        status=frozen(status),
    )


def spread_run(run: Run, queries: Ids, rows: Ints, status: Status) -> Run:
    """A run of all queries from the run of those at ``rows``; the others have no results, and this status."""
    sizes = np.zeros(len(queries), dtype=np.int64)
    sizes[rows] = np.diff(run.offsets)
    statuses = np.full(len(queries), status, dtype=np.uint8)
    statuses[rows] = run.status
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return replace(run, queries=queries, offsets=frozen(offsets), status=frozen(statuses))
