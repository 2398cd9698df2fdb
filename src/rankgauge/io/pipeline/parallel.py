"""Several runs: if they are large, a few threads read them; readers release Python's lock for most of their work.

Joins, warnings and errors come in the order of the runs, as if the runs were read one after the other.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankgauge.core.hits import Joined
from rankgauge.core.progress import reported
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.errors import held_warnings, warn_user
from rankgauge.io.byte_streams import is_folder
from rankgauge.io.pipeline.joining import join_any
from rankgauge.io.reading_options import Reading
from rankgauge.io.sources import check_runs

MIN_BYTES_PER_RUN = 1 << 24  # from here on, two threads take 0.6 of the time of one; at a quarter of it, the same time
MAX_THREADS = 4  # what is left under the lock keeps more of them waiting
REPORT_SECONDS = 0.1  # between two reports of progress
TaskResult = tuple[list[Joined] | Exception, list[str]]  # the joins or why there are none, and the warnings


def join_each(qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat) -> list[Joined]:
    """Join judgments with each run, in order; a file or folder may hold several runs."""
    check_runs(runs)
    sizes = [_file_size(run) for run in runs]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # Whole runs in memory need several times the size of their files while they are read.
    threads = thread_count(sizes, cores) if reading.parallel and not reading.keep_rankings else 1
    with reported(reading.progress, "reading", "byte", sum(sizes)) as report:
        reading = replace(reading, progress=report)
        if threads > 1:
            return _ThreadedJoin(qrels, runs, reading, compat, sizes).join(threads)
        return _join_in_turn(qrels, runs, reading, compat, sizes)


def thread_count(sizes: Sequence[int], cores: int) -> int:
    """How many threads read runs of these sizes: one, unless several runs are large; 0 bytes is not a file."""
    large_runs = sum(size >= MIN_BYTES_PER_RUN for size in sizes)
    return max(1, min(large_runs, cores, MAX_THREADS)) if all(sizes) else 1


def _file_size(run: Any) -> int:
    """The size of a file, or of the files in a folder; 0 if it is neither."""
    if is_folder(run):
        return sum(file.stat().st_size for file in Path(run).rglob("*") if file.is_file())
    return Path(run).stat().st_size if isinstance(run, (str, Path)) and Path(run).is_file() else 0


def _join_in_turn(
    qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat, sizes: Sequence[int]
) -> list[Joined]:
    report, bytes_read = reading.progress, 0
    joins: list[Joined] = []
    for run, size in zip(runs, sizes, strict=True):
        before = bytes_read
        progress = None if report is None or not size else lambda at, before=before: report(before + at, sum(sizes))
        joins += join_any(qrels, run, reading, compat, progress)
        bytes_read += size
    return joins


class _StoppedError(Exception):
    """The result of this thread is not needed any more."""


class _ThreadedJoin:
    """Runs that are being read by threads. This thread waits for them, reports progress, and issues their warnings."""

    def __init__(
        self, qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat, sizes: Sequence[int]
    ) -> None:
        self.qrels, self.runs, self.reading, self.compat, self.sizes = qrels, runs, reading, compat, sizes
        self._positions = [0] * len(runs)
        self._is_stopped = threading.Event()

    def join(self, threads: int) -> list[Joined]:
        """The joins of all runs, in order. The first error in order is raised, as if runs were read in turn."""
        from concurrent.futures import ThreadPoolExecutor, wait

        # All threads together stay within the memory that one would have.
        self.reading = replace(self.reading, memory=self.reading.memory // threads)
        joins: list[Joined] = []
        with ThreadPoolExecutor(threads, "rankgauge-reader") as pool:
            tasks = [pool.submit(self._read, index) for index in range(len(self.runs))]
            try:
                for index, task in enumerate(tasks):
                    while not wait([task], REPORT_SECONDS).done:
                        self._report()
                    joins += _checked(task.result())
                    self._positions[index] = self.sizes[index]
                    self._report()
            except BaseException:  # an interrupt, or the error of one run: the others are not needed
                self._is_stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return joins

    def _read(self, index: int) -> TaskResult:
        def progress(position: int) -> None:
            if self._is_stopped.is_set():
                raise _StoppedError
            self._positions[index] = position

        with held_warnings() as messages:
            try:
                return join_any(self.qrels, self.runs[index], self.reading, self.compat, progress), messages
            except Exception as error:
                return error, messages

    def _report(self) -> None:
        if self.reading.progress is not None:
            self.reading.progress(sum(self._positions), sum(self.sizes))


def _checked(result: TaskResult) -> list[Joined]:
    """The joins of a run, after its warnings."""
    joins, messages = result
    for message in messages:
        warn_user(message)
    if isinstance(joins, Exception):
        raise joins
    return joins
