"""Any function or object that answers a query, as a retriever."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.ids import Ids, repeated
from rankgauge.core.run import OnDuplicate, Run
from rankgauge.errors import InputError, InputTypeError, RankgaugeError, RetrieverError, shown
from rankgauge.retrieval.base import Identity, Questions, waited
from rankgauge.retrieval.results import Pair, pairs
from rankgauge.retrieval.scores import cut_run

# Names under which such objects answer a text, the asynchronous ones last. LangChain: invoke; LlamaIndex: retrieve.
ANSWERING = ("invoke", "retrieve", "get_relevant_documents", "search", "query", "ainvoke", "aretrieve")
AT_ONCE = 8  # calls of a coroutine that wait at the same time


class Called:
    """Calls ``function(text, k)`` (or ``function(text)``) for each query, and takes what it returns.

    It may return ids, (id, score) pairs, ``{id: score}``, or documents as LangChain and LlamaIndex have them, and may
    be a coroutine. Without scores the order counts. ``id_key`` says where the id stands, where no known name does.
    ``version`` stands for the function in the identity: change it with what the function does.
    """

    def __init__(
        self,
        answerer: Any,
        *,
        name: str | None = None,
        version: str = "",
        id_key: str | None = None,
        on_duplicate: OnDuplicate = "error",
        at_once: int = AT_ONCE,
    ) -> None:
        self._function = answering(answerer)
        self.name: str = name or getattr(answerer, "__name__", None) or type(answerer).__name__
        self.version, self._id_key, self._on_duplicate, self._at_once = version, id_key, on_duplicate, at_once
        self._takes_k = takes(self._function, "k")
        self._code = code_of(answerer)
        # What was answered is written down after each batch, and a function has nothing to gain from larger ones.
        self.batch = at_once if _is_coroutine(self._function) else 1

    def identity(self) -> Identity:
        """The name and the version it was given, and which code it is."""
        return {"mode": "callable", "name": self.name, "version": self.version, "id_key": self._id_key, **self._code}

    def retrieve(self, queries: Questions, k: int) -> Run:
        """Answer a batch."""
        if _is_coroutine(self._function):
            answers = waited(self._gathered(queries.texts, k))
        else:
            with self._named():
                answers = [self._call(text, k) for text in queries.texts]
        if any(inspect.isawaitable(one) for one in answers):
            raise InputTypeError(f"{self.name} returns something to await, but is no coroutine function")
        found = [pairs(text, one, self._id_key) for text, one in zip(queries.texts, answers, strict=True)]
        return self._run(queries, found, k)

    def _call(self, text: str, k: int) -> Any:
        return self._function(text, k=k) if self._takes_k else self._function(text)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """An error of somebody else's code, as one that says whose."""
        try:
            yield
        except RankgaugeError:
            raise
        except Exception as error:
            raise RetrieverError(
                f"retriever {self.name} failed: {type(error).__name__}: {error}",
                hint="what was fetched until then is kept: the same command goes on from there",
            ) from error

    async def _gathered(self, texts: Sequence[str], k: int) -> list[Any]:
        turn = asyncio.Semaphore(self._at_once)

        async def one(text: str) -> Any:
            async with turn:
                with self._named():
                    return await self._call(text, k)

        return await asyncio.gather(*(one(text) for text in texts))

    def _run(self, queries: Questions, found: list[list[Pair]], k: int) -> Run:
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in found])]).astype(np.int64)
        docs = Ids.from_bytes([name for one in found for name, _ in one])
        scores = np.array(
            [score for text, one in zip(queries.texts, found, strict=True) for score in scored(text, one)]
        )
        group = np.repeat(np.arange(len(found)), np.diff(offsets))
        _, again = repeated(docs, group)
        if len(again) and self._on_duplicate == "error":
            row = int(again[0])
            query = queries.ids[int(group[row])]
            raise InputError(
                f"{self.name} returned document {shown(docs[row])} twice for query {shown(query)}",
                hint="chunks of one document? return each once, or ask for on_duplicate='first'",
            )
        if len(again):
            keep = np.ones(len(docs), dtype=bool)
            keep[again] = False
            offsets = np.concatenate([[0], np.cumsum(np.bincount(group[keep], minlength=len(found)))]).astype(np.int64)
            docs, scores = docs.take(keep), scores[keep]
        return cut_run(self.name, queries.ids, offsets, docs, scores.astype(np.float64), k)


def scored(query: str, found: list[Pair]) -> list[float]:
    """The scores of a result; where there are none at all, ones that keep the order."""
    given = [score for _, score in found if score is not None]
    if not given:
        return [float(place) for place in range(len(found), 0, -1)]
    if len(given) < len(found):
        raise InputTypeError(f"some results of query {shown(query)} have a score and some have none")
    return given


def code_of(answerer: Any) -> dict[str, str | None]:
    """Where a function, or the class of an object, is defined, and the hash of that file: other code, other answers."""
    defined = answerer if hasattr(answerer, "__qualname__") else type(answerer)
    name = f"{getattr(defined, '__module__', '?')}:{defined.__qualname__}"
    try:
        source = inspect.getsourcefile(defined)
        digest = None if source is None else hashlib.sha256(Path(source).read_bytes()).hexdigest()
    except (TypeError, OSError):
        digest = None
    return {"callable": name, "source": digest}


def answering(answerer: Any) -> Callable[..., Any]:
    """The function of an object that answers a query."""
    for name in ANSWERING:
        method = getattr(answerer, name, None)
        if callable(method) and not inspect.isfunction(answerer):
            found: Callable[..., Any] = method
            return found
    if callable(answerer):
        return answerer  # type: ignore[no-any-return]  # a callable it is
    raise InputTypeError(
        f"a retriever must be callable or have one of {', '.join(ANSWERING)}, found {type(answerer).__name__}"
    )


def takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of that name (whatever it takes by ``**`` does not count)."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False


def _is_coroutine(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - asks for the kind, not whether
