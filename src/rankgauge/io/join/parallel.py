"""Several runs at once: large files are read by separate processes, as many as there are cores.

Each process is a new interpreter that receives its task and returns its result through pipes, so that it neither
imports the caller's program again nor shares its threads.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankgauge.core.hits import Joined
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.errors import RankgaugeError, RankgaugeWarning
from rankgauge.io.join.joining import join_any
from rankgauge.io.options import Reading

MIN_BYTES_FOR_PROCESSES = 1 << 26  # starting processes costs more than it saves below this
TaskResult = tuple[Joined | RankgaugeError, list[str]]  # the join or why it failed, and the warnings


def join_each(qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat) -> list[Joined]:
    """Join judgments with each run, in order."""
    sizes, report = [_file_size(run) for run in runs], reading.progress
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    are_large = all(sizes) and sum(sizes) >= MIN_BYTES_FOR_PROCESSES
    if len(runs) > 1 and cores > 1 and are_large and reading.parallel and not reading.keep_rankings:
        return _join_in_processes(qrels, runs, reading, compat, sizes, min(cores, len(runs)))
    bytes_read = 0
    joins = []
    for run, size in zip(runs, sizes, strict=True):
        before = bytes_read
        progress = None if report is None or not size else lambda at, before=before: report(before + at, sum(sizes))
        joins.append(join_any(qrels, run, reading, compat, progress))
        bytes_read += size
    return joins


def _file_size(run: Any) -> int:
    """The size of a file; 0 if it is not a file."""
    return Path(run).stat().st_size if isinstance(run, (str, Path)) and Path(run).is_file() else 0


def _join_in_processes(
    qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat, sizes: Sequence[int], workers: int
) -> list[Joined]:
    import pickle
    from concurrent.futures import ThreadPoolExecutor

    tasks = [pickle.dumps((qrels, str(run), replace(reading, progress=None), compat)) for run in runs]
    bytes_read = 0
    joins = []
    with ThreadPoolExecutor(workers) as pool:  # a thread for each process, only to wait for it
        for size, (result, messages) in zip(sizes, pool.map(_run_task, tasks), strict=True):
            for message in messages:
                warnings.warn(message, RankgaugeWarning, stacklevel=4)
            if isinstance(result, RankgaugeError):
                raise result
            joins.append(result)
            bytes_read += size
            if reading.progress is not None:
                reading.progress(bytes_read, sum(sizes))
    return joins


def _run_task(task: bytes) -> TaskResult:
    import pickle
    import subprocess

    command = [sys.executable, "-c", "from rankgauge.io.join.parallel import work; work()"]
    process = subprocess.run(command, input=task, stdout=subprocess.PIPE, check=True)
    result: TaskResult = pickle.loads(process.stdout)
    return result


def work() -> None:
    """Run a process: read a task from standard input, write its result to standard output."""
    import pickle

    qrels, path, reading, compat = pickle.loads(sys.stdin.buffer.read())
    result: Joined | RankgaugeError
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RankgaugeWarning)
        try:
            result = join_any(qrels, path, reading, compat)
        except RankgaugeError as error:
            result = error
    messages = [str(item.message) for item in caught if issubclass(item.category, RankgaugeWarning)]
    sys.stdout.buffer.write(pickle.dumps((result, messages)))
