"""Several runs at once: large files are read by processes of their own, as many as there are cores.

A process is a fresh interpreter that gets its order and gives its answer through pipes, so that it neither imports the
caller's program again nor shares its threads.
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


def join_each(qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat) -> list[Joined]:
    """Join judgments with each run, in order."""
    sizes, report = [_size(run) for run in runs], reading.progress
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    large = all(sizes) and sum(sizes) >= MIN_BYTES_FOR_PROCESSES
    if len(runs) > 1 and cores > 1 and large and reading.parallel and not reading.keep_rankings:
        return _in_processes(qrels, runs, reading, compat, sizes, min(cores, len(runs)))
    done = 0
    joins = []
    for run, size in zip(runs, sizes, strict=True):
        before = done
        progress = None if report is None or not size else lambda at, before=before: report(before + at, sum(sizes))
        joins.append(join_any(qrels, run, reading, compat, progress))
        done += size
    return joins


def _size(run: Any) -> int:
    """The size of a file; 0 for what is none."""
    return Path(run).stat().st_size if isinstance(run, (str, Path)) and Path(run).is_file() else 0


def _in_processes(
    qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat, sizes: Sequence[int], workers: int
) -> list[Joined]:
    import pickle
    from concurrent.futures import ThreadPoolExecutor

    orders = [pickle.dumps((qrels, str(run), replace(reading, progress=None), compat)) for run in runs]
    done = 0
    found = []
    with ThreadPoolExecutor(workers) as pool:  # a thread for each process, only to wait for it
        for size, answer in zip(sizes, pool.map(_ask, orders), strict=True):
            result, said = answer
            for text in said:
                warnings.warn(text, RankgaugeWarning, stacklevel=4)
            if isinstance(result, RankgaugeError):
                raise result
            found.append(result)
            done += size
            if reading.progress is not None:
                reading.progress(done, sum(sizes))
    return found


def _ask(order: bytes) -> tuple[Joined | RankgaugeError, list[str]]:
    import pickle
    import subprocess

    command = [sys.executable, "-c", "from rankgauge.io.join.parallel import answer; answer()"]
    done = subprocess.run(command, input=order, stdout=subprocess.PIPE, check=True)
    reply: tuple[Joined | RankgaugeError, list[str]] = pickle.loads(done.stdout)
    return reply


def answer() -> None:
    """What a process does: read an order from standard input, write the answer to standard output."""
    import pickle

    qrels, path, reading, compat = pickle.loads(sys.stdin.buffer.read())
    result: Joined | RankgaugeError
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RankgaugeWarning)
        try:
            result = join_any(qrels, path, reading, compat)
        except RankgaugeError as error:
            result = error
    said = [str(item.message) for item in caught if issubclass(item.category, RankgaugeWarning)]
    sys.stdout.buffer.write(pickle.dumps((result, said)))
