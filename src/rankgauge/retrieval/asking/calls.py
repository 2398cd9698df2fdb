"""Every query sent to a retriever, with bounded concurrency, timeouts and retries.

One coroutine sends the queries; what differs is who calls the retriever. ``InlineCaller`` calls it in this thread, for
retrievers that belong to it (a SQLite connection), and never suspends, so that no event loop is needed. ``LoopCaller``
awaits what can be awaited and calls everything else in a thread of its own, which a timeout can abandon.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.errors import RankgaugeError, UsageError
from rankgauge.retrieval.asking.answers import Answer, answer_of
from rankgauge.retrieval.asking.failures import failure_text
from rankgauge.retrieval.asking.functions import RetrieverFunction, is_awaitable
from rankgauge.retrieval.asking.inbox import DirectInbox, Inbox
from rankgauge.retrieval.asking.loops import run_in_thread, run_without_loop, start_in_loop
from rankgauge.retrieval.asking.pauses import pause_before_retry

CallHandler = Callable[[int, "CallResult"], None]


def check_k(k: object, name: str = "k") -> int:
    """Return a number of results, or raise an error that shows what was found."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise UsageError(f"{name} must be a whole number of at least 1, found {k!r}")
    return int(k)


def call_deadline() -> float | None:
    """When the current call times out, as ``time.monotonic`` counts; None if it never does."""
    return _DEADLINE.get()


_DEADLINE: ContextVar[float | None] = ContextVar("rankgauge_call_deadline", default=None)


class TimedAnswer(NamedTuple):
    """An answer, when it arrived, and the seconds from the call to that moment."""

    answer: Answer
    arrived: float
    latency: float


@dataclass(frozen=True)
class CallResult:
    """The result of one query: its answer, or the error, and two times in seconds.

    ``latency`` is the time of the attempt that was answered. ``response`` counts from the instant at which the query
    was due to its answer, and includes waiting, failed attempts and pauses.
    """

    answer: Answer | None
    attempts: int
    latency: float | None = None
    error: str | None = None
    response: float | None = None

    @property
    def result_count(self) -> int:
        """The number of results in the answer."""
        return 0 if self.answer is None else len(self.answer.documents)


class NeedsEventLoop(Exception):
    """A call returned an awaitable, which this thread cannot await."""


class Caller(Protocol):
    """Who calls the retriever."""

    async def call(self, retriever: RetrieverFunction, query: str, k: int, timeout: float | None) -> TimedAnswer:
        """Return the answer, and how long it took to arrive."""

    async def pause(self, seconds: float) -> None:
        """Wait before the next attempt."""


class InlineCaller:
    """Calls in this thread, one after the other."""

    async def call(self, retriever: RetrieverFunction, query: str, k: int, timeout: float | None) -> TimedAnswer:
        """Call, and wait for the result, however long that takes."""
        begin = time.perf_counter()
        result = retriever(query, k)
        if is_awaitable(result):
            close = getattr(result, "close", None)
            if close is not None:
                close()  # a coroutine has not started, and will be called again
            raise NeedsEventLoop
        return _timed(result, begin)

    async def pause(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


class LoopCaller:
    """Calls in the event loop, or in a thread."""

    async def call(self, retriever: RetrieverFunction, query: str, k: int, timeout: float | None) -> TimedAnswer:
        """Call, and give up after the timeout."""
        if timeout is None:
            return await self._call(retriever, query, k)
        token = _DEADLINE.set(time.monotonic() + timeout)
        try:
            async with asyncio.timeout(timeout):
                return await self._call(retriever, query, k)
        finally:
            _DEADLINE.reset(token)

    async def _call(self, retriever: RetrieverFunction, query: str, k: int) -> TimedAnswer:
        begin = time.perf_counter()
        if retriever.is_async:
            return _timed(await retriever(query, k), begin)
        result = await run_in_thread(partial(_call_in_thread, retriever, query, k))
        return result if isinstance(result, TimedAnswer) else _timed(await result, begin)

    async def pause(self, seconds: float) -> None:
        """Sleep, while other calls go on."""
        await asyncio.sleep(seconds)


def _timed(result: Any, begin: float) -> TimedAnswer:
    """The answer that has just arrived. A generator does its work while it is read, so that is part of the call."""
    arrived = time.perf_counter()
    answer = answer_of(result)
    if answer.was_lazy:
        arrived = time.perf_counter()
    return TimedAnswer(answer, arrived, arrived - begin)


def _call_in_thread(retriever: RetrieverFunction, query: str, k: int) -> Any:
    """The answer, timed here, where nothing has to wait for the event loop; or what must be awaited in it."""
    begin = time.perf_counter()
    result = retriever(query, k)
    return result if is_awaitable(result) else _timed(result, begin)


async def call_with_retries(
    caller: Caller, retriever: RetrieverFunction, query: str, k: int, calls: RetrieverCalls, due: float
) -> CallResult:
    """Send one query, again if it fails. What the retriever raises becomes the error; an interrupt does not."""
    for attempt in range(1, calls.retries + 2):
        try:
            timed = await caller.call(retriever, query, k, calls.timeout)
            retriever.refusals.end()
            return CallResult(timed.answer, attempt, timed.latency, response=timed.arrived - due)
        except (NeedsEventLoop, RankgaugeError):
            raise  # a wrong option or input is not a failure of the retriever
        except Exception as error:
            refused = retriever.refusals.add(retriever.name, error)
            if refused is not None:
                raise refused from None
            reason = failure_text(error)
            pause = pause_before_retry(query, attempt, error)
        if pause is None:
            break
        if attempt <= calls.retries:
            await caller.pause(pause)
    return CallResult(None, attempt, error=reason)


async def _send_queries(
    caller: Caller,
    retriever: RetrieverFunction,
    queries: Iterator[tuple[int, tuple[str, int]]],
    calls: RetrieverCalls,
    start: float,
    inbox: Inbox[CallResult] | DirectInbox[CallResult],
) -> None:
    """Send one query after the other, and put in each result with the index of its query."""
    for index, (query, k) in queries:
        due = start + index / (calls.rate or math.inf)
        if due > time.perf_counter():
            await caller.pause(due - time.perf_counter())
        await inbox.begin()
        if calls.rate is None:
            due = time.perf_counter()
        inbox.put(index, await call_with_retries(caller, retriever, query, k, calls, due))


async def _send_in_loop(
    retriever: RetrieverFunction,
    queries: Sequence[tuple[str, int]],
    calls: RetrieverCalls,
    inbox: Inbox[CallResult],
) -> None:
    """Send every query in the running event loop, at most ``calls.in_flight`` at once."""
    caller, waiting, start = LoopCaller(), iter(enumerate(queries)), time.perf_counter()
    workers = [
        asyncio.ensure_future(_send_queries(caller, retriever, waiting, calls, start, inbox))
        for _ in range(min(calls.in_flight, len(queries)))
    ]
    try:
        await asyncio.gather(*workers)
    finally:
        inbox.close()
        for worker in workers:
            worker.cancel()


def ask_all(
    retriever: RetrieverFunction, queries: Sequence[tuple[str, int]], calls: RetrieverCalls, handle: CallHandler
) -> None:
    """Send every query from synchronous code: in this thread if nothing needs an event loop, otherwise in one.

    In both cases ``handle`` is called in this thread.
    """
    unanswered = dict(enumerate(queries))

    def handle_once(index: int, call: CallResult) -> None:
        del unanswered[index]
        handle(index, call)

    if calls.in_flight == 1 and calls.timeout is None and not retriever.is_async:
        inbox, start = DirectInbox(handle_once), time.perf_counter()
        try:
            run_without_loop(_send_queries(InlineCaller(), retriever, iter(enumerate(queries)), calls, start, inbox))
            return
        except NeedsEventLoop:
            pass  # a plain function that returns an awaitable
    rest, handle_rest = _rest(unanswered, handle)
    received = Inbox(handle_rest, calls.in_flight, in_threads=not retriever.is_async)
    future = start_in_loop(_send_in_loop(retriever, rest, calls, received))
    try:
        received.read()
        future.result()
    finally:
        future.cancel()  # an interrupt ends the calls too


async def ask_all_async(
    retriever: RetrieverFunction, queries: Sequence[tuple[str, int]], calls: RetrieverCalls, handle: CallHandler
) -> None:
    """Send every query in the running event loop; ``handle`` is called in another thread."""
    inbox = Inbox(handle, calls.in_flight, in_threads=not retriever.is_async)
    sending = asyncio.ensure_future(_send_in_loop(retriever, queries, calls, inbox))
    try:
        await run_in_thread(inbox.read)
        await sending
    finally:
        inbox.stop()
        sending.cancel()


def _rest(unanswered: Mapping[int, tuple[str, int]], handle: CallHandler) -> tuple[list[tuple[str, int]], CallHandler]:
    """The queries that have no answer yet, and a handler that knows their indexes."""
    indexes = list(unanswered)
    return list(unanswered.values()), lambda row, call: handle(indexes[row], call)
