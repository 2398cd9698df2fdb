"""The shares of documents sum to the difference, for every measure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from rankgauge import Qrels, Run, parse_measure
from rankgauge.comparison.document_changes import explain, shares
from rankgauge.evaluation import join
from tests.measures.variants import ALL
from tests.strategies import Case, cases


@pytest.mark.slow
@given(cases(), cases())
@settings(max_examples=60)
def test_shares_sum_to_the_difference_for_every_measure(one: Case, other: Case) -> None:
    qrels = one.qrels
    before, after = join(qrels, one.run), join(qrels, other.run)
    for measure in ALL:
        values = measure(after) - measure(before)
        for query in range(len(before)):
            if np.isnan(values[query]):
                continue
            change = explain(measure, qrels, before, after, query)
            total = sum(document.share for document in change.documents) + change.unexplained
            assert math.isclose(total, values[query], abs_tol=1e-12), measure
            assert math.isclose(change.difference, values[query], abs_tol=1e-12), measure


def test_a_share_is_what_the_formula_says() -> None:
    qrels = Qrels.from_dict({"q": {"a": 2, "b": 1, "c": 0}})
    before = join(qrels, Run.from_lists({"q": ["c", "b", "a"]}))
    after = join(qrels, Run.from_lists({"q": ["a", "x", "b"]}))
    change = explain(parse_measure("nDCG"), qrels, before, after, 0)
    ideal = 2 + 1 / math.log2(3)
    shares = {document.doc: document.share for document in change.documents}
    assert shares["a"] == pytest.approx((2 - 2 / 2) / ideal)
    assert shares["b"] == pytest.approx((1 / 2 - 1 / math.log2(3)) / ideal)
    assert shares["c"] == 0
    assert [(document.doc, document.before, document.after) for document in change.documents] == [
        ("a", 3, 1),
        ("b", 2, 3),
        ("c", 1, None),
    ]


def test_reciprocal_rank_is_all_due_to_the_first_relevant_document() -> None:
    qrels = Qrels.from_dict({"q": {"a": 1, "b": 1}})
    before = join(qrels, Run.from_lists({"q": ["x", "a", "b"]}))
    after = join(qrels, Run.from_lists({"q": ["b", "a"]}))
    change = explain(parse_measure("RR"), qrels, before, after, 0)
    assert {document.doc: document.share for document in change.documents} == {"a": -0.5, "b": 1.0}


@pytest.mark.slow
@given(cases())
@settings(max_examples=60)
def test_the_shares_of_all_queries_at_once_are_those_of_each(case: Case) -> None:
    hits = join(case.qrels, case.run)
    nothing = join(case.qrels, Run.from_dict({query.decode(): {} for query in case.qrels.queries}))
    rows = case.qrels.doc_names
    for measure in ALL:
        found = shares(measure, hits)
        for query in range(len(hits)):
            alone = {m.doc: m.share for m in explain(measure, case.qrels, nothing, hits, query).documents}
            here = slice(hits.offsets[query], hits.offsets[query + 1])
            together = {rows[row]: share for row, share in zip(hits.ordinal[here], found[here], strict=True)}
            assert together == alone, measure


def test_a_share_does_not_depend_on_what_stands_below() -> None:
    qrels = Qrels.from_dict({"p": {"a": 1}, "q": {"a": 2, "b": 1, "c": 1}})
    hits = join(qrels, Run.from_lists({"p": ["a"], "q": ["c", "x", "b", "a"]}))
    above = hits.where(hits.rank <= 3)
    whole = shares(parse_measure("AP"), hits)
    assert shares(parse_measure("AP"), above).tolist() == whole[:3].tolist()
