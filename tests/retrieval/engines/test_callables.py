from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.core.run import Run, Status
from rankgauge.errors import InputError, InputTypeError
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.retriever import QueryBatch, Retriever, retrieve_run

QUERIES = QueryBatch.from_dict({"q1": "one", "q2": "two"})


def results_of(source: Any, k: int = 10, **options: Any) -> dict[str, list[tuple[str, float]]]:
    run = retrieve_run(CallableRetriever(source, **options), QUERIES, k)
    rows = list(zip(run.docs.to_text(), run.scores.tolist(), strict=True))
    return {query: rows[run.offsets[at] : run.offsets[at + 1]] for at, query in enumerate(run.queries.to_text())}


@pytest.mark.parametrize(
    "result",
    [
        ["b", "a"],
        [("b", 2), ("a", 1)],
        {"a": 1.0, "b": 2.0},
        [{"id": "b", "score": 2}, {"id": "a", "score": 1}],
        [SimpleNamespace(id="b", score=2.0), SimpleNamespace(id="a", score=1.0)],
    ],
)
def test_every_usual_shape_of_a_result_is_understood(result: Any) -> None:
    assert results_of(lambda text: result)["q1"] == [("b", 2.0), ("a", 1.0)]


def test_a_function_that_takes_k_is_given_it_and_the_answer_is_cut_anyway() -> None:
    calls = []

    def search(text: str, k: int) -> list[str]:
        calls.append((text, k))
        return ["a", "b", "c"]

    assert results_of(search, k=2)["q2"] == [("a", 2.0), ("b", 1.0)]
    assert calls == [("one", 2), ("two", 2)]


def test_langchain_documents_are_known_by_id_or_by_their_source() -> None:
    class Retrieving:
        def invoke(self, text: str) -> list[Any]:
            return [
                SimpleNamespace(id="a-1", page_content="x", metadata={"source": "a.txt"}),
                SimpleNamespace(id="b-1", page_content="y", metadata={"source": "b.txt"}),
                SimpleNamespace(id="a-2", page_content="z", metadata={"source": "a.txt"}),
            ]

    assert [name for name, _ in results_of(Retrieving())["q1"]] == ["a-1", "b-1", "a-2"]
    assert [name for name, _ in results_of(Retrieving(), unit="document")["q1"]] == ["a.txt", "b.txt"]
    assert [name for name, _ in results_of(Retrieving(), unit="document", k=1)["q1"]] == ["a.txt"]


def test_llamaindex_nodes_are_known_with_their_scores() -> None:
    class Retrieving:
        def retrieve(self, text: str) -> list[Any]:
            return [SimpleNamespace(node=SimpleNamespace(node_id="n1", metadata={}), score=0.5)]

    assert results_of(Retrieving())["q1"] == [("n1", 0.5)]


def test_a_document_without_an_id_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InputError, match="id of result 1 of query 'q1' is None") as error:
        results_of(lambda text: [SimpleNamespace(id=None, page_content="x", metadata={"page": "3"})])
    assert "id='metadata.page'" in str(error.value)
    by_page = results_of(lambda text: [SimpleNamespace(id=None, metadata={"page": "3"})], id="metadata.page")
    assert by_page["q1"] == [("3", 1.0)]


def test_a_coroutine_is_awaited_for_several_queries_at_once() -> None:
    waiting, most = 0, 0

    async def search(text: str) -> list[str]:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        await asyncio.sleep(0.01)
        waiting -= 1
        return [text]

    assert results_of(search, calls=RetrieverCalls(concurrency=2)) == {"q1": [("one", 1.0)], "q2": [("two", 1.0)]}
    assert most == 2


def test_a_coroutine_is_awaited_if_a_loop_is_already_running_as_in_a_notebook() -> None:
    async def search(text: str) -> list[str]:
        return [text]

    async def notebook() -> dict[str, list[tuple[str, float]]]:
        return results_of(search)

    assert asyncio.run(notebook())["q1"] == [("one", 1.0)]


def test_a_retriever_may_be_a_coroutine_itself() -> None:
    class Slow:
        name = "slow"

        async def retrieve(self, queries: QueryBatch, k: int) -> Run:
            await asyncio.sleep(0)
            return Run.from_lists({query: ["a"] for query in queries.ids.to_text()})

        def identity(self) -> dict[str, str]:
            return {}

    slow: Retriever = Slow()
    assert len(retrieve_run(slow, QUERIES, 3)) == 2


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([1.5], "has no id"),
        ([("a", "high")], "must be a number"),
        ({"a": float("nan"), "b": 1}, "cannot be ordered by score: some results have no score"),
        ({"a", "b"}, "are a set, which has no order"),
    ],
)
def test_a_result_that_cannot_be_used_names_the_query(result: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        results_of(lambda text: result)
    assert "q1" in str(error.value)


def test_a_document_returned_twice_counts_once_at_its_first_rank() -> None:
    assert results_of(lambda text: ["a", "b", "a"])["q1"] == [("a", 2.0), ("b", 1.0)]


@pytest.mark.parametrize("answer", [None, 3, "a", {"answer": "a"}])
def test_nothing_is_an_empty_answer_and_anything_but_results_is_a_failure(answer: Any) -> None:
    run = retrieve_run(CallableRetriever(lambda text: answer if text == "one" else []), QUERIES, 5)
    assert run.status.tolist() == [Status.FAILED, Status.EMPTY]
    assert len(run) == 0


def test_an_object_that_cannot_answer_is_an_error() -> None:
    with pytest.raises(InputTypeError, match="must be a function, or an object with one of retrieve"):
        CallableRetriever(object())
