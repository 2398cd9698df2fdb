from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core import ranking
from rankgauge.core.ids import Ids, Ints

scores = st.sampled_from(
    [0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 + 1e-6, 16777216.0, 16777217.0, 1e39, 1e300, float("inf"), -1e39, 1e-46]
)
rows = st.lists(
    st.tuples(st.sampled_from([b"a", b"ab", b"b", b"\xff", b"\xc3\xa9", b"Z"]), scores),
    max_size=12,
    unique_by=lambda r: r[0],
)


def as_float32(score: float) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return float("inf") if score > 0 else float("-inf")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("compat", ranking.COMPATS)
@given(queries=st.lists(rows, max_size=4))
def test_ranks_are_those_of_the_rule_in_words(compat: ranking.Compat, queries: list[list[tuple[bytes, float]]]) -> None:
    flat = [row for query in queries for row in query]
    offsets = np.concatenate([[0], np.cumsum([len(query) for query in queries])]).astype(np.int64)
    values = np.array([score for _, score in flat], dtype=np.float64)
    found = ranking.rank(offsets, Ids.from_bytes([doc for doc, _ in flat]), values, compat)
    compare = as_float32 if compat == "trec_eval-9" else float
    place = 0
    for query in queries:
        ordered = sorted(query, key=lambda row: (compare(row[1]), row[0]), reverse=True)
        keys = [compare(score) for _, score in ordered]
        for doc, score in query:
            key = compare(score)
            assert found.rank[place] == ordered.index((doc, score)) + 1
            assert found.tie_first[place] == keys.index(key) + 1
            assert found.tie_last[place] == len(keys) - keys[::-1].index(key)
            place += 1


def test_strictly_sorted_queries_are_never_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[int] = []
    original = ranking.sort_rows

    def spy(query: Ints, docs: Ids, key: ranking.Keys) -> tuple[Ints, Ints]:
        touched.append(len(docs))
        return original(query, docs, key)

    monkeypatch.setattr(ranking, "sort_rows", spy)
    docs = Ids.from_bytes([b"a", b"b", b"c", b"d", b"e"])
    ranking.rank(np.array([0, 3, 5]), docs, np.array([3.0, 2.0, 1.0, 9.0, 8.0]))
    assert touched == []
    ranking.rank(np.array([0, 3, 5]), docs, np.array([3.0, 2.0, 1.0, 8.0, 8.0]))
    assert touched == [2]


def test_scores_equal_only_as_float32_are_tied_in_version_9_and_not_in_10() -> None:
    docs, values, offsets = Ids.from_bytes([b"a", b"b"]), np.array([1.0 + 1e-9, 1.0]), np.array([0, 2])
    assert ranking.rank(offsets, docs, values, "trec_eval-9").rank.tolist() == [2, 1]
    assert ranking.rank(offsets, docs, values, "trec_eval-10").rank.tolist() == [1, 2]
    assert ranking.order(offsets, docs, values, "trec_eval-9").tolist() == [1, 0]


def test_tied_documents_are_in_the_order_that_the_rule_states_in_words() -> None:
    order = ranking.order_ties(Ids.from_bytes([b"a", b"b"]), np.zeros(2, dtype=np.int64))
    assert "document id " + {(0, 1): "ascending", (1, 0): "descending"}[tuple(order.tolist())] == ranking.TIE_RULE
