"""RetrievalEvaluator: one query, a batch, chunks."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Conventions, Document, InputError, RankgaugeWarning, RetrievalEvaluator, UsageError, evaluate
from rankgauge.core.run import Status
from rankgauge.rag.scoring import measures_at
from tests.rag.shapes import LangChainDocument, NodeWithScore, TextNode
from tests.render.formats.fragments import shown

IDS = [f"doc{number}" for number in range(1, 6)]
DOCUMENTS = [Document(id=name) for name in IDS]


def test_the_example_has_the_values_that_its_formulas_give() -> None:
    found = RetrievalEvaluator().evaluate_single(DOCUMENTS, ["doc1", "doc3", "doc5"], k=5)
    assert found.precision_at_k == 0.6
    assert found.recall_at_k == 1.0
    assert found.f1_at_k == pytest.approx(0.75)
    assert found.mrr == 1.0
    assert found.map == pytest.approx(0.755556, abs=1e-6)
    assert found.ndcg_at_k == pytest.approx(0.885460, abs=1e-6)
    assert found.hit_rate == 1.0


def test_grades_are_for_ndcg_and_relevant_ids_for_the_rest() -> None:
    grades = {"doc1": 1.0, "doc2": 0.3, "doc3": 0.8, "doc4": 0.0, "doc5": 0.9}
    plain = RetrievalEvaluator().evaluate_single(DOCUMENTS, ["doc1", "doc3", "doc5"], 5)
    found = RetrievalEvaluator().evaluate_single(DOCUMENTS, ["doc1", "doc3", "doc5"], 5, relevance_scores=grades)
    assert found.ndcg_at_k == pytest.approx(0.9239, abs=1e-4)
    assert (found.precision_at_k, found.map, found.recall_at_k) == (plain.precision_at_k, plain.map, plain.recall_at_k)


def test_a_relevant_id_without_a_grade_has_grade_1() -> None:
    found = RetrievalEvaluator().evaluate_single(["a", "b"], ["a", "b"], 2, {"b": 3})
    assert found.ndcg_at_k == evaluate({"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]}, "nDCG@2")["nDCG@2"]


def test_a_relevant_id_with_grade_0_is_a_contradiction() -> None:
    with pytest.raises(InputError, match="'a' of query 'query' is relevant and has grade 0"):
        RetrievalEvaluator().evaluate_single(["a"], ["a"], 2, {"a": 0})


@pytest.mark.parametrize(("retrieved", "relevant"), [([], ["a"]), (["a"], []), ([], []), (["x"], ["a"])])
def test_nothing_retrieved_and_nothing_relevant_are_zero(retrieved: list[str], relevant: list[str]) -> None:
    found = RetrievalEvaluator().evaluate_single(retrieved, relevant, 5)
    assert {getattr(found, field) for field in measures_at(5)} == {0.0}


def test_two_of_two_are_not_precision_1_at_5() -> None:
    assert RetrievalEvaluator().evaluate_single(["a", "b"], ["a", "b"], 5).precision_at_k == 0.4


def test_mrr_and_map_look_at_all_results() -> None:
    found = RetrievalEvaluator().evaluate_single(["x", "y", "a"], ["a"], 2)
    assert (found.hit_rate, found.mrr, found.map) == (0.0, 1 / 3, 1 / 3)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8),
    st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8),
    st.integers(1, 9),
)
def test_every_field_is_the_measure_of_the_registry(retrieved: list[str], relevant: list[str], k: int) -> None:
    found = RetrievalEvaluator().evaluate_single(retrieved, relevant, k)
    zero = Conventions(no_relevant="zero")  # as the functions of the specification count
    scores = evaluate({"q": relevant}, {"q": retrieved}, list(measures_at(k).values()), conventions=zero)
    assert {field: getattr(found, field) for field in measures_at(k)} == {
        field: scores[measure] for field, measure in measures_at(k).items()
    }


def test_a_batch_keeps_the_order_of_its_queries_and_may_repeat_one() -> None:
    batch = RetrievalEvaluator().evaluate_batch(["z", "a", "z"] * 4, [["x"], ["a"], []] * 4, [["a"]] * 12, k=1)
    assert [row.query for row in batch.per_query_metrics] == ["z", "a", "z"] * 4
    assert [row.hit_rate for row in batch.per_query_metrics] == [0, 1, 0] * 4
    assert [row.status for row in batch.per_query_metrics[:3]] == [Status.ANSWERED, Status.ANSWERED, Status.EMPTY]
    assert batch.mean_hit_rate == pytest.approx(1 / 3)
    assert len(batch) == 12


def test_an_empty_batch_has_no_means() -> None:
    batch = RetrievalEvaluator().evaluate_batch([], [], [])
    assert batch.mean_mrr is None
    assert str(batch) == "P@5 –   R@5 –   RR –   nDCG@5 –   0 queries"


def test_lists_of_different_lengths_are_an_error() -> None:
    with pytest.raises(InputError, match="2 queries, but relevant_document_ids_list has 1"):
        RetrievalEvaluator().evaluate_batch(["a", "b"], [[], []], [[]])


@pytest.mark.parametrize("k", [0, -1, 2.5, "5", True])
def test_k_is_a_whole_number(k: Any) -> None:
    with pytest.raises(UsageError, match="k: expected a whole number"):
        RetrievalEvaluator().evaluate_single([], [], k)


def test_the_same_chunk_twice_is_reported_and_counted_once() -> None:
    with pytest.warns(RankgaugeWarning, match="results repeat an id of the same query"):
        found = RetrievalEvaluator().evaluate_single(["a", "a", "b"], ["b"], 2)
    assert (found.repeated, found.retrieved, found.mrr) == (1, ("a", "b"), 0.5)


def test_chunks_collapse_to_documents_and_k_counts_after_collapsing() -> None:
    nodes = [NodeWithScore(TextNode(f"{doc}-{n}", ref_doc_id=doc), 1.0) for doc in "ab" for n in range(3)]
    batch = RetrievalEvaluator(unit="document").evaluate_batch(["q"], [nodes], [["b"]], k=2)
    row = batch.per_query_metrics[0]
    assert (row.retrieved, row.repeated, row.hit_rate, row.precision_at_k) == (("a", "b"), 4, 1.0, 0.5)
    assert "6 chunks collapsed into 2 documents: 4 dropped" in str(batch)


def test_a_path_names_the_place_of_the_id() -> None:
    documents = [LangChainDocument("…", {"source": name}) for name in ("x.md", "a.md")]
    assert RetrievalEvaluator(id="metadata.source").evaluate_single(documents, ["a.md"], 2).mrr == 0.5


def test_a_batch_prints_means_with_intervals() -> None:
    batch = RetrievalEvaluator().evaluate_batch(["a", "b", "c"], [["x"], ["y"], ["x"]], [["x"]] * 3, k=1)
    first = str(batch).splitlines()[0]
    interval = batch.interval("P@1")
    assert interval.low is not None
    assert interval.high is not None
    assert first.startswith(f"P@1 0.67 ({interval.low:.2f} to {interval.high:.2f})   R@1 0.67")
    assert first.endswith("3 queries")


def test_a_batch_is_a_table_a_frame_and_a_dict() -> None:
    batch = RetrievalEvaluator().evaluate_batch(["<b>", "b"], [["x"], []], [["x"], ["x"]], k=1)
    assert shown(batch).tables[0].rows[0][:2] == ["P@1", "0.5000"]
    pandas, polars = batch.to_pandas(), batch.to_polars()
    assert list(pandas["query"]) == polars["query"].to_list() == ["<b>", "b"]
    assert list(pandas["RR"]) == polars["RR"].to_list() == [1.0, 0.0]
    data = batch.to_dict()
    assert data["schema"] == "rankgauge.retrieval/1"
    assert data["queries"] == {"asked": 2, "averaged": 2, "failed": 0, "empty": 1, "without_relevant": 0}
    assert data["measures"]["P@1"]["value"] == 0.5
    assert [row["status"] for row in data["per_query"]] == ["answered", "empty"]
    assert not any(isinstance(v, float) and math.isnan(v) for row in data["per_query"] for v in row.values())
