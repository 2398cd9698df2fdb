"""Results shorter than k, reported with what to set."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge import evaluate_retriever
from rankgauge.retrieval import CallableRetriever, QueryBatch, RetrieverCalls, fetch_run
from rankgauge.retrieval.asking.failures import AnswerFacts
from rankgauge.retrieval.asking.remarks import answer_notes

CASES = [{"id": name, "query": name, "relevant_ids": ["d1"]} for name in ("q1", "q2")]
QUERIES = QueryBatch.from_dict({"q1": "q1", "q2": "q2"})
SHORT = "the retriever returned at most 4 results of the 10 requested: it does not take k, so set its own number"


def four(query: str) -> list[str]:
    return [f"d{n}" for n in range(4)]


def test_a_retriever_that_does_not_take_k_and_returns_fewer_is_reported_in_every_path(tmp_path: Path) -> None:
    live = evaluate_retriever(four, CASES, k=10)
    (note,) = fetch_run(CallableRetriever(four), QUERIES, tmp_path / "run", k=10).notes
    assert note.code == "results-short"
    assert note.message.startswith(SHORT)
    assert "LangChain: search_kwargs={'k': 10}, LlamaIndex: similarity_top_k=10" in note.message
    assert note.message in live.remarks
    assert not evaluate_retriever(four, CASES, k=4).answer_notes


def test_a_retriever_that_took_k_has_no_more() -> None:
    def search(query: str, k: int) -> list[str]:
        return four(query)[:k]

    assert not evaluate_retriever(search, CASES, k=10).answer_notes


def test_one_query_with_enough_results_is_enough() -> None:
    def search(query: str) -> list[str]:
        return four(query) if query == "q1" else []

    assert not evaluate_retriever(search, CASES, k=4).answer_notes
    assert [note.code for note in evaluate_retriever(search, CASES, k=5).answer_notes] == ["results-short"]
    assert not evaluate_retriever(lambda query: [], CASES, k=5).answer_notes


def test_chunks_that_collapse_need_more_of_them(tmp_path: Path) -> None:
    def search(query: str, k: int) -> list[dict[str, str]]:
        return [{"id": f"c{n}", "document_id": f"d{n // 2}"} for n in range(k)]

    live = evaluate_retriever(search, CASES, k=10, unit="document")
    message = "at most 5 documents of the 10 requested: chunks collapsed into documents, so fetch more of them"
    assert f"the retriever returned {message}: RetrieverCalls(fetch=50), --fetch 50" in live.remarks
    fetched = fetch_run(CallableRetriever(search, unit="document"), QUERIES, tmp_path / "run", k=10)
    assert set(fetched.notes) == set(live.answer_notes)
    enough = evaluate_retriever(search, CASES, k=10, unit="document", calls=RetrieverCalls(fetch=20))
    assert [note.code for note in enough.answer_notes] == ["chunks-collapsed"]


@pytest.mark.parametrize("sizes", [[3], [0], []])
def test_nothing_is_said_of_answers_that_are_long_enough_or_all_empty(sizes: list[int]) -> None:
    assert answer_notes([AnswerFacts(short_of=3)] * len(sizes), sizes) == ()
