"""Every query sent to a retriever, with bounded concurrency, timeouts and retries.

One coroutine sends the queries; what differs is who calls the retriever. ``InlineCaller`` calls it in this thread, for
retrievers that belong to it (a SQLite connection), and never suspends, so that no event loop is needed. ``LoopCaller``
awaits what can be awaited and calls everything else in a thread of its own, which a timeout can abandon.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rankgauge.core.formatting import given, plural
from rankgauge.errors import RankgaugeError, UsageError
from rankgauge.retrieval.asking.answers import Answer, answer_of
from rankgauge.retrieval.asking.failures import failure_text
from rankgauge.retrieval.asking.functions import RetrieverFunction, is_awaitable
from rankgauge.retrieval.asking.loops import run_in_thread, run_with_loop, run_without_loop
from rankgauge.retrieval.asking.pauses import pause_before_retry

TimedAnswer = tuple[Answer, float]
CallHandler = Callable[[int, "CallResult"], None]
OPEN_LOOP_CALLS = 1000  # at once


@dataclass(frozen=True)
class RetrieverCalls:
    """How a retriever is called: how many results are fetched, how many calls run at once, timeouts and retries.

    ``fetch`` requests more results than k, which is needed if chunks collapse into documents; None requests k.
    ``timeout`` is in seconds; None never times out. ``retries`` are attempts after the first, each after a longer
    pause, or after the ``Retry-After`` of the error.

    Without ``rate`` the load is a closed loop: ``concurrency`` calls at once (one by default), and the next begins when
    one ends. With ``rate`` it is an open loop: a query is due every 1/rate seconds, however long the others take; at
    most ``concurrency`` calls (1,000 by default) are in flight, and a query that has to wait for one is already late.

    ``journal`` is a file that keeps answers as they arrive: after an interruption, the same evaluation asks only the
    rest. It is deleted when the evaluation is complete. (:func:`fetch_run` has a journal of its own.)
    """

    fetch: int | None = None
    concurrency: int | None = None
    timeout: float | None = None
    retries: int = 0
    rate: float | None = None  # queries per second
    journal: str | Path | None = None

    def __post_init__(self) -> None:
        if self.fetch is not None:
            check_k(self.fetch, "fetch")
        if self.concurrency is not None and (not isinstance(self.concurrency, int) or self.concurrency < 1):
            raise UsageError(f"concurrency must be a whole number of at least 1, found {self.concurrency!r}")
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise UsageError(f"rate must be a number of queries per second above 0, found {self.rate!r}")
        if not isinstance(self.retries, int) or self.retries < 0:
            raise UsageError(f"retries must be a whole number of at least 0, found {self.retries!r}")
        if self.timeout is not None and not self.timeout > 0:
            raise UsageError(f"timeout must be a number of seconds above 0, found {self.timeout!r}")

    @property
    def in_flight(self) -> int:
        """The largest number of calls at once."""
        return self.concurrency or (1 if self.rate is None else OPEN_LOOP_CALLS)

    @property
    def loop(self) -> str:
        """How queries are sent, in words."""
        if self.rate is not None:
            return f"open loop, {given(self.rate)} {'query' if self.rate == 1 else 'queries'} per second"
        return f"closed loop, {plural(self.in_flight, 'call')} at once"


def check_k(k: object, name: str = "k") -> int:
    """Return a number of results, or raise an error that shows what was found."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise UsageError(f"{name} must be a whole number of at least 1, found {k!r}")
    return int(k)


DEFAULT_CALLS = RetrieverCalls()
CALL_OPTIONS = tuple(option.name for option in fields(RetrieverCalls) if option.name != "journal")


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
    def waited(self) -> float:
        """The part of the response time before the attempt that was answered."""
        return 0.0 if self.response is None or self.latency is None else max(0.0, self.response - self.latency)


class NeedsEventLoop(Exception):
    """A call returned an awaitable, which this thread cannot await."""


class Caller(Protocol):
    """Who calls the retriever."""

    async def call(self, retriever: RetrieverFunction, query: str, k: int, timeout: float | None) -> TimedAnswer:
        """Return the answer, and the seconds that the call took."""

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
        return answer_of(result), time.perf_counter() - begin

    async def pause(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


class LoopCaller:
    """Calls in the event loop, or in a thread."""

    async def call(self, retriever: RetrieverFunction, query: str, k: int, timeout: float | None) -> TimedAnswer:
        """Call, and give up after the timeout."""
        return await asyncio.wait_for(self._call(retriever, query, k), timeout)

    async def _call(self, retriever: RetrieverFunction, query: str, k: int) -> TimedAnswer:
        begin = time.perf_counter()
        if retriever.is_async:
            return answer_of(await retriever(query, k)), time.perf_counter() - begin

        def timed_call() -> tuple[Any, float]:
            started = time.perf_counter()
            result = retriever(query, k)
            # A generator does its work while it is read, so reading it is part of the call.
            answer = result if is_awaitable(result) else answer_of(result)
            return answer, time.perf_counter() - started

        result, seconds = await run_in_thread(timed_call)
        if is_awaitable(result):
            return answer_of(await result), time.perf_counter() - begin
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
            answer, seconds = await caller.call(retriever, query, k, calls.timeout)
            return CallResult(answer, attempt, seconds)
        except (NeedsEventLoop, RankgaugeError):
            raise  # a wrong option or input is not a failure of the retriever
        except Exception as error:
            reason = failure_text(error)
            pause = pause_before_retry(query, attempt, error)
        if pause is None:
            break
        if attempt <= calls.retries:
            await caller.pause(pause)
    return CallResult(None, attempt, error=reason)


async def call_for_all(
    caller: Caller,
    retriever: RetrieverFunction,
    queries: Sequence[tuple[str, int]],
    calls: RetrieverCalls,
    handle: CallHandler,
) -> None:
    """Send every query, and pass on each result with the index of its query; at most ``calls.in_flight`` at once."""
    waiting = iter(enumerate(queries))
    start = time.perf_counter()

    async def work() -> None:
        for index, (query, k) in waiting:
            due = time.perf_counter() if calls.rate is None else start + index / calls.rate
            if due > time.perf_counter():
                await caller.pause(due - time.perf_counter())
            result = await call_with_retries(caller, retriever, query, k, calls)
            if result.answer is not None:
                result = replace(result, response=time.perf_counter() - due)
            handle(index, result)

    if isinstance(caller, InlineCaller):
        await work()
        return
    workers = [asyncio.ensure_future(work()) for _ in range(min(calls.in_flight, len(queries)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()


def ask_all(
    retriever: RetrieverFunction, queries: Sequence[tuple[str, int]], calls: RetrieverCalls, handle: CallHandler
) -> None:
    """Send every query from synchronous code: in this thread if nothing needs an event loop, otherwise in one."""
    unanswered = dict(enumerate(queries))

    def handle_once(index: int, call: CallResult) -> None:
        del unanswered[index]
        handle(index, call)

    if calls.in_flight == 1 and calls.timeout is None and not retriever.is_async:
        try:
            run_without_loop(call_for_all(InlineCaller(), retriever, queries, calls, handle_once))
            return
        except NeedsEventLoop:
            pass  # a plain function that returns an awaitable
    indexes = list(unanswered)

    def handle_rest(row: int, call: CallResult) -> None:
        handle(indexes[row], call)

    rest = [queries[index] for index in indexes]
    run_with_loop(call_for_all(LoopCaller(), retriever, rest, calls, handle_rest))
