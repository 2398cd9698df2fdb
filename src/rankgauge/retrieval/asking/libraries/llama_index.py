"""LlamaIndex's retrievers and query engines."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from rankgauge.retrieval.asking.libraries.recognition import LibraryCall, is_from, is_number

PACKAGE = "llama_index"
SCHEMA_MODULE = "llama_index.core.schema"
K_ATTRIBUTE = "similarity_top_k"


def llama_index_call(retriever: Any, *, prefer_async: bool) -> LibraryCall | None:
    """How a LlamaIndex object is asked; None if it is not one.

    A query engine that can retrieve is asked for its documents only; any other is asked for its whole response.
    """
    is_engine = is_from(retriever, PACKAGE, "BaseQueryEngine")
    if not is_engine and not is_from(retriever, PACKAGE, "BaseRetriever"):
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
