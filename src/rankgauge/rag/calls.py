"""Every query sent to a retriever, with bounded concurrency, timeouts and retries.

One coroutine sends the queries; what differs is who calls the retriever. ``InlineCaller`` calls it in this thread, for
retrievers that belong to it (a SQLite connection), and never suspends, so that no event loop is needed. ``LoopCaller``
awaits what can be awaited and calls everything else in a thread of its own, which a timeout can abandon.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rankgauge.errors import UsageError
from rankgauge.rag.loops import run_in_thread
from rankgauge.rag.retrievers import RetrieverFunction, documents_of, is_awaitable
from rankgauge.rag.scoring import check_k

FIRST_PAUSE = 0.1  # seconds before the first retry; each further pause is twice as long
LONGEST_PAUSE = 5.0
TimedDocuments = tuple[list[Any], float]
CallHandler = Callable[[int, "CallResult"], None]


@dataclass(frozen=True)
class RetrieverCalls:
    """How a retriever is called: how many results are fetched, how many calls run at once, timeouts and retries.

    ``fetch`` requests more results than k, which is needed if chunks collapse into documents; None requests k.
    ``timeout`` is in seconds; None never times out. ``retries`` are attempts after the first.
    """

    fetch: int | None = None
    concurrency: int = 1
    timeout: float | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        if self.fetch is not None:
            check_k(self.fetch, "fetch")
        if not isinstance(self.concurrency, int) or self.concurrency < 1:
            raise UsageError(f"concurrency must be a whole number of at least 1, found {self.concurrency!r}")
        if not isinstance(self.retries, int) or self.retries < 0:
            raise UsageError(f"retries must be a whole number of at least 0, found {self.retries!r}")
        if self.timeout is not None and not self.timeout > 0:
            raise UsageError(f"timeout must be a number of seconds above 0, found {self.timeout!r}")


DEFAULT_CALLS = RetrieverCalls()


@dataclass(frozen=True)
class CallResult:
    """The result of one query: documents and the seconds that the call took, or the error."""

    documents: list[Any] | None
    attempts: int
    latency: float | None = None
    error: str | None = None


class NeedsEventLoop(Exception):
    """A call returned an awaitable, which this thread cannot await."""


class Caller(Protocol):
    """Who calls the retriever."""

    async def call(self, retriever: RetrieverFunction, query: str, k: int, timeout: float | None) -> TimedDocuments:
        """Return the documents, and the seconds that the call took."""

    async def pause(self, seconds: float) -> None:
        """Wait before the next attempt."""


class InlineCaller:
    """Calls in this thread, one after the other."""

    async def call(self, retriever: RetrieverFunction, query: str, k: int, timeout: float | None) -> TimedDocuments:
        """Call, and wait for the result, however long that takes."""
        begin = time.perf_counter()
        result = retriever(query, k)
        if is_awaitable(result):
            if inspect.iscoroutine(result):
                result.close()  # it has not started, and will be called again
            raise NeedsEventLoop
        return documents_of(result), time.perf_counter() - begin

    async def pause(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


class LoopCaller:
    """Calls in the event loop, or in a thread."""

    async def call(self, retriever: RetrieverFunction, query: str, k: int, timeout: float | None) -> TimedDocuments:
        """Call, and give up after the timeout."""
        return await asyncio.wait_for(self._call(retriever, query, k), timeout)

    async def _call(self, retriever: RetrieverFunction, query: str, k: int) -> TimedDocuments:
        begin = time.perf_counter()
        if retriever.is_async:
            return documents_of(await retriever(query, k)), time.perf_counter() - begin

        def timed_call() -> tuple[Any, float]:
            started = time.perf_counter()
            result = retriever(query, k)
            # A generator does its work while it is read, so reading it is part of the call.
            documents = result if is_awaitable(result) else documents_of(result)
            return documents, time.perf_counter() - started

        result, seconds = await run_in_thread(timed_call)
        if is_awaitable(result):
            return documents_of(await result), time.perf_counter() - begin
        return result, seconds

    async def pause(self, seconds: float) -> None:
        """Sleep, while other calls go on."""
        await asyncio.sleep(seconds)


async def call_with_retries(
    caller: Caller, retriever: RetrieverFunction, query: str, k: int, calls: RetrieverCalls
) -> CallResult:
    """Send one query, again if it fails. What the retriever raises becomes the error; an interrupt does not."""
    for attempt in range(1, calls.retries + 2):
        try:
            documents, seconds = await caller.call(retriever, query, k, calls.timeout)
            return CallResult(documents, attempt, seconds)
        except NeedsEventLoop:
            raise
        except TimeoutError as error:
            reason = f"timeout: {error}" if str(error) else "timeout"
        except Exception as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if attempt <= calls.retries:
            await caller.pause(min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE))
    return CallResult(None, attempt, error=reason)


async def call_for_all(
    caller: Caller,
    retriever: RetrieverFunction,
    queries: Sequence[tuple[str, int]],
    calls: RetrieverCalls,
    handle: CallHandler,
) -> None:
    """Send every query, and pass on each result with the index of its query; at most ``calls.concurrency`` at once."""
    waiting = iter(enumerate(queries))

    async def work() -> None:
        for index, (query, k) in waiting:
            handle(index, await call_with_retries(caller, retriever, query, k, calls))

    if isinstance(caller, InlineCaller):
        await work()
        return
    workers = [asyncio.ensure_future(work()) for _ in range(min(calls.concurrency, len(queries)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
