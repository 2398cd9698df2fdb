"""The rank column against the scores. Evaluation uses the scores; if the ranks state another order, one is wrong.

Two rows of a query contradict each other if they are neighbors by rank and the lower-ranked one has the higher score.
Checking that costs as much as reading the scores, so not every rank is read: if the scores of a query never increase
from row to row, only its first ten ranks and every fiftieth are compared; if these decrease somewhere, or if the scores
do increase, all ranks of the query are read.

However many rows contradict each other, that is one fault: the ranks or the scores of the run are wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rankgauge.core.arrays import Floats, within
from rankgauge.core.formatting import plural
from rankgauge.core.ids import WORD_BYTES, Ids, Ints, Words
from rankgauge.core.ranking import comparable
from rankgauge.errors import shown
from rankgauge.io import text_checks
from rankgauge.io.faults import Cause, Faults

RANK_ORDER = "rank-order"
SCORES_BY_RANK = "scores that do not increase with the rank"
DISTANCES_HINT = "are the scores distances? negate them"
REVERSED_RANKS_HINT = "are the ranks reversed? give rank 1 to the result with the highest score"
CellsOfRows = Callable[[Ints], Ids]
NO_ROWS: Ints = np.zeros(0, dtype=np.int64)
DENSE_ROWS, SPARSE_STEP = 10, 50  # of each query the first rows, then every n-th row


def report_contradictions(
    faults: Faults, line: Ints, query: Callable[[int], bytes], rank: CellsOfRows, scores: Floats, offsets: Ints
) -> None:
    """Add a warning if ranks contradict the scores. Rows are sorted by query; cells are read lazily."""
    is_suspect = np.zeros(len(offsets) - 1, dtype=bool)
    is_suspect[_queries_with_increasing_scores(scores, offsets)] = True
    is_suspect[_queries_with_decreasing_ranks(rank, offsets)] = True
    suspect_queries = np.flatnonzero(is_suspect)
    rows = within(suspect_queries, offsets)
    query_of_row = np.repeat(suspect_queries, np.diff(offsets)[suspect_queries])
    cause = find_cause(
        line[rows],
        query_of_row,
        rank_numbers(rank(rows)) if len(rows) else scores[:0],
        scores[rows],
        lambda row: f"query {shown(query(int(rows[row])))}",
    )
    compared_pairs = len(scores) - len(offsets) + 1
    _add(faults, replace(cause, checked=compared_pairs))


def report_none(faults: Faults, compared_pairs: int) -> None:
    """Add rows without a contradiction, which count if contradictions are said to be systematic."""
    _add(faults, Cause(checked=compared_pairs))


def _add(faults: Faults, cause: Cause) -> None:
    faults.add_cause(RANK_ORDER, cause, expected=SCORES_BY_RANK, found=describe_cause, severity="warning")


def find_cause(line: Ints, query: Ints, ranks: Floats, scores: Floats, describe_query: Callable[[int], str]) -> Cause:
    """All rows whose ranks contradict the scores, and the first of them by line."""
    higher, lower = contradictions(query, ranks, scores)
    if not len(lower):
        return Cause()
    first = int(np.argmin(line[lower]))
    top_row, row = int(higher[first]), int(lower[first])
    return Cause(
        rows=len(lower),
        queries=len(np.unique(query[lower])),
        line=int(line[row]),
        example=describe_contradiction(ranks, scores, top_row, row, describe_query(row)),
        # If the ranks count down from line to line, the file is in the order of its scores.
        hint=REVERSED_RANKS_HINT if line[row] < line[top_row] else DISTANCES_HINT,
    )


def describe_cause(cause: Cause) -> str:
    """All contradictions of a run, for a message."""
    if cause.rows == 1:
        return cause.example
    if cause.is_systematic:
        return f"scores that increase with the rank ({describe_size(cause)}): {cause.example}"
    return f"{cause.example} ({describe_size(cause)})"


def describe_size(cause: Cause) -> str:
    """The number of rows and queries."""
    return f"{plural(cause.rows, 'row')} in {plural(cause.queries, 'query')}"


def contradictions(query: Ints, ranks: Floats, scores: Floats) -> tuple[Ints, Ints]:
    """Pairs of rows with neighboring ranks of which the second has the higher score. A rank of NaN is not a rank."""
    if _is_in_order(query, ranks, scores):
        return NO_ROWS, NO_ROWS
    order = np.lexsort((ranks, query))
    order = order[~np.isnan(ranks[order])]
    rows, next_rows = order[:-1], order[1:]
    key = comparable(scores, "trec_eval-9")
    is_wrong = (query[rows] == query[next_rows]) & (key[next_rows] > key[rows]) & (ranks[next_rows] > ranks[rows])
    return rows[is_wrong], next_rows[is_wrong]


def _is_in_order(query: Ints, ranks: Floats, scores: Floats) -> bool:
    """Whether the ranks of each query are 1, 2, 3 … in some order, and no score increases with them.

    That is the usual case if rows are scattered, and no row need be sorted for it.
    """
    if not len(query) or (query[1:] < query[:-1]).any() or np.isnan(ranks).any():
        return False
    begins = np.flatnonzero(np.diff(query, prepend=-1))
    sizes = np.diff(begins, append=len(query))
    if (ranks < 1).any() or (ranks > np.repeat(sizes, sizes)).any():
        return False
    place = np.repeat(begins, sizes) + ranks.astype(np.int64) - 1
    is_taken = np.zeros(len(query), dtype=bool)
    is_taken[place] = True
    by_rank = np.empty(len(query), dtype=np.float32)
    by_rank[place] = comparable(scores, "trec_eval-9")
    increases = np.flatnonzero(by_rank[1:] > by_rank[:-1]) + 1
    return bool(is_taken.all()) and bool(np.isin(increases, begins).all())


def describe_contradiction(ranks: Floats, scores: Floats, higher: int, lower: int, query: str) -> str:
    """Two rows that contradict each other, for a message."""
    return (
        f"score {scores[lower]:g} at rank {ranks[lower]:.0f}, {scores[higher]:g} at rank {ranks[higher]:.0f} of {query}"
    )


def rank_numbers(rank: Ids) -> Floats:
    """The values of the column: whole numbers, NaN if a cell is not one."""
    values, bad_rows = text_checks.read(rank)
    values[bad_rows] = np.nan
    values[np.floor(values) != values] = np.nan
    return values


def _queries_with_increasing_scores(scores: Floats, offsets: Ints) -> Ints:
    """The queries in which a score is higher than the one before it."""
    increases = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    query: Ints = np.searchsorted(offsets, increases, side="right") - 1
    queries: Ints = query[offsets[query] != increases]
    return queries


def _queries_with_decreasing_ranks(rank: CellsOfRows, offsets: Ints) -> Ints:
    """The queries in which one of the sampled ranks is lower than the sampled one before it."""
    sizes = np.diff(offsets)
    sampled = np.minimum(sizes, DENSE_ROWS) + np.maximum(sizes - 1, 0) // SPARSE_STEP
    ends = np.cumsum(sampled)
    position = np.arange(int(ends[-1])) - np.repeat(ends - sampled, sampled)
    is_sparse = position >= DENSE_ROWS
    position[is_sparse] = (position[is_sparse] - DENSE_ROWS + 1) * SPARSE_STEP
    key = _sort_keys(rank(np.repeat(offsets[:-1], sampled) + position))
    decreases = np.flatnonzero(key[1:] < key[:-1]) + 1
    query: Ints = np.searchsorted(ends, decreases, side="right")
    queries: Ints = query[(ends - sampled)[query] != decreases]
    return queries


def _sort_keys(rank: Ids) -> Words:
    """Keys in the order of whole numbers without leading zeros, at a fraction of the cost of parsing them."""
    unused = np.uint64(WORD_BYTES) * (np.uint64(WORD_BYTES) - np.minimum(rank.length, WORD_BYTES).astype(np.uint64))
    return rank.words(0).byteswap() >> unused
