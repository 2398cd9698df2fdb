"""Answers on their way from calls to their reader, who must not slow the calls down.

Only one thread of Python runs at a time, so reading an answer can delay every call that is being timed. Answers are
therefore read outside of the event loop: while calls are in flight, only for moments that are short next to a call, and
at full speed when there are none. If answers arrive faster than they are read, no call begins until all of them have
been read.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from rankgauge.retrieval.asking.loops import WAIT_SECONDS

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
