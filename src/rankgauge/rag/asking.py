"""Every case put to a retriever, with bounded concurrency, time-outs and retries.

One coroutine asks; who calls the retriever differs. ``Here`` calls it in this very thread, for retrievers that belong
to it (a SQLite connection), and never suspends, so that no event loop is needed. ``Apart`` awaits what can be awaited
and calls everything else in a thread of its own, which a time-out can leave behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rankgauge.errors import UsageError
from rankgauge.rag.calls import Retriever, documents_of, is_awaitable

FIRST_PAUSE = 0.1  # seconds before the first retry; each further one waits twice as long
LONGEST_PAUSE = 5.0
Result = TypeVar("Result")
Timed = tuple[list[Any], float]
Take = Callable[[int, "Answer"], None]


@dataclass(frozen=True)
class Policy:
    """How hard to try."""

    concurrency: int = 1
    timeout: float | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.concurrency, int) or self.concurrency < 1:
            raise UsageError(f"concurrency must be a whole number of at least 1, found {self.concurrency!r}")
        if not isinstance(self.retries, int) or self.retries < 0:
            raise UsageError(f"retries must be a whole number of at least 0, found {self.retries!r}")
        if self.timeout is not None and not self.timeout > 0:
            raise UsageError(f"timeout must be a number of seconds above 0, found {self.timeout!r}")


@dataclass(frozen=True)
class Answer:
    """What came of one query: documents and the seconds that the call took, or why there are none."""

    documents: list[Any] | None
    attempts: int
    latency: float | None = None
    error: str | None = None


class NeedsLoop(Exception):
    """A call gave something to await, which this thread cannot."""


class Caller(Protocol):
    """Who calls the retriever."""

    async def call(self, retriever: Retriever, query: str, k: int, timeout: float | None) -> Timed:
        """Documents, and how long they took."""

    async def pause(self, seconds: float) -> None:
        """Wait before the next attempt."""


class Here:
    """In this thread, one after the other."""

    async def call(self, retriever: Retriever, query: str, k: int, timeout: float | None) -> Timed:
        """Call, and wait for the end of it, however long that takes."""
        begin = time.perf_counter()
        result = retriever(query, k)
        if is_awaitable(result):
            if inspect.iscoroutine(result):
                result.close()  # it has not begun, and will be called again
            raise NeedsLoop
        return documents_of(result), time.perf_counter() - begin

    async def pause(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class Apart:
    """In the event loop, or in a thread."""

    async def call(self, retriever: Retriever, query: str, k: int, timeout: float | None) -> Timed:
        """Call, and give up after the time-out."""
        return await asyncio.wait_for(self._call(retriever, query, k), timeout)

    async def _call(self, retriever: Retriever, query: str, k: int) -> Timed:
        begin = time.perf_counter()
        if retriever.is_async:
            return documents_of(await retriever(query, k)), time.perf_counter() - begin

        def timed() -> tuple[Any, float]:
            started = time.perf_counter()
            result = retriever(query, k)
            # A generator does its work while it is listed, so that belongs to the call.
            found = result if is_awaitable(result) else documents_of(result)
            return found, time.perf_counter() - started

        result, seconds = await in_thread(timed)
        if is_awaitable(result):
            return documents_of(await result), time.perf_counter() - begin
        return result, seconds

    async def pause(self, seconds: float) -> None:
        """Wait, and let others go on."""
        await asyncio.sleep(seconds)


async def in_thread(function: Callable[[], Result]) -> Result:
    """Run a function in a daemon thread of its own.

    Not in a pool: a call that never returns would hold its place there, and hold up the end of the program too.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if not future.done():  # it is done where a time-out came first
            if error is None:
                future.set_result(result)  # type: ignore[arg-type]  # without an error there is a result
            else:
                future.set_exception(error)

    def run() -> None:
        result: Result | None = None
        error: BaseException | None = None
        try:
            result = context.run(function)
        except StopIteration as stop:
            error = RuntimeError(f"StopIteration: {stop}")  # which a future cannot carry
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits for a call that was left behind
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, daemon=True, name="rankgauge-retriever").start()
    return await future


async def ask(caller: Caller, retriever: Retriever, query: str, k: int, policy: Policy) -> Answer:
    """One query, tried again where it fails. What the retriever raises becomes the reason; an interrupt does not."""
    for attempt in range(1, policy.retries + 2):
        try:
            documents, seconds = await caller.call(retriever, query, k, policy.timeout)
            return Answer(documents, attempt, seconds)
        except NeedsLoop:
            raise
        except TimeoutError as error:
            why = f"timeout: {error}" if str(error) else "timeout"
        except Exception as error:
            why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if attempt <= policy.retries:
            await caller.pause(min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE))
    return Answer(None, attempt, error=why)


async def ask_all(
    caller: Caller, retriever: Retriever, queries: Sequence[tuple[str, int]], policy: Policy, take: Take
) -> None:
    """Every query, each answer handed over as it comes; at most so many at once as the policy says."""
    waiting = iter(enumerate(queries))

    async def work() -> None:
        for place, (query, k) in waiting:
            take(place, await ask(caller, retriever, query, k, policy))

    if isinstance(caller, Here):
        await work()
        return
    workers = [asyncio.ensure_future(work()) for _ in range(min(policy.concurrency, len(queries)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()


def without_loop(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    finally:
        coroutine.close()
    raise AssertionError("a coroutine that must not suspend did")


def with_loop(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end; where this thread's loop is running already, as in a notebook, in another thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    found: list[Result] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.append(asyncio.run(coroutine))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True, name="rankgauge-loop")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return found[0]
