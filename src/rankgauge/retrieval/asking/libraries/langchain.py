"""LangChain's vector stores, retrievers and chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rankgauge.errors import InputTypeError
from rankgauge.retrieval.asking.libraries.recognition import LibraryCall, is_from, is_number, raised

PACKAGE = "langchain_core"
QUERY_KEYS = ("input", "query", "question")
K_FIELDS = ("k", "top_k")
UNKNOWN_KEY = "root"  # the property of a schema that only says that the input is a dict
TEXT_TYPES = ("string", None)


def langchain_call(retriever: Any, *, prefer_async: bool) -> LibraryCall | None:
    """How a LangChain object is asked; None if it is not one."""
    if is_from(retriever, PACKAGE, "VectorStore"):
        return _store_call(retriever, prefer_async)
    if is_from(retriever, PACKAGE, "Runnable"):
        return _runnable_call(retriever, prefer_async)
    return None


def chain_input(schema: Mapping[str, Any], name: str) -> Callable[[str], Any]:
    """What a chain is called with, by the JSON schema of its input: the query, or a dict that holds it."""
    if schema.get("type") != "object":
        return str
    properties = schema.get("properties", {})
    if not properties or list(properties) == [UNKNOWN_KEY]:
        return lambda query: dict.fromkeys(QUERY_KEYS, query)
    keys = [key for key, value in properties.items() if value.get("type") in TEXT_TYPES]
    usual = [key for key in keys if key in QUERY_KEYS]
    keys = usual or keys
    if not usual and (len(keys) != 1 or len(properties) != 1):
        found = ", ".join(properties)
        raise InputTypeError(
            f"{name} takes a dict of {found}, and none of these is {', '.join(QUERY_KEYS)}",
            hint=f'pass a function: lambda query: chain.invoke({{"{next(iter(properties))}": query, …}})',
        )
    return lambda query: dict.fromkeys(keys, query)


def _store_call(store: Any, prefer_async: bool) -> LibraryCall:
    """With scores, if the store has them: the method of the base class only says that it is not implemented."""
    has_scores = not type(store).similarity_search_with_score.__qualname__.startswith("VectorStore.")
    name = "similarity_search_with_score" if has_scores else "similarity_search"
    method = getattr(store, f"a{name}" if prefer_async else name)
    return LibraryCall(lambda query, k: partial(method, query, k=k), prefer_async)


def _runnable_call(runnable: Any, prefer_async: bool) -> LibraryCall:
    is_retriever = is_from(runnable, PACKAGE, "BaseRetriever")
    wrap = str if is_retriever else chain_input(runnable.get_input_jsonschema(), type(runnable).__name__)
    method = "ainvoke" if prefer_async else "invoke"
    base, bound_options = _unwrapped(runnable)
    k_field = next((name for name in K_FIELDS if is_number(getattr(runnable, name, None))), None)

    def ask_store(query: str, k: int) -> Callable[[], Any]:
        configured = {**base.search_kwargs, **bound_options}.get("k")
        return partial(getattr(runnable, method), wrap(query), k=raised(configured, k))

    def ask_copy(query: str, k: int) -> Callable[[], Any]:
        """Ask a copy of a retriever whose own number of results is raised to k."""
        asked = runnable
        if k_field is not None and getattr(runnable, k_field) < k:
            asked = runnable.model_copy(update={k_field: k})
        return partial(getattr(asked, method), query)

    if is_from(base, PACKAGE, "VectorStoreRetriever"):
        return LibraryCall(ask_store, prefer_async)
    if is_retriever and k_field is not None:
        return LibraryCall(ask_copy, prefer_async)
    return LibraryCall(lambda query, _: partial(getattr(runnable, method), wrap(query)), prefer_async, passes_k=False)


def _unwrapped(runnable: Any) -> tuple[Any, dict[str, Any]]:
    """What a runnable with bound options, retries or configurable fields calls, and the options bound to it."""
    options: dict[str, Any] = {}
    while True:
        if is_from(runnable, PACKAGE, "RunnableBindingBase"):
            options = {**runnable.kwargs, **options}
            runnable = runnable.bound
        elif is_from(runnable, PACKAGE, "RunnableConfigurableFields"):
            runnable = runnable.default
        else:
            return runnable, options
