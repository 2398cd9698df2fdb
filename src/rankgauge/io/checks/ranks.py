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

from rankgauge.core.formatting import plural
from rankgauge.core.ids import WORD_BYTES, Ids, Ints, Words
from rankgauge.core.ranking import comparable
from rankgauge.core.tables import Floats, within
from rankgauge.errors import shown
from rankgauge.io.checks.faults import Cause, Faults
from rankgauge.io.formats import decimals

RANK_ORDER = "rank-order"
SCORES_BY_RANK = "scores that do not increase with the rank"
DISTANCES_HINT = "are the scores distances? negate them"
REVERSED_RANKS_HINT = "are the ranks reversed? give rank 1 to the result with the highest score"
CellsOfRows = Callable[[Ints], Ids]
MAX_RANK = 1 << 31
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
    order = _by_query_and_rank(query, ranks)
    rows, next_rows = order[:-1], order[1:]
    key = comparable(scores, "trec_eval-9")
    is_wrong = (query[rows] == query[next_rows]) & (key[next_rows] > key[rows]) & (ranks[next_rows] > ranks[rows])
    return rows[is_wrong], next_rows[is_wrong]


def _by_query_and_rank(query: Ints, ranks: Floats) -> Ints:
    """The rows that have a rank, by query and rank."""
    rows = np.flatnonzero(~np.isnan(ranks))
    whole = ranks[rows]
    if len(rows) and whole.min() >= 0 and whole.max() < MAX_RANK and int(query.max()) < MAX_RANK:
        # One key of both is sorted in half the time; ranks are whole numbers.
        return rows[np.argsort(query[rows] * MAX_RANK + whole.astype(np.int64), kind="stable")]
    return rows[np.lexsort((whole, query[rows]))]


def describe_contradiction(ranks: Floats, scores: Floats, higher: int, lower: int, query: str) -> str:
    """Two rows that contradict each other, for a message."""
    return (
        f"score {scores[lower]:g} at rank {ranks[lower]:.0f}, {scores[higher]:g} at rank {ranks[higher]:.0f} of {query}"
    )


def rank_numbers(rank: Ids) -> Floats:
    """The values of the column: whole numbers, NaN if a cell is not one."""
    values, bad_rows = decimals.read(rank)
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
