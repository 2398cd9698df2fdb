"""Any function or object that answers a query, as a retriever."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, repeated
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.errors import InputError, InputTypeError, RankgaugeError, RetrieverError, shown
from rankgauge.io.sources import sha256_of_file
from rankgauge.retrieval.base import Identity, QueryBatch, await_result
from rankgauge.retrieval.loading import has_parameter
from rankgauge.retrieval.results import ScoredId, parse_results
from rankgauge.retrieval.scores import cut_run

# Methods that answer a text, the asynchronous ones last. LangChain has invoke, LlamaIndex retrieve.
RETRIEVER_METHODS = ("invoke", "retrieve", "get_relevant_documents", "search", "query", "ainvoke", "aretrieve")
DEFAULT_CONCURRENCY = 8  # calls of a coroutine function that are awaited at the same time


class CallableRetriever:
    """Call ``function(text, k)`` (or ``function(text)``) for each query.

    It may return ids, (id, score) pairs, ``{id: score}``, or LangChain or LlamaIndex documents, and may be a
    coroutine function. Without scores, the order counts. ``id_key`` names the field with the id if it is none of the
    usual ones. ``version`` represents the function in the identity: change it whenever the function changes.
    """

    def __init__(
        self,
        source: Any,
        *,
        name: str | None = None,
        version: str = "",
        id_key: str | None = None,
        on_duplicate: OnDuplicate = "error",
        concurrency: int = DEFAULT_CONCURRENCY,
    ) -> None:
        self._function = find_function(source)
        self.name: str = name or getattr(source, "__name__", None) or type(source).__name__
        self.version, self._id_key, self._on_duplicate = version, id_key, on_duplicate
        self._concurrency = concurrency
        self._takes_k = has_parameter(self._function, "k")
        self._source_identity = source_identity(source)
        # Answers are saved after each batch, and a function gains nothing from larger batches.
        self.batch_size = concurrency if _is_coroutine(self._function) else 1

    def identity(self) -> Identity:
        """The given name and version, and the code of the function."""
        return {
            "mode": "callable",
            "name": self.name,
            "version": self.version,
            "id_key": self._id_key,
            **self._source_identity,
        }

    def retrieve(self, queries: QueryBatch, k: int) -> Run:
        """Answer a batch."""
        if _is_coroutine(self._function):
            answers = await_result(self._call_all(queries.texts, k))
        else:
            with self._naming_errors():
                answers = [self._call(text, k) for text in queries.texts]
        if any(inspect.isawaitable(answer) for answer in answers):
            raise InputTypeError(f"{self.name} returns an awaitable, but is not a coroutine function")
        results = [
            parse_results(text, answer, self._id_key) for text, answer in zip(queries.texts, answers, strict=True)
        ]
        return self._build_run(queries, results, k)

    def _call(self, text: str, k: int) -> Any:
        return self._function(text, k=k) if self._takes_k else self._function(text)

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        """Turn an error of the function into one that names the retriever."""
        try:
            yield
        except RankgaugeError:
            raise
        except Exception as error:
            raise RetrieverError(
                f"retriever {self.name} failed: {type(error).__name__}: {error}",
                hint="the answers so far are saved: run the same command again to resume",
            ) from error

    async def _call_all(self, texts: Sequence[str], k: int) -> list[Any]:
        semaphore = asyncio.Semaphore(self._concurrency)

        async def call(text: str) -> Any:
            async with semaphore:
                with self._naming_errors():
                    return await self._call(text, k)

        return await asyncio.gather(*(call(text) for text in texts))

    def _build_run(self, queries: QueryBatch, results: list[list[ScoredId]], k: int) -> Run:
        offsets = np.concatenate([[0], np.cumsum([len(result) for result in results])]).astype(np.int64)
        docs = Ids.from_bytes([name for result in results for name, _ in result])
        scores = np.array(
            [
                score
                for text, result in zip(queries.texts, results, strict=True)
                for score in scores_or_order(text, result)
            ]
        )
        group = np.repeat(np.arange(len(results)), np.diff(offsets))
        _, duplicates = repeated(docs, group)
        if len(duplicates) and self._on_duplicate == "error":
            row = int(duplicates[0])
            query = queries.ids[int(group[row])]
            raise InputError(
                f"{self.name} returned document {shown(docs[row])} twice for query {shown(query)}",
                hint="if these are chunks of one document, return each document once, or set on_duplicate to 'first'",
            )
        if len(duplicates):
            keep = np.ones(len(docs), dtype=bool)
            keep[duplicates] = False
            sizes = np.bincount(group[keep], minlength=len(results))
            offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            docs, scores = docs.take(keep), scores[keep]
        return cut_run(self.name, queries.ids, offsets, docs, scores.astype(np.float64), k)


def scores_or_order(query: str, result: list[ScoredId]) -> list[float]:
    """The scores of a result; if it has none at all, scores that keep its order."""
    scores = [score for _, score in result if score is not None]
    if not scores:
        return [float(score) for score in range(len(result), 0, -1)]
    if len(scores) < len(result):
        raise InputTypeError(f"some results of query {shown(query)} have a score and some do not")
    return scores


def source_identity(source: Any) -> dict[str, str | None]:
    """Where a function, or the class of an object, is defined, and the hash of that file."""
    definition = source if hasattr(source, "__qualname__") else type(source)
    name = f"{getattr(definition, '__module__', '?')}:{definition.__qualname__}"
    try:
        path = inspect.getsourcefile(definition)
        digest = None if path is None else sha256_of_file(path)
    except (TypeError, OSError, InputError):
        digest = None
    return {"callable": name, "source_sha256": digest}


def find_function(source: Any) -> Callable[..., Any]:
    """The function, or the method of an object, that answers a query."""
    for name in RETRIEVER_METHODS:
        method = getattr(source, name, None)
        if callable(method) and not inspect.isfunction(source):
            function: Callable[..., Any] = method
            return function
    if callable(source):
        return source  # type: ignore[no-any-return]  # callable, as just checked
    raise InputTypeError(
        f"a retriever must be callable or have one of {', '.join(RETRIEVER_METHODS)}, found {type(source).__name__}"
    )


def _is_coroutine(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 - its kind is needed, not whether it exists
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
