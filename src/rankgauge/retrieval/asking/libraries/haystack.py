"""Haystack's components and pipelines.

The query goes into every input that is named ``query``, ``question`` or ``text``, or into the only input that must be
given. The results are those of the last component that returns documents.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, get_args

from rankgauge.errors import InputTypeError
from rankgauge.retrieval.asking.libraries.recognition import LibraryCall, is_from, raised

PACKAGE = "haystack"
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
    if is_from(retriever, PACKAGE, "PipelineBase"):
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
