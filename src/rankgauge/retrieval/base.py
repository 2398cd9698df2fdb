"""What a retriever is."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from rankgauge.core.ids import Ids, Ints
from rankgauge.core.run import Run

Identity = Mapping[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Questions:
    """Queries as a retriever gets them: ids and texts, in order."""

    ids: Ids
    texts: Sequence[str]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Questions:
        """From ``{query id: text}``."""
        return cls(Ids.from_text(given, "query id"), list(given.values()))

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Ints) -> Questions:
        """Some of them."""
        return Questions(self.ids.take(rows), [self.texts[row] for row in rows.tolist()])


@runtime_checkable
class Retriever(Protocol):
    """Answers a batch of queries with a run of at most ``k`` documents each, made by :mod:`.scores`.

    Every query stands in the run, in the given order; one that got nothing is empty there. An answer depends on its
    own query alone, never on the batch. ``retrieve`` may be a coroutine.
    """

    name: str

    def retrieve(self, queries: Questions, k: int) -> Run | Awaitable[Run]:
        """Answer a batch."""

    def identity(self) -> Identity:
        """All that decides what the answers are, as JSON: the kind, its parameters, content hashes."""


def answer(retriever: Retriever, queries: Questions, k: int) -> Run:
    """The answer of any retriever; one that is a coroutine is waited for."""
    made = retriever.retrieve(queries, k)
    return waited(made) if inspect.isawaitable(made) else made


def waited(made: Awaitable[Result]) -> Result:
    """What something to await comes to; in a notebook, where a loop runs already, in a thread of its own."""

    async def all_of_it() -> Result:
        return await made

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(all_of_it())
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, all_of_it()).result()
