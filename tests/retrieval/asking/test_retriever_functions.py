"""How a retriever is called, whatever it is."""

from __future__ import annotations

from typing import Any

import pytest

from rankgauge import read_corpus
from rankgauge.errors import InputTypeError
from rankgauge.retrieval.asking.failures import NoAnswer
from rankgauge.retrieval.asking.retriever_functions import RetrieverFunction, retriever_function
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.lexical import Lexical


class LangChainLike:
    """A Runnable: invoke takes no k of its own."""

    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[str]:
        assert not kwargs
        return [input]


class Old:
    def get_relevant_documents(self, query: str) -> list[str]:
        return [query]


class Called:
    def __call__(self, query: str, *, top_k: int = 10) -> list[str]:
        return [query] * top_k


class Both:
    async def ainvoke(self, query: str) -> list[str]:
        return [query]

    def invoke(self, query: str) -> list[str]:
        return [query, "sync"]


def by_name(query: str, limit: int = 3) -> list[str]:
    return [query] * limit


def by_place(query: str, depth: int) -> list[str]:
    return [query] * depth


def optional(query: str, filter: str | None = None) -> list[str]:
    assert filter is None
    return [query]


@pytest.mark.parametrize(
    ("retriever", "expected"),
    [
        (LangChainLike(), ["q"]),
        (Old(), ["q"]),
        (Called(), ["q", "q"]),
        (Both(), ["q", "sync"]),
        (by_name, ["q", "q"]),
        (by_place, ["q", "q"]),
        (optional, ["q"]),
        (LangChainLike().invoke, ["q"]),
        (lambda q, n_results: [q] * n_results, ["q", "q"]),
    ],
)
def test_k_is_passed_to_a_retriever_that_takes_it(retriever: Any, expected: list[str]) -> None:
    assert retriever_function(retriever)("q", 2) == expected


def test_a_coroutine_function_is_known_before_it_is_called() -> None:
    class Async:
        async def __call__(self, query: str) -> list[str]:
            return [query]

        async def aretrieve(self, query: str) -> list[str]:
            return [query]

    assert retriever_function(Async()).is_async
    assert retriever_function(Async().__call__).is_async
    assert not retriever_function(Both()).is_async


@pytest.mark.parametrize("retriever", [None, 3, "module:object", object(), Old])
def test_an_object_that_cannot_be_called_is_an_error(retriever: Any) -> None:
    with pytest.raises(InputTypeError, match="a retriever must be a function, or an object with one of retrieve"):
        retriever_function(retriever)


def test_a_retriever_is_called_by_its_name() -> None:
    assert (
        retriever_function(by_name).name,
        retriever_function(Old()).name,
        retriever_function(Old(), "mine").name,
    ) == (
        "by_name",
        "Old",
        "mine",
    )


def test_a_retriever_of_batches_is_asked_one_query_at_a_time() -> None:
    corpus = read_corpus({"soup": "boil the soup", "bread": "bake the bread"})
    ask = retriever_function(Lexical(corpus))
    assert ask.name == "lexical"
    assert [name for name, _ in ask("bake", 5)] == ["bread"]
    named = retriever_function(CallableRetriever(lambda text: [("b", 0.5), ("a", 0.5)], name="mine"))
    assert (named.name, [name for name, _ in named("q", 1)]) == ("mine", ["b"])
    with pytest.raises(NoAnswer, match=r"^returned None, expected a list of documents$"):
        retriever_function(CallableRetriever(lambda text: None))("q", 1)


def test_an_object_that_searches_is_a_retriever() -> None:
    class Index:
        def search(self, text: str, limit: int) -> list[str]:
            return [text] * limit

    assert retriever_function(Index())("q", 2) == ["q", "q"]


def test_an_asynchronous_method_is_chosen_if_it_is_preferred() -> None:
    assert retriever_function(Both(), prefer_async=True).is_async
    assert not retriever_function(Old(), prefer_async=True).is_async


def test_it_is_known_whether_k_is_passed() -> None:
    passed = [
        retriever_function(one).passes_k for one in (by_name, by_place, Called(), optional, Old(), LangChainLike())
    ]
    assert passed == [True, True, True, False, False, False]
    assert not RetrieverFunction("r", by_place, k_is_second=True, uses_k=False).passes_k


def test_an_object_that_makes_retrievers_is_an_error_that_says_so() -> None:
    class Index:
        def as_retriever(self) -> Old:
            return Old()

    with pytest.raises(InputTypeError, match=r"pass its retriever: \.as_retriever\(\)"):
        retriever_function(Index())
