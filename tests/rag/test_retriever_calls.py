"""How a retriever is called, whatever it is."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from rankgauge import InputTypeError
from rankgauge.rag.calls import NoList, as_retriever, documents_of


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
    ("given", "wanted"),
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
def test_k_is_handed_over_where_it_is_taken(given: Any, wanted: list[str]) -> None:
    assert as_retriever(given)("q", 2) == wanted


def test_a_coroutine_function_is_known_before_it_is_called() -> None:
    class Async:
        async def __call__(self, query: str) -> list[str]:
            return [query]

        async def aretrieve(self, query: str) -> list[str]:
            return [query]

    assert as_retriever(Async()).is_async
    assert as_retriever(Async().__call__).is_async
    assert not as_retriever(Both()).is_async


@pytest.mark.parametrize("given", [None, 3, "module:object", object(), Old])
def test_what_cannot_be_called_is_an_error(given: Any) -> None:
    with pytest.raises(InputTypeError, match="a retriever must be a function, or an object with one of retrieve"):
        as_retriever(given)


def test_a_retriever_is_called_by_its_name() -> None:
    assert (as_retriever(by_name).name, as_retriever(Old()).name, as_retriever(Old(), "mine").name) == (
        "by_name",
        "Old",
        "mine",
    )


def generated() -> Iterator[str]:
    yield "a"


@pytest.mark.parametrize(
    ("result", "wanted"),
    [
        (["a"], ["a"]),
        (("a", "b"), ["a", "b"]),
        (generated(), ["a"]),
        ({"documents": ["a"]}, ["a"]),
        (SimpleNamespace(source_nodes=["a"]), ["a"]),
        (SimpleNamespace(matches=[]), []),
    ],
)
def test_documents_are_found_in_what_comes_back(result: Any, wanted: list[str]) -> None:
    assert documents_of(result) == wanted


@pytest.mark.parametrize("result", [None, "a", 3, {"answer": "a"}, {"documents": "a"}])
def test_what_holds_no_list_is_said(result: Any) -> None:
    with pytest.raises(NoList, match="expected a list of documents"):
        documents_of(result)
