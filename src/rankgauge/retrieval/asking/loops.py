"""Functions in threads, and coroutines with and without an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import wait
from typing import Any, TypeVar

Result = TypeVar("Result")
WAIT_SECONDS = 0.5  # between two looks for an interrupt, which a longer wait would not notice on every system
_LOCK = threading.Lock()
_LOOPS: dict[int, asyncio.AbstractEventLoop] = {}  # by process


async def run_in_thread(function: Callable[[], Result]) -> Result:
    """Run a function in a daemon thread of its own.

    Not in a pool: a call that never returns would occupy a worker of the pool, and keep the program from ending.
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

    threading.Thread(target=run, daemon=True, name="rankgauge-retriever").start()
    return await future


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
    loop = _shared_loop()
    with contextlib.suppress(RuntimeError):  # no loop runs in this thread
        if asyncio.get_running_loop() is loop:  # a retriever that evaluates another one: waiting would never end
            loop = _start_loop()
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        while not future.done():
            wait([future], timeout=WAIT_SECONDS)
        return future.result()
    finally:
        future.cancel()  # an interrupt ends the calls too


def _shared_loop() -> asyncio.AbstractEventLoop:
    with _LOCK:
        process = os.getpid()  # a forked process has none of its parent's threads
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
