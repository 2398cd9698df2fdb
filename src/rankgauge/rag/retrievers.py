"""What a retriever is: which of its methods is called, how it takes k, and what it returns."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import InputTypeError

# LlamaIndex has retrieve, LangChain invoke (formerly get_relevant_documents), each with an asynchronous counterpart.
METHODS = ("retrieve", "invoke", "get_relevant_documents", "aretrieve", "ainvoke", "aget_relevant_documents")
K_PARAMETERS = ("k", "top_k", "topK", "limit", "n", "n_results", "num_results", "similarity_top_k")
LIST_KEYS = ("documents", "results", "matches", "hits", "points", "nodes", "source_nodes", "source_documents")


class NoDocumentList(Exception):
    """A retriever returned something without a list of documents."""


@dataclass(frozen=True)
class RetrieverFunction:
    """A function from a query and k to documents, or to an awaitable of them."""

    name: str
    function: Callable[..., Any]
    k_parameter: str | None = None
    k_is_second: bool = False

    @property
    def is_async(self) -> bool:
        """Whether it is known before a call that the result must be awaited."""
        call = getattr(self.function, "__call__", None)  # noqa: B004 - the method is inspected, not called
        return inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(call)

    def __call__(self, query: str, k: int) -> Any:
        """Call the retriever and return what it returns."""
        if self.k_parameter is not None:
            return self.function(query, **{self.k_parameter: k})
        return self.function(query, k) if self.k_is_second else self.function(query)


def retriever_function(retriever: Any, name: str | None = None) -> RetrieverFunction:
    """The function of a retriever: itself, or the first known method of an object, or the object if it is callable."""
    method = None
    if not inspect.isroutine(retriever) and not inspect.isclass(retriever):
        method = next((m for m in METHODS if callable(getattr(retriever, m, None))), None)
    function = retriever if method is None else getattr(retriever, method)
    if inspect.isclass(retriever) or not callable(function):
        type_name = retriever.__name__ if inspect.isclass(retriever) else type(retriever).__name__
        raise InputTypeError(
            f"a retriever must be a function, or an object with one of {', '.join(METHODS)}; found {type_name}",
            hint="create an object of the class first" if inspect.isclass(retriever) else None,
        )
    title = name or str(getattr(retriever, "__name__", None) or type(retriever).__name__)
    return RetrieverFunction(title, function, *_k_parameter(function))


def _k_parameter(function: Callable[..., Any]) -> tuple[str | None, bool]:
    """The parameter that takes k, or whether k is the second positional one. Without either, k is not passed."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a builtin may have no signature
        return None, False
    keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for name in K_PARAMETERS:
        if name in parameters and parameters[name].kind in keyword:
            return name, False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    second = [parameter for parameter in parameters.values() if parameter.kind in positional][1:2]
    return None, bool(second) and second[0].default is inspect.Parameter.empty


def documents_of(result: Any) -> list[Any]:
    """The documents in what a retriever returned: a list, or an object or mapping that holds one."""
    if isinstance(result, Mapping):
        documents = next((result[key] for key in LIST_KEYS if key in result), None)
    elif isinstance(result, Iterable):
        documents = result
    else:
        documents = next((value for key in LIST_KEYS if (value := getattr(result, key, None)) is not None), None)
    if documents is None or isinstance(documents, (str, bytes, Mapping)) or not isinstance(documents, Iterable):
        raise NoDocumentList(f"returned {type(result).__name__}, expected a list of documents")
    return list(documents)


def is_awaitable(result: Any) -> bool:
    """Whether a result must be awaited."""
    return isinstance(result, Awaitable)
