"""What a retriever is: which of its methods is called, and how it takes the query and k."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rankgauge.core.run import Status
from rankgauge.errors import InputTypeError
from rankgauge.retrieval.asking.failures import NoAnswer, recorded_answers
from rankgauge.retrieval.base import QueryBatch, Retriever, retrieve_run

# LlamaIndex has retrieve, LangChain invoke (formerly get_relevant_documents), each with an asynchronous counterpart.
SYNC_METHODS = ("retrieve", "invoke", "get_relevant_documents", "search", "query")
METHODS = (*SYNC_METHODS, "aretrieve", "ainvoke", "aget_relevant_documents")
ONLY_QUERY = "q"
K_PARAMETERS = ("k", "top_k", "topK", "limit", "n", "n_results", "num_results", "similarity_top_k")


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
    """The function of a retriever: itself, or the first known method of an object, or the object if it is callable.

    A :class:`~rankgauge.retrieval.base.Retriever`, which answers batches, is asked one query at a time.
    """
    if isinstance(retriever, Retriever) and not inspect.isclass(retriever):
        return RetrieverFunction(name or retriever.name, partial(_ask_retriever, retriever), k_is_second=True)
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


def _ask_retriever(retriever: Retriever, query: str, k: int) -> list[tuple[str, float]]:
    """The results of one query, best first, from a retriever of batches."""
    with recorded_answers() as answers:
        run = retrieve_run(retriever, QueryBatch.from_dict({ONLY_QUERY: query}), k)
    if len(run.status) == 1 and run.status[0] == Status.FAILED:
        error = answers[ONLY_QUERY].error if ONLY_QUERY in answers else None
        raise NoAnswer(error or "failed")
    ranked = run.ranked()
    return list(zip(ranked.docs.to_text(), ranked.scores.tolist(), strict=True))


def is_awaitable(result: Any) -> bool:
    """Whether a result must be awaited."""
    return isinstance(result, Awaitable)
