"""Functions in threads, and coroutines with and without an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

Result = TypeVar("Result")
WAIT_SECONDS = 0.5  # between two looks for an interrupt, which a longer wait would not notice on every system
IDLE_SECONDS = 5.0  # after which a thread without a job ends
_LOCK = threading.Lock()
_LOOPS: dict[int, asyncio.AbstractEventLoop] = {}  # by process: a forked process has none of its parent's threads
_IDLE: dict[int, list[_Worker]] = {}  # threads without a job, by process


async def run_in_thread(function: Callable[[], Result]) -> Result:
    """Run a function in a daemon thread, which no other function shares before it has returned.

    Threads are reused, but not as in a pool of a fixed size: a call that never returns would occupy one of its workers,
    and keep the program from ending.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if not future.done():  # it is done if a timeout came first
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
            error = RuntimeError(f"StopIteration: {stop}")  # a future cannot hold a StopIteration
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended: nothing waits for an abandoned call
            loop.call_soon_threadsafe(settle, result, error)

    _idle_worker().jobs.put(run)
    return await future


class _Worker(threading.Thread):
    """A thread that runs one job after the other, and ends if there is none for a while."""

    def __init__(self, idle: list[_Worker]) -> None:
        super().__init__(daemon=True, name="rankgauge-retriever")
        self.jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle = idle

    def run(self) -> None:
        while True:
            try:
                self.jobs.get(timeout=IDLE_SECONDS)()
            except queue.Empty:
                with _LOCK:
                    if self in self._idle:
                        self._idle.remove(self)
                        return
                continue  # a job is on its way
            with _LOCK:
                self._idle.append(self)


def _idle_worker() -> _Worker:
    """A thread without a job, or a new one."""
    with _LOCK:
        idle = _IDLE.setdefault(os.getpid(), [])
        if idle:
            return idle.pop()
    worker = _Worker(idle)
    worker.start()
    return worker


def run_without_loop(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        coroutine.close()
    raise AssertionError("a coroutine that must not suspend did")


def run_with_loop(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, in an event loop that all calls share.

    A client that belongs to its loop, as most asynchronous ones do, then works in every call, also from a notebook,
    whose thread already runs a loop.
    """
    future = start_in_loop(coroutine)
    try:
        while not future.done():
            wait([future], timeout=WAIT_SECONDS)
        return future.result()
    finally:
        future.cancel()  # an interrupt ends the calls too


def start_in_loop(coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
    """Start a coroutine in the event loop that all calls share."""
    loop = _shared_loop()
    with contextlib.suppress(RuntimeError):  # no loop runs in this thread
        if asyncio.get_running_loop() is loop:  # a retriever that evaluates another one: waiting would never end
            loop = _start_loop()
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


def _shared_loop() -> asyncio.AbstractEventLoop:
    with _LOCK:
        process = os.getpid()
        if process not in _LOOPS:
            _LOOPS[process] = _start_loop()
        return _LOOPS[process]


def _start_loop() -> asyncio.AbstractEventLoop:
    """A new event loop in a daemon thread."""
    loop = asyncio.new_event_loop()

    def run() -> None:
        while not loop.is_closed():
            with contextlib.suppress(BaseException):  # an interrupt in a call ends the loop; its caller gets it
                loop.run_forever()

    threading.Thread(target=run, daemon=True, name="rankgauge-loop").start()
    return loop
