"""Ranks against scores: what contradicts what, and which ranks are read at all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core.ids import Ids
from rankgauge.io import rank_checks
from rankgauge.io.faults import Cause, Faults

rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 6)), max_size=30)


def found(*chunks: Sequence[Sequence[tuple[object, float]]]) -> Cause:
    """The one cause of all contradictions in chunks of queries, each with (rank, score) on its lines."""
    faults = Faults("run", limit=None)
    lines = 0
    for queries in chunks:
        flat = [row for query in queries for row in query]
        rank = Ids.from_bytes([str(rank).encode() for rank, _ in flat])
        scores = np.array([score for _, score in flat], dtype=np.float64)
        offsets = np.concatenate([[0], np.cumsum([len(query) for query in queries])]).astype(np.int64)
        line = np.arange(lines + 1, lines + len(flat) + 1)
        rank_checks.report_contradictions(faults, line, lambda row: b"q", rank.take, scores, offsets)
        lines += len(flat)
    cause = faults.causes[rank_checks.RANK_ORDER]
    expected = [("rank-order", "warning", cause.line)] if cause.rows else []
    assert [(fault.code, fault.severity, fault.line) for fault in faults.examples] == expected
    assert faults.total("warning") == bool(cause.rows)
    return cause


def size(cause: Cause) -> tuple[int, int, int]:
    """The rows, the queries and the first line."""
    return cause.rows, cause.queries, cause.line


@given(rows)
def test_short_queries_are_looked_at_whole(drawn: list[tuple[int, int, int]]) -> None:
    queries = [[(rank, float(score)) for query, rank, score in drawn if query == number][:10] for number in range(4)]
    queries = [query for query in queries if query] or [[(1, 1.0)]]
    expected: list[tuple[int, int]] = []
    line = 0
    for number, query in enumerate(queries):
        by_rank = sorted(range(len(query)), key=lambda row: query[row][0])
        for one, other in pairwise(by_rank):
            if query[other][1] > query[one][1] and query[other][0] > query[one][0]:
                expected.append((line + other + 1, number))
        line += len(query)
    first_line = min((line for line, _ in expected), default=0)
    assert size(found(queries)) == (len(expected), len({query for _, query in expected}), first_line)
    assert found(*([query] for query in queries)) == found(queries)  # however the file is cut into chunks


@pytest.mark.parametrize("first", [0, 1])
def test_ranks_may_begin_at_0_or_1_and_ties_are_no_contradiction(first: int) -> None:
    assert found([[(first + n, 5.0 - n // 2) for n in range(10)]]).rows == 0
    assert found([[(first + 9 - n, 5.0) for n in range(10)]]).rows == 0


def test_scores_that_are_distances_contradict_on_every_line_but_one() -> None:
    distances = [(n, float(n)) for n in range(1, 101)]
    cause = found([distances, [(1, 2.0), (2, 1.0)]])
    assert size(cause) == (99, 1, 2)
    assert cause.is_systematic
    assert cause.hint == rank_checks.DISTANCES_HINT
    assert rank_checks.describe_cause(cause).startswith(
        "scores that increase with the rank (99 rows in 1 query): score 2 at"
    )
    countdown = found([[(100 - n, 100.0 - n) for n in range(100)]])
    assert size(countdown) == (99, 1, 1)
    assert countdown.hint == rank_checks.REVERSED_RANKS_HINT


def test_one_wrong_query_among_many_is_not_systematic() -> None:
    good = [[(n, -float(n)) for n in range(1, 11)]]
    cause = found(good, [[(n, float(n)) for n in range(1, 11)]], good)
    assert size(cause) == (9, 1, 12)
    assert not cause.is_systematic
    assert rank_checks.describe_cause(cause) == "score 2 at rank 2, 1 at rank 1 of query 'q' (9 rows in 1 query)"


def test_of_a_deep_query_every_fiftieth_rank_is_read() -> None:
    deep: list[tuple[object, float]] = [(n + 1, 1000.0 - n) for n in range(500)]
    halves = deep[:250] + [(n + 1, 750.0 - n) for n in range(250)]  # the ranks begin again
    assert found([deep, halves]).rows == 249
    swapped = [*deep[:20], deep[21], deep[20], *deep[22:]]
    assert found([swapped]).rows == 0  # … by score and rank alike: only out of order
    crossed = [*deep[:20], (22, deep[20][1]), (21, deep[21][1]), *deep[22:]]
    assert found([crossed]).rows == 0  # not looked at
    crossed[50] = (1, deep[50][1])
    assert size(found([crossed])) == (2, 1, 2)  # now all of the query is


def test_only_whole_numbers_are_ranks() -> None:
    assert found([[("-", 1.0), ("x", 2.0), ("1.5", 3.0)]]).rows == 0
    assert size(found([[("-", 1.0), ("2", 2.0), ("1", 1.0)]])) == (1, 1, 2)
