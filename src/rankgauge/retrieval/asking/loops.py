"""Functions in threads, and coroutines with and without an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


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
    """Run a coroutine to its end; in another thread if this thread already runs a loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    results: list[Result] = []
    errors: list[BaseException] = []
    context = contextvars.copy_context()

    def run() -> None:
        try:
            results.append(context.run(asyncio.run, coroutine))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True, name="rankgauge-loop")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
