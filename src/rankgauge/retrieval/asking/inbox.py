"""Answers on their way from calls to their reader, who must not slow the calls down.

Only one thread of Python runs at a time, so reading an answer can delay every call that is being timed. Answers are
therefore read outside of the event loop: with long pauses while calls are in flight, and at full speed when there are
none. If answers arrive faster than they are read, no call begins until all of them have been read.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from rankgauge.retrieval.asking.loops import WAIT_SECONDS

Item = TypeVar("Item")
MAX_WAITING = 10_000  # results that wait for the reader; with more, no call begins
SLICE = 0.0005  # seconds that the reader takes at a time while calls are in flight
PAUSE_RATIO = 20  # it then pauses this many times as long as it took
MIN_PAUSE = 0.01  # seconds, so that the interpreter does not often change threads


class Inbox(Generic[Item]):
    """Items that calls put in, in an event loop, and that one reader takes out, in another thread.

    ``size_of`` is the number of results that an item holds; ``in_threads`` if calls are made in threads. With one call
    at a time, each item is read before the next call begins.
    """

    def __init__(
        self, handle: Callable[[int, Item], None], size_of: Callable[[Item], int], in_flight: int, *, in_threads: bool
    ) -> None:
        self._handle, self._size_of, self._in_threads = handle, size_of, in_threads
        self._limit = MAX_WAITING if in_flight > 1 else 0
        self._items: queue.SimpleQueue[tuple[int, Item] | None] = queue.SimpleQueue()
        self._in_flight = 0
        self._is_idle = threading.Event()  # no call is in flight
        self._is_idle.set()
        self._waiting = 0  # results, counted where they are put in
        self._read = 0  # results, counted where they are taken out
        self._is_full = False
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._turnstile = asyncio.Lock()  # threads begin one by one, or all of them would end at the same moment
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_stopped = False

    async def begin(self) -> None:
        """Wait until there is room for one more answer, which will be put in."""
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
        self._waiting += max(1, self._size_of(item))
        if self._waiting - self._read > self._limit:
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
        """Read everything that is put in, until the inbox is closed."""
        pause = MIN_PAUSE
        while not self._is_stopped:
            try:
                entry = self._items.get(timeout=WAIT_SECONDS)  # an interrupt is noticed in between
            except queue.Empty:
                continue
            self._is_idle.wait(pause)
            begin = time.thread_time()
            while entry is not None:
                index, item = entry
                self._handle(index, item)
                self._read += max(1, self._size_of(item))
                if self._is_full and self._read == self._waiting and self._loop is not None:
                    self._loop.call_soon_threadsafe(self._make_room)
                if self._items.empty() or not (self._is_idle.is_set() or time.thread_time() - begin < SLICE):
                    break
                entry = self._items.get()
            else:
                return
            pause = max(MIN_PAUSE, PAUSE_RATIO * (time.thread_time() - begin))

    def _make_room(self) -> None:
        self._is_full = False
        self._has_room.set()


class DirectInbox(Generic[Item]):
    """Items that are read at once, by the thread that puts them in."""

    def __init__(self, handle: Callable[[int, Item], None]) -> None:
        self.put = handle

    async def begin(self) -> None:
        """There is always room."""
