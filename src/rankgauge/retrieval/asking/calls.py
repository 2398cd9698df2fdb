"""Every query sent to a retriever, with bounded concurrency, timeouts and retries.

One coroutine sends the queries; what differs is who calls the retriever. ``InlineCaller`` calls it in this thread, for
retrievers that belong to it (a SQLite connection), and never suspends, so that no event loop is needed. ``LoopCaller``
awaits what can be awaited and calls everything else in a thread of its own, which a timeout can abandon.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rankgauge.config.retriever_settings import BenchmarkSettings, RetrieverCalls
from rankgauge.core.settings import declared
from rankgauge.errors import RankgaugeError, UsageError
from rankgauge.retrieval.asking.answers import Answer, answer_of
from rankgauge.retrieval.asking.event_loops import WAIT_SECONDS, run_in_thread, run_without_loop, start_in_loop
from rankgauge.retrieval.asking.failures import CallEnded, failure_text, pause_before_retry
from rankgauge.retrieval.asking.retriever_functions import CaseRequest, RetrieverFunction, is_awaitable
from rankgauge.retrieval.code_policy import own_folder

CallHandler = Callable[[int, "CallResult"], None]


def check_k(k: object, name: str = "k") -> int:
    """Return a number of results, or raise an error that shows what was found."""
    complaint = declared(BenchmarkSettings)["k"].complaint(k)
    if complaint is not None:
        raise UsageError(f"{name}: {complaint}")
    return int(k)  # type: ignore[call-overload,no-any-return]  # a whole number


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

    ``latency`` is the time of the attempt that was answered. ``response`` counts from the first attempt to the answer,
    and includes failed attempts and pauses.
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


@contextlib.contextmanager
def contained(*passed: type[BaseException]) -> Iterator[None]:
    """Turn what is no ``Exception`` into ``CallEnded``, except an interrupt and what is passed on."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, (Exception, KeyboardInterrupt, *passed)):
            raise
        raise CallEnded(f"{type(error).__name__}: {error}") from error


class NeedsEventLoop(Exception):
    """A call returned an awaitable, which this thread cannot await."""


class Caller(Protocol):
    """Who calls the retriever."""

    async def call(self, retriever: RetrieverFunction, request: CaseRequest, timeout: float | None) -> TimedAnswer:
        """Return the answer, and how long it took to arrive."""

    async def pause(self, seconds: float) -> None:
        """Wait before the next attempt."""


class InlineCaller:
    """Calls in this thread, one after the other."""

    async def call(self, retriever: RetrieverFunction, request: CaseRequest, timeout: float | None) -> TimedAnswer:
        """Call, and wait for the result, however long that takes."""
        begin = time.perf_counter()
        with contained():
            result = retriever(*request)
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

    async def call(self, retriever: RetrieverFunction, request: CaseRequest, timeout: float | None) -> TimedAnswer:
        """Call, and give up after the timeout."""
        if timeout is None:
            return await self._call(retriever, request)
        token = _DEADLINE.set(time.monotonic() + timeout)
        try:
            async with asyncio.timeout(timeout):
                return await self._call(retriever, request)
        finally:
            _DEADLINE.reset(token)

    async def _call(self, retriever: RetrieverFunction, request: CaseRequest) -> TimedAnswer:
        begin = time.perf_counter()
        with contained(asyncio.CancelledError, GeneratorExit):
            if retriever.is_async:
                return _timed(await retriever(*request), begin)
            result = await run_in_thread(partial(_call_in_thread, retriever, request))
            return result if isinstance(result, TimedAnswer) else _timed(await result, begin)

    async def pause(self, seconds: float) -> None:
        """Sleep, while other calls go on."""
        await asyncio.sleep(seconds)


def _timed(result: Any, begin: float) -> TimedAnswer:
    """The answer that has just arrived. A generator does its work while it is read, so that is part of the call."""
    arrived = time.perf_counter()
    with contained():
        answer = answer_of(result)
    if answer.was_lazy:
        arrived = time.perf_counter()
    return TimedAnswer(answer, arrived, arrived - begin)


def _call_in_thread(retriever: RetrieverFunction, request: CaseRequest) -> Any:
    """The answer, timed here, where nothing has to wait for the event loop; or what must be awaited in it."""
    begin = time.perf_counter()
    with contained():
        result = retriever(*request)
    return result if is_awaitable(result) else _timed(result, begin)


async def call_with_retries(
    caller: Caller, retriever: RetrieverFunction, request: CaseRequest, calls: RetrieverCalls
) -> CallResult:
    """Send one query, again if it fails. What the retriever raises becomes the error; an interrupt does not."""
    begin = time.perf_counter()
    for attempt in range(1, calls.retries + 2):
        try:
            timed = await caller.call(retriever, request, calls.timeout)
            retriever.refusals.end()
            return CallResult(timed.answer, attempt, timed.latency, response=timed.arrived - begin)
        except (NeedsEventLoop, RankgaugeError):
            raise  # a wrong option or input is not a failure of the retriever
        except Exception as error:
            refused = retriever.refusals.add(retriever.name, error)
            if refused is not None:
                raise refused from None
            reason = failure_text(error)
            pause = pause_before_retry(request.query, attempt, error)
        if pause is None:
            break
        if attempt <= calls.retries:
            await caller.pause(pause)
    return CallResult(None, attempt, error=reason)


async def _send_queries(
    caller: Caller,
    retriever: RetrieverFunction,
    queries: Iterator[tuple[int, CaseRequest]],
    calls: RetrieverCalls,
    inbox: Inbox[CallResult] | DirectInbox[CallResult],
) -> None:
    """Send one query after the other, and put in each result with the index of its query."""
    for index, request in queries:
        await inbox.begin()
        inbox.put(index, await call_with_retries(caller, retriever, request, calls))


async def _send_in_loop(
    retriever: RetrieverFunction,
    queries: Sequence[CaseRequest],
    calls: RetrieverCalls,
    inbox: Inbox[CallResult],
) -> None:
    """Send every query in the running event loop, at most ``calls.concurrency`` at once."""
    caller, waiting = LoopCaller(), iter(enumerate(queries))
    workers = [
        asyncio.ensure_future(_send_queries(caller, retriever, waiting, calls, inbox))
        for _ in range(min(calls.concurrency, len(queries)))
    ]
    try:
        await asyncio.gather(*workers)
    finally:
        inbox.close()
        for worker in workers:
            worker.cancel()


def ask_all(
    retriever: RetrieverFunction, queries: Sequence[CaseRequest], calls: RetrieverCalls, handle: CallHandler
) -> None:
    """Send every query from synchronous code: in this thread if nothing needs an event loop, otherwise in one.

    In both cases ``handle`` is called in this thread. Afterward the working folder is the one before.
    """
    with own_folder():
        _ask_all(retriever, queries, calls, handle)


def _ask_all(
    retriever: RetrieverFunction, queries: Sequence[CaseRequest], calls: RetrieverCalls, handle: CallHandler
) -> None:
    unanswered = dict(enumerate(queries))

    def handle_once(index: int, call: CallResult) -> None:
        del unanswered[index]
        handle(index, call)

    if calls.concurrency == 1 and calls.timeout is None and not retriever.is_async:
        inbox = DirectInbox(handle_once)
        try:
            run_without_loop(_send_queries(InlineCaller(), retriever, iter(enumerate(queries)), calls, inbox))
            return
        except NeedsEventLoop:
            pass  # a plain function that returns an awaitable
    rest, handle_rest = _rest(unanswered, handle)
    received = Inbox(handle_rest, calls.concurrency, in_threads=not retriever.is_async)
    future = start_in_loop(_send_in_loop(retriever, rest, calls, received))
    try:
        received.read()
        future.result()
    finally:
        future.cancel()  # an interrupt ends the calls too


async def ask_all_async(
    retriever: RetrieverFunction, queries: Sequence[CaseRequest], calls: RetrieverCalls, handle: CallHandler
) -> None:
    """Send every query in the running event loop; ``handle`` is called in another thread."""
    inbox = Inbox(handle, calls.concurrency, in_threads=not retriever.is_async)
    sending = asyncio.ensure_future(_send_in_loop(retriever, queries, calls, inbox))
    try:
        await run_in_thread(inbox.read)
        await sending
    finally:
        inbox.stop()
        sending.cancel()


def _rest(unanswered: Mapping[int, CaseRequest], handle: CallHandler) -> tuple[list[CaseRequest], CallHandler]:
    """The queries that have no answer yet, and a handler that knows their indexes."""
    indexes = list(unanswered)
    return list(unanswered.values()), lambda row, call: handle(indexes[row], call)


# Answers on their way from calls to their reader, who must not slow the calls down.
#
# Only one thread of Python runs at a time, so reading an answer can delay every call that is being timed. Answers are
# therefore read outside of the event loop: while calls are in flight, only for moments that are short next to a call,
# and at full speed when there are none. If answers arrive faster than they are read, no call begins until all of them
# have been read.

MAX_WAITING = 10_000  # results that wait for the reader; with more, no call begins
SLICE_SHARE = 0.02  # of a call's time, that the reader takes at once while calls are in flight
PAUSE_RATIO = 2  # it then pauses this many times as long
MIN_PAUSE = 0.001  # seconds, so that the interpreter does not change threads all the time


class Received(Protocol):
    """The result of a call."""

    @property
    def latency(self) -> float | None:
        """The seconds until the answer arrived."""

    @property
    def result_count(self) -> int:
        """The number of results in the answer."""


Item = TypeVar("Item", bound=Received)


class Inbox(Generic[Item]):
    """Items that calls put in, in an event loop, and that one reader takes out, in another thread.

    There are never more items than calls at once, apart from those calls' own. ``in_threads`` if calls are made in
    threads. With one call at a time, each item is read before the next call begins.
    """

    def __init__(self, handle: Callable[[int, Item], None], in_flight: int, *, in_threads: bool) -> None:
        self._handle, self._most, self._in_threads = handle, in_flight, in_threads
        self._items: queue.SimpleQueue[tuple[int, Item] | None] = queue.SimpleQueue()
        self._in_flight = 0
        self._is_idle = threading.Event()  # no call is in flight
        self._is_idle.set()
        # Items and their results: the first two are counted where they are put in, the others where they are taken out.
        self._items_in = self._results_in = self._items_out = self._results_out = 0
        self._is_full = False
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._turnstile = asyncio.Lock()  # threads begin one by one, or all of them would end at the same moment
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_stopped = False

    @property
    def waiting(self) -> tuple[int, int]:
        """The items that have not been read yet, and their results."""
        return self._items_in - self._items_out, self._results_in - self._results_out

    async def begin(self) -> None:
        """Wait until there is room for one more answer, which will be put in."""
        if self._is_stopped:
            raise asyncio.CancelledError
        self._loop = asyncio.get_running_loop()
        while not self._has_room.is_set():
            if not self._in_threads:
                await self._has_room.wait()
                continue
            async with self._turnstile:
                await self._has_room.wait()
                await asyncio.sleep(0)
        self._in_flight += 1
        self._is_idle.clear()

    def put(self, index: int, item: Item) -> None:
        """Put in the result of a call."""
        self._in_flight -= 1
        self._items_in += 1
        self._results_in += item.result_count
        items, results = self.waiting
        if items >= self._most or results > MAX_WAITING:
            self._has_room.clear()
            self._is_full = True
        if not self._in_flight:
            self._is_idle.set()
        self._items.put((index, item))

    def close(self) -> None:
        """Nothing more will be put in."""
        self._is_idle.set()
        self._items.put(None)

    def stop(self) -> None:
        """Whatever is still there is not read."""
        self._is_stopped = True
        self.close()

    def read(self) -> None:
        """Read everything that is put in, until the inbox is closed.

        If reading an item raises an error, or an interrupt comes, no further call begins, and what has arrived by then
        is read all the same: it may be saved, and need not be asked again.
        """
        try:
            self._read_until_closed()
        except BaseException:
            self._is_stopped = True
            while not self._items.empty():
                entry = self._items.get()
                if entry is not None:
                    with contextlib.suppress(Exception):  # the first error is the one that counts
                        self._handle(*entry)
            raise

    def _read_until_closed(self) -> None:
        pause = 0.0
        while not self._is_stopped:
            try:
                entry = self._items.get(timeout=WAIT_SECONDS)  # an interrupt is noticed in between
            except queue.Empty:
                continue
            self._is_idle.wait(pause)
            begin = time.thread_time()
            while entry is not None:
                seconds = SLICE_SHARE * (entry[1].latency or 0.0)
                self._read_one(*entry)
                used = time.thread_time() - begin
                if self._items.empty() or not (self._is_idle.is_set() or used < seconds):
                    break
                entry = self._items.get()
            else:
                return
            pause = max(MIN_PAUSE, PAUSE_RATIO * used)

    def _read_one(self, index: int, item: Item) -> None:
        self._handle(index, item)
        self._items_out += 1
        self._results_out += item.result_count
        if self._is_full and self._items_out == self._items_in and self._loop is not None:
            self._loop.call_soon_threadsafe(self._make_room)

    def _make_room(self) -> None:
        self._is_full = False
        self._has_room.set()


class DirectInbox(Generic[Item]):
    """Items that are read at once, by the thread that puts them in."""

    def __init__(self, handle: Callable[[int, Item], None]) -> None:
        self.put = handle

    async def begin(self) -> None:
        """There is always room."""
