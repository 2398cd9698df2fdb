"""How a retriever is called: which of its methods, how it takes k, and what it gives back."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import InputTypeError

# LlamaIndex has retrieve, LangChain invoke (and once get_relevant_documents), each with an asynchronous twin.
METHODS = ("retrieve", "invoke", "get_relevant_documents", "aretrieve", "ainvoke", "aget_relevant_documents")
K_NAMES = ("k", "top_k", "topK", "limit", "n", "n_results", "num_results", "similarity_top_k")
LISTS = ("documents", "results", "matches", "hits", "points", "nodes", "source_nodes", "source_documents")


class NoList(Exception):
    """What a retriever gave back holds no list of documents."""


@dataclass(frozen=True)
class Retriever:
    """A function from a query and k to documents, or to something that can be awaited for them."""

    name: str
    function: Callable[..., Any]
    k_name: str | None = None
    k_second: bool = False

    @property
    def is_async(self) -> bool:
        """Whether it is known, before a call, that its results must be awaited."""
        call = getattr(self.function, "__call__", None)  # noqa: B004 - an object's own method is looked at, not called
        return inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(call)

    def __call__(self, query: str, k: int) -> Any:
        """What comes back, as it comes."""
        if self.k_name is not None:
            return self.function(query, **{self.k_name: k})
        return self.function(query, k) if self.k_second else self.function(query)


def as_retriever(given: Any, name: str | None = None) -> Retriever:
    """A function as it is; of an object the first known method, or else the object where it can be called."""
    method = None
    if not inspect.isroutine(given) and not inspect.isclass(given):
        method = next((m for m in METHODS if callable(getattr(given, m, None))), None)
    function = given if method is None else getattr(given, method)
    if inspect.isclass(given) or not callable(function):
        what = given.__name__ if inspect.isclass(given) else type(given).__name__
        raise InputTypeError(
            f"a retriever must be a function, or an object with one of {', '.join(METHODS)}; found {what}",
            hint="make an object of the class first" if inspect.isclass(given) else None,
        )
    title = name or str(getattr(given, "__name__", None) or type(given).__name__)
    return Retriever(title, function, *_takes_k(function))


def _takes_k(function: Callable[..., Any]) -> tuple[str | None, bool]:
    """Under which name k is taken, or whether it must stand second. One that takes no k is asked without."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a builtin may not say
        return None, False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for name in K_NAMES:
        if name in parameters and parameters[name].kind in named:
            return name, False
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    second = [parameter for parameter in parameters.values() if parameter.kind in placed][1:2]
    return None, bool(second) and second[0].default is inspect.Parameter.empty


def documents_of(result: Any) -> list[Any]:
    """The documents in what a retriever gave back: a list, or an object or mapping that holds one."""
    if isinstance(result, Mapping):
        found = next((result[name] for name in LISTS if name in result), None)
    elif isinstance(result, Iterable):
        found = result
    else:
        found = next((value for name in LISTS if (value := getattr(result, name, None)) is not None), None)
    if found is None or isinstance(found, (str, bytes, Mapping)) or not isinstance(found, Iterable):
        raise NoList(f"returned {type(result).__name__}, expected a list of documents")
    return list(found)


def is_awaitable(result: Any) -> bool:
    """Whether something is to be awaited."""
    return isinstance(result, Awaitable)
