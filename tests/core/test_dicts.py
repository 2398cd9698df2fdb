"""Dicts are joined where they stand, with the same result as a run made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from rankgauge import InputError, Qrels, Run, evaluate, join
from rankgauge.core import dicts
from rankgauge.core.dicts import join_dict
from rankgauge.core.ranking import COMPATS, Compat
from tests.strategies import Case, cases


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize(("batch", "dense"), [(1, 0), (1 << 18, 16), (1 << 18, 0)])
@given(case=cases(queries=6))
@settings(max_examples=150)
def test_a_dict_joins_as_the_run_made_of_it(compat: Compat, batch: int, dense: int, case: Case) -> None:
    results = {query: dict(rows) for query, rows in case.results.items()}
    before, dicts.BATCH = dicts.BATCH, batch
    few, dicts.DENSE = dicts.DENSE, dense
    try:
        quick = join_dict(case.qrels, results, compat=compat)
    finally:
        dicts.BATCH, dicts.DENSE = before, few
    plain = join(case.qrels, Run.from_dict(results), compat=compat)
    for name in ("status", "retrieved", "offsets", "rank", "grade", "ordinal", "tie_first", "tie_last"):
        assert np.array_equal(getattr(quick, name), getattr(plain, name)), name


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({"q": {"a": None}}, "'a' for query 'q' must be a number, found NoneType"),
        ({"q": {"a": 1.0, "b": None}}, "'b' for query 'q' must be a number"),
        ({"q": {"a": "1"}}, "found str"),
        ({"q": {"a": 1.0, "b": "x"}}, "'b' for query 'q' must be a number, found str"),
        ({"q": {"a": 1.0, "b": float("nan")}}, "'b' for query 'q' is NaN"),
        ({1: {"a": 1.0}}, "query id must be a string, found int"),
        ({"q": {7: 1.0}}, "document id of query 'q' must be a string, found int"),
        ({"q": {"a": 1.0}, "p": 3}, "must map documents to scores|not iterable"),
    ],
)
def test_what_is_wrong_names_the_query_and_the_document(results: Any, said: str) -> None:
    with pytest.raises((InputError, TypeError), match=said):
        evaluate({"q": {"a": 1}, "p": {"a": 1}}, results, "RR")


def test_bytes_numpy_numbers_and_empty_rows() -> None:
    assert evaluate({"q": {"a": 1}}, {b"q": {b"a": 1.0}}, "RR")["RR"] == 1.0
    assert evaluate({"q": {"a": 1}}, {"q": {"b": np.float32(2), "a": np.int64(1)}}, "RR")["RR"] == 0.5
    scores = evaluate({"q": {"a": 1}, "p": {"a": 1}}, {"q": {}, "p": {"a": True}}, "RR")
    assert scores.per_query("RR") == {"p": 1.0, "q": 0.0}


def test_ids_that_are_no_utf8_tie_by_their_bytes() -> None:
    results = {"q": {"caf\udce9": 1.0, "café": 1.0, "a": 1.0}}
    qrels = Qrels.from_dict({"q": {"caf\udce9": 1}})
    assert join_dict(qrels, results).rank.tolist() == join(qrels, Run.from_dict(results)).rank.tolist() == [1]
