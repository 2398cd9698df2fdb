"""Ranks against scores: what contradicts what, and which ranks are read at all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core.ids import Ids
from rankgauge.io.checks import ranks
from rankgauge.io.checks.faults import Faults

rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 6)), max_size=30)


def found(queries: Sequence[Sequence[tuple[object, float]]]) -> list[int]:
    """The lines on which a warning stands, for (rank, score) in each query."""
    flat = [row for query in queries for row in query]
    rank = Ids.from_bytes([str(rank).encode() for rank, _ in flat])
    scores = np.array([score for _, score in flat], dtype=np.float64)
    offsets = np.concatenate([[0], np.cumsum([len(query) for query in queries])]).astype(np.int64)
    faults = Faults("run", limit=None)
    line = np.arange(1, len(flat) + 1)
    ranks.report_contradictions(faults, line, lambda row: b"q", rank.take, scores, offsets)
    assert all((fault.code, fault.severity) == ("rank-order", "warning") for fault in faults.examples)
    return [fault.line or 0 for fault in faults.examples]


@given(rows)
def test_short_queries_are_looked_at_whole(drawn: list[tuple[int, int, int]]) -> None:
    queries = [[(rank, float(score)) for query, rank, score in drawn if query == number][:10] for number in range(4)]
    queries = [query for query in queries if query] or [[(1, 1.0)]]
    expected, line = [], 0
    for query in queries:
        by_rank = sorted(range(len(query)), key=lambda row: query[row][0])
        for one, other in pairwise(by_rank):
            if query[other][1] > query[one][1] and query[other][0] > query[one][0]:
                expected.append(line + other + 1)
        line += len(query)
    assert found(queries) == sorted(expected)


@pytest.mark.parametrize("first", [0, 1])
def test_ranks_may_begin_at_0_or_1_and_ties_are_no_contradiction(first: int) -> None:
    assert found([[(first + n, 5.0 - n // 2) for n in range(10)]]) == []
    assert found([[(first + 9 - n, 5.0) for n in range(10)]]) == []


def test_scores_that_are_distances_contradict_on_every_line_but_one() -> None:
    assert found([[(n, float(n)) for n in range(1, 101)], [(1, 2.0), (2, 1.0)]]) == list(range(2, 101))
    assert found([[(100 - n, 100.0 - n) for n in range(100)]]) == list(range(1, 100))


def test_of_a_deep_query_every_fiftieth_rank_is_read() -> None:
    deep: list[tuple[object, float]] = [(n + 1, 1000.0 - n) for n in range(500)]
    halves = deep[:250] + [(n + 1, 750.0 - n) for n in range(250)]  # the ranks begin again
    assert len(found([deep, halves])) == 249
    swapped = [*deep[:20], deep[21], deep[20], *deep[22:]]
    assert found([swapped]) == []  # … by score and rank alike: only out of order
    crossed = [*deep[:20], (22, deep[20][1]), (21, deep[21][1]), *deep[22:]]
    assert found([crossed]) == []  # not looked at
    crossed[50] = (1, deep[50][1])
    assert found([crossed]) == [2, 21]  # now all of the query is


def test_only_whole_numbers_are_ranks() -> None:
    assert found([[("-", 1.0), ("x", 2.0), ("1.5", 3.0)]]) == []
    assert found([[("-", 1.0), ("2", 2.0), ("1", 1.0)]]) == [2]
