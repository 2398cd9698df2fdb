"""The function of any retriever: which of its methods is called, and how it takes the query and k."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from rankgauge.core.formatting import listing, plural
from rankgauge.core.run import Status
from rankgauge.errors import InputError, InputTypeError, shown
from rankgauge.retrieval.asking.answers import recorded_answers
from rankgauge.retrieval.asking.failures import NoAnswer, Refusals
from rankgauge.retrieval.asking.libraries import library_call
from rankgauge.retrieval.retriever import QueryBatch, Retriever, retrieve_run

SYNC_METHODS = ("retrieve", "invoke", "get_relevant_documents", "search", "query")
ASYNC_METHODS = ("aretrieve", "ainvoke", "aget_relevant_documents")
METHODS = (*SYNC_METHODS, *ASYNC_METHODS)
ONLY_QUERY = "q"
Fields = Mapping[str, Any]
NO_FIELDS: Fields = MappingProxyType({})
K_PARAMETERS = ("k", "top_k", "topK", "limit", "n", "n_results", "num_results", "similarity_top_k")


class CaseRequest(NamedTuple):
    """A query, how many results are wanted, and the other fields of its test case."""

    query: str
    k: int
    fields: Fields = NO_FIELDS


@dataclass(frozen=True)
class RetrieverFunction:
    """A function from a query and k to documents, or to an awaitable of them.

    ``uses_k`` is false if it takes k only to have the same parameters as others. ``parameters`` are those after the
    query, and whether each must be given; those that test cases have are in ``field_parameters``. A server takes the
    fields that its description names, in ``case``. ``refusals`` counts the calls in a row that a server refused.
    """

    name: str
    function: Callable[..., Any]
    k_parameter: str | None = None
    k_is_second: bool = False
    uses_k: bool = True
    parameters: Mapping[str, bool] = field(default_factory=dict)
    field_parameters: tuple[str, ...] = ()
    takes_case: bool = False
    refusals: Refusals = field(default_factory=Refusals, compare=False, repr=False)

    @property
    def passes_k(self) -> bool:
        """Whether the retriever knows how many results are wanted."""
        return self.uses_k and (self.k_parameter is not None or self.k_is_second)

    @cached_property
    def is_async(self) -> bool:
        """Whether it is known before a call that the result must be awaited."""
        call = getattr(self.function, "__call__", None)  # noqa: B004 - the method is inspected, not called
        return inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(call)

    def __call__(self, query: str, k: int, fields: Fields = NO_FIELDS) -> Any:
        """Call the retriever and return what it returns."""
        named = {name: fields[name] for name in self.field_parameters if name in fields}
        more: dict[str, Any] = {"case": named} if self.takes_case else named
        if self.k_parameter is not None:
            return self.function(query, **{self.k_parameter: k}, **more)
        return self.function(query, k, **more) if self.k_is_second else self.function(query, **more)

    def with_fields(self, cases: Mapping[str, Fields]) -> RetrieverFunction:
        """The function with the parameters that test cases have; raises if a case lacks one that must be given.

        ``cases`` are the fields of each query. A second parameter with the name of a field is that field, and not k.
        """
        names = {name for fields in cases.values() for name in fields}
        second = next(iter(self.parameters), None)
        k_is_second = self.k_is_second and (self.takes_case or second not in names)
        skipped = {self.k_parameter, second if k_is_second else None}
        own = {name: is_required for name, is_required in self.parameters.items() if name not in skipped}
        taken = tuple(name for name, is_required in own.items() if is_required or name in names)
        for name in taken:
            lacking = [query for query, fields in cases.items() if name not in fields] if own[name] else []
            if lacking:
                raise InputError(
                    f"retriever {shown(self.name)} needs {shown(name)}, which {plural(len(lacking), 'query')} of "
                    f"{len(cases)} {'lacks' if len(lacking) == 1 else 'lack'}: {listing(map(shown, lacking))}",
                    hint=f'add it to each test case: {{"query": "…", "{name}": "…"}}, or to --queries',
                )
        return replace(self, k_is_second=k_is_second, field_parameters=taken)


def retriever_function(retriever: Any, name: str | None = None, *, prefer_async: bool = False) -> RetrieverFunction:
    """The function of a retriever: itself, or the first known method of an object, or the object if it is callable.

    A :class:`~rankgauge.retrieval.retriever.Retriever`, which answers batches, is asked one query at a time.
    ``prefer_async`` chooses the asynchronous method of an object that has both.
    """
    if isinstance(retriever, Retriever) and not inspect.isclass(retriever):
        return RetrieverFunction(name or retriever.name, partial(_ask_retriever, retriever), k_is_second=True)
    title = name or str(getattr(retriever, "__name__", None) or type(retriever).__name__)
    method = None
    if not inspect.isroutine(retriever) and not inspect.isclass(retriever):
        call = library_call(retriever, prefer_async=prefer_async)
        if call is not None:
            return RetrieverFunction(title, call.function, k_is_second=True, uses_k=call.passes_k)
        methods = (*ASYNC_METHODS, *SYNC_METHODS) if prefer_async else METHODS
        method = next((m for m in methods if callable(getattr(retriever, m, None))), None)
    function = retriever if method is None else getattr(retriever, method)
    if inspect.isclass(retriever) or not callable(function):
        type_name = retriever.__name__ if inspect.isclass(retriever) else type(retriever).__name__
        hint = "create an object of the class first" if inspect.isclass(retriever) else None
        if hint is None and hasattr(retriever, "as_retriever"):
            hint = "pass its retriever: .as_retriever()"
        raise InputTypeError(
            f"a retriever must be a function, or an object with one of {', '.join(METHODS)}; found {type_name}",
            hint=hint,
        )
    needed = getattr(retriever, "case_fields", None)  # of a server whose description names fields of test cases
    if isinstance(needed, frozenset) and needed:
        parameters = dict.fromkeys(sorted(needed), True)
        return RetrieverFunction(title, function, "k", parameters=parameters, takes_case=True)
    return RetrieverFunction(title, function, *_k_parameter(function), parameters=_further_parameters(function))


def is_retriever(value: object) -> bool:
    """Whether an object answers queries: it can be called, or it has a method that can be asked."""
    if inspect.isclass(value):
        return False
    return callable(value) or any(callable(getattr(value, method, None)) for method in METHODS)


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


def _further_parameters(function: Callable[..., Any]) -> dict[str, bool]:
    """The parameters after the query that have names, and whether each must be given."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin may have no signature
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {one.name: one.default is one.empty for one in parameters[1:] if one.kind in named}


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
