"""Objects of libraries that need more than one call with a query and k: where the query goes, and how k is passed.

LangChain        vector stores, retrievers, chains
LlamaIndex       retrievers and query engines
Haystack         components and pipelines
Chroma, Qdrant   collections; a client gets an error that says what to pass instead

None of these libraries is imported here: an object is recognized by its classes. What an object returns is read as any
other answer.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard, get_args

from rankgauge.errors import InputTypeError

# Whether an object belongs to a library, and calls of its methods as functions of a query and k.

Call = Callable[[str, int], Any]  # from a query and k to documents, or to an awaitable of them
Request = Callable[[str, int], Callable[[], Any]]  # from a query and k to a call without arguments


def is_from(item: Any, package: str, class_name: str) -> bool:
    """Whether an object's class, or one that it inherits from, has this name in this package."""
    return any(
        base.__name__ == class_name and base.__module__.partition(".")[0] == package for base in type(item).__mro__
    )


@dataclass(frozen=True)
class LibraryCall:
    """How an object is asked: the request, whether it must be awaited, and whether k reaches the object.

    ``result_key`` is the part of the result that is the answer; None if all of it is.
    """

    request: Request
    is_async: bool = False
    passes_k: bool = True
    result_key: str | None = None

    @property
    def function(self) -> Call:
        """A function that makes each request, a coroutine function if it must be awaited."""
        if not self.is_async:
            return lambda query, k: self._answer(self.request(query, k)())

        async def call(query: str, k: int) -> Any:
            return self._answer(await self.request(query, k)())

        return call

    def _answer(self, result: Any) -> Any:
        return result if self.result_key is None else result[self.result_key]


def is_number(value: object) -> TypeGuard[int]:
    """Whether a value is a number of results."""
    return isinstance(value, int) and not isinstance(value, bool)


def raised(configured: object, k: int) -> int:
    """The number of results to ask for: k, or the object's own number if that is higher."""
    return max(configured, k) if is_number(configured) else k


# LangChain's vector stores, retrievers and chains.

LANGCHAIN = "langchain_core"
QUERY_KEYS = ("input", "query", "question")
K_FIELDS = ("k", "top_k")
UNKNOWN_KEY = "root"  # the property of a schema that only says that the input is a dict
TEXT_SCHEMA_TYPES = ("string", None)


def langchain_call(retriever: Any, *, prefer_async: bool) -> LibraryCall | None:
    """How a LangChain object is asked; None if it is not one."""
    if is_from(retriever, LANGCHAIN, "VectorStore"):
        return _store_call(retriever, prefer_async)
    if is_from(retriever, LANGCHAIN, "Runnable"):
        return _runnable_call(retriever, prefer_async)
    return None


def chain_input(schema: Mapping[str, Any], name: str) -> Callable[[str], Any]:
    """What a chain is called with, by the JSON schema of its input: the query, or a dict that holds it."""
    if schema.get("type") != "object":
        return str
    properties = schema.get("properties", {})
    if not properties or list(properties) == [UNKNOWN_KEY]:
        return lambda query: dict.fromkeys(QUERY_KEYS, query)
    keys = [key for key, value in properties.items() if value.get("type") in TEXT_SCHEMA_TYPES]
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
    is_retriever = is_from(runnable, LANGCHAIN, "BaseRetriever")
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

    if is_from(base, LANGCHAIN, "VectorStoreRetriever"):
        return LibraryCall(ask_store, prefer_async)
    if is_retriever and k_field is not None:
        return LibraryCall(ask_copy, prefer_async)
    return LibraryCall(lambda query, _: partial(getattr(runnable, method), wrap(query)), prefer_async, passes_k=False)


def _unwrapped(runnable: Any) -> tuple[Any, dict[str, Any]]:
    """What a runnable with bound options, retries or configurable fields calls, and the options bound to it."""
    options: dict[str, Any] = {}
    while True:
        if is_from(runnable, LANGCHAIN, "RunnableBindingBase"):
            options = {**runnable.kwargs, **options}
            runnable = runnable.bound
        elif is_from(runnable, LANGCHAIN, "RunnableConfigurableFields"):
            runnable = runnable.default
        else:
            return runnable, options


# LlamaIndex's retrievers and query engines.

LLAMA_INDEX = "llama_index"
SCHEMA_MODULE = "llama_index.core.schema"
K_ATTRIBUTE = "similarity_top_k"


def llama_index_call(retriever: Any, *, prefer_async: bool) -> LibraryCall | None:
    """How a LlamaIndex object is asked; None if it is not one.

    A query engine that can retrieve is asked for its documents only; any other is asked for its whole response.
    """
    is_engine = is_from(retriever, LLAMA_INDEX, "BaseQueryEngine")
    if not is_engine and not is_from(retriever, LLAMA_INDEX, "BaseRetriever"):
        return None
    # The method of the base class only says that an engine cannot retrieve.
    retrieves = not is_engine or not type(retriever).retrieve.__qualname__.startswith("BaseQueryEngine.")
    name = ("aretrieve" if retrieves else "aquery") if prefer_async else ("retrieve" if retrieves else "query")

    own_retriever = _retriever_of(retriever) if is_engine else retriever
    configured = getattr(own_retriever, K_ATTRIBUTE, None)
    passes_k = is_number(configured)

    def request(query: str, k: int) -> Callable[[], Any]:
        asked = retriever
        if is_number(configured) and configured < k:
            asked = _copy_with_k(own_retriever, k)
            asked = retriever.with_retriever(asked) if is_engine else asked
        question = sys.modules[SCHEMA_MODULE].QueryBundle(query) if is_engine and retrieves else query
        return partial(getattr(asked, name), question)

    return LibraryCall(request, prefer_async, passes_k)


def _retriever_of(engine: Any) -> Any:
    """The retriever of a query engine that can be given another one; None if it cannot.

    The method with_retriever makes an engine of the class that defines it, which must be that of the engine.
    """
    method = getattr(type(engine), "with_retriever", None)
    is_own = method is not None and method.__qualname__.partition(".")[0] == type(engine).__name__
    return engine.retriever if is_own else None


def _copy_with_k(retriever: Any, k: int) -> Any:
    """A copy of a retriever that returns k results; the retriever stays as it is."""
    raised_copy = copy.copy(retriever)
    setattr(raised_copy, K_ATTRIBUTE, k)
    return raised_copy


# Haystack's components and pipelines.
#
# The query goes into every input that is named ``query``, ``question`` or ``text``, or into the only input that must
# be given. The results are those of the last component that returns documents.

HAYSTACK = "haystack"
QUERY_INPUTS = ("query", "question", "text")
OPTIONAL_QUERY_INPUTS = ("query", "question")  # an optional text is not always a query
QUERY_LIST_INPUT = "queries"
K_INPUT = "top_k"
TEXT_TYPES = (str, "str", Any, inspect.Parameter.empty)

Sockets = Mapping[str, Mapping[str, Any]]  # name of an input or output → its type, and whether it must be given
Data = dict[str, dict[str, Any]]  # component → input → value


def haystack_call(retriever: Any, *, prefer_async: bool) -> LibraryCall | None:
    """How a component or a pipeline is asked; None if it is neither."""
    is_async = prefer_async and hasattr(retriever, "run_async")
    if is_from(retriever, HAYSTACK, "PipelineBase"):
        return _pipeline_call(retriever, is_async)
    if hasattr(retriever, "__haystack_input__") and hasattr(retriever, "run"):
        return _component_call(retriever, is_async)
    return None


def query_data(inputs: Mapping[str, Sockets], query: str, title: str, call: str) -> Data:
    """The inputs of each component that take the query; an error if another input must be given."""
    data: Data = {}
    others: list[tuple[str, str, Any]] = []
    for component, sockets in inputs.items():
        for name, socket in sockets.items():
            is_text = _is_text(socket["type"])
            names = QUERY_INPUTS if socket["is_mandatory"] else OPTIONAL_QUERY_INPUTS
            if is_text and name in names:
                data.setdefault(component, {})[name] = query
            elif socket["is_mandatory"] and name == QUERY_LIST_INPUT:
                data.setdefault(component, {})[name] = [query]
            elif socket["is_mandatory"]:
                others.append((component, name, socket["type"]))
    if not data and len(others) == 1 and _is_text(others[0][2]):
        component, name, _ = others[0]
        return {component: {name: query}}
    if others or not data:
        needed = ", ".join(name if component == title else f"{component}.{name}" for component, name, _ in others)
        verb = "is not a query" if len(others) == 1 else "are not queries"
        found = f"needs {needed}, which {verb}" if others else "has no input for a query"
        hint = f"pass a function that gives every input: lambda query, k: {call}"
        raise InputTypeError(f"{title} {found}", hint=hint)
    return data


def documents_component(outputs: Mapping[str, Sockets], edges: Iterable[tuple[str, str]], title: str) -> str:
    """The component whose documents are the results: the last one that returns documents."""
    receivers: dict[str, set[str]] = {}
    for sender, receiver in edges:
        receivers.setdefault(sender, set()).add(receiver)
    candidates = [name for name, sockets in outputs.items() if any(map(_is_documents, sockets.values()))]
    last = [name for name in candidates if not _reachable(name, receivers) & (set(candidates) - {name})]
    if len(last) == 1:
        return last[0]
    found = f"documents of {', '.join(last)}" if last else "no documents"
    raise InputTypeError(
        f"{title} returns {found}, expected those of one component",
        hint="pass a function that returns them: lambda query, k: pipeline.run(…)[COMPONENT]['documents']",
    )


def _pipeline_call(pipeline: Any, is_async: bool) -> LibraryCall:
    title = "the pipeline"
    inputs, outputs = pipeline.inputs(), pipeline.outputs(include_components_with_connected_outputs=True)
    last = documents_component(outputs, [edge[:2] for edge in pipeline.graph.edges], title)
    query_data(inputs, "", title, 'pipeline.run({COMPONENT: {"query": query}, …})')  # an error comes before a call
    components = [name for name, sockets in outputs.items() if any(map(_is_documents, sockets.values()))]
    method = pipeline.run_async if is_async else pipeline.run

    def numbers(k: int) -> Data:
        """The top_k of each component that takes one."""
        found = {name: _top_k(pipeline.get_component(name), inputs.get(name, {}), k) for name in components}
        return {name: {K_INPUT: number} for name, number in found.items() if number is not None}

    def request(query: str, k: int) -> Callable[[], Any]:
        data = query_data(inputs, query, title, "")
        for name, values in numbers(k).items():
            data.setdefault(name, {}).update(values)
        return partial(method, data, include_outputs_from={last})

    return LibraryCall(request, is_async, passes_k=bool(numbers(1)), result_key=last)


def _component_call(component: Any, is_async: bool) -> LibraryCall:
    name = type(component).__name__
    parameters = inspect.signature(component.run).parameters.values()
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    sockets = {
        one.name: {"type": one.annotation, "is_mandatory": one.default is inspect.Parameter.empty}
        for one in parameters
        if one.kind not in kinds
    }
    query_data({name: sockets}, "", name, "component.run(…), or a Pipeline with a text embedder before it")
    method = component.run_async if is_async else component.run

    def request(query: str, k: int) -> Callable[[], Any]:
        data = query_data({name: sockets}, query, name, "")[name]
        if (number := _top_k(component, sockets, k)) is not None:
            data[K_INPUT] = number
        return partial(method, **data)

    return LibraryCall(request, is_async, passes_k=K_INPUT in sockets)


def _top_k(component: Any, sockets: Sockets, k: int) -> int | None:
    """The number of results to ask a component for; None if it takes none or has no limit of its own."""
    if K_INPUT not in sockets:
        return None
    configured = getattr(component, K_INPUT, k)
    return None if configured is None else raised(configured, k)


def _is_text(kind: Any) -> bool:
    return kind in TEXT_TYPES or (str in get_args(kind) and set(get_args(kind)) <= {str, type(None)})


def _is_documents(socket: Mapping[str, Any]) -> bool:
    return any(getattr(kind, "__name__", None) == "Document" for kind in get_args(socket["type"]))


def _reachable(start: str, receivers: Mapping[str, set[str]]) -> set[str]:
    """Every component that gets something from this one, directly or not; in a loop also itself."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = receivers.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


# Collections and clients of vector databases: Chroma and Qdrant.

CHROMA_COLLECTIONS = {"Collection": False, "AsyncCollection": True}  # whether its methods are coroutine functions
QDRANT_CLIENTS = ("QdrantClient", "AsyncQdrantClient")


def store_call(retriever: Any) -> LibraryCall | None:
    """How a collection of Chroma, which embeds the query itself, is asked; None if it is not one."""
    if any(is_from(retriever, "qdrant_client", name) for name in QDRANT_CLIENTS):
        raise InputTypeError(
            f"a {type(retriever).__name__} needs a collection and a vector with each query",
            hint="pass a function: lambda query, k: client.query_points(COLLECTION, query=embed(query), limit=k)",
        )
    for name, is_async in CHROMA_COLLECTIONS.items():
        if is_from(retriever, "chromadb", name):
            return LibraryCall(lambda query, k: partial(retriever.query, query_texts=[query], n_results=k), is_async)
    return None


def library_call(retriever: Any, *, prefer_async: bool) -> LibraryCall | None:
    """How an object of a library is asked; None if it needs no more than a call with a query and k."""
    for find in (langchain_call, llama_index_call, haystack_call):
        call = find(retriever, prefer_async=prefer_async)
        if call is not None:
            return call
    return store_call(retriever)
