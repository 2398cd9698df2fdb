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
from typing import TYPE_CHECKING, Any

from rankgauge.core.hits import Joined
from rankgauge.core.progress import reported
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import Compat
from rankgauge.errors import RankgaugeError, RankgaugeWarning, location, warn_user
from rankgauge.io.byte_streams import is_folder
from rankgauge.io.options import Reading
from rankgauge.io.pipeline.joining import join_any
from rankgauge.io.sources import check_runs

if TYPE_CHECKING:
    import subprocess

MIN_BYTES_FOR_PROCESSES = 1 << 26  # starting processes costs more than it saves below this
# The folder of the package comes last, in case nothing but the caller's program finds it.
WORKER_CODE = "import sys; sys.path.append(sys.argv[1]); from rankgauge.io.pipeline.parallel import work; work()"
TaskResult = tuple[list[Joined] | Exception, list[str]]  # the joins or why it failed, and the warnings


def join_each(qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat) -> list[Joined]:
    """Join judgments with each run, in order; a file or folder may hold several runs."""
    check_runs(runs)
    sizes = [_file_size(run) for run in runs]
    with reported(reading.progress, "reading", "byte", sum(sizes)) as report:
        return _join_each(qrels, runs, replace(reading, progress=report), compat, sizes)


def _join_each(
    qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat, sizes: Sequence[int]
) -> list[Joined]:
    report = reading.progress
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    are_large = all(sizes) and sum(sizes) >= MIN_BYTES_FOR_PROCESSES
    if len(runs) > 1 and cores > 1 and are_large and reading.parallel and not reading.keep_rankings:
        return _join_in_processes(qrels, runs, reading, compat, sizes, min(cores, len(runs)))
    bytes_read = 0
    joins: list[Joined] = []
    for run, size in zip(runs, sizes, strict=True):
        before = bytes_read
        progress = None if report is None or not size else lambda at, before=before: report(before + at, sum(sizes))
        joins += join_any(qrels, run, reading, compat, progress)
        bytes_read += size
    return joins


def _file_size(run: Any) -> int:
    """The size of a file, or of the files in a folder; 0 if it is neither."""
    if is_folder(run):
        return sum(file.stat().st_size for file in Path(run).rglob("*") if file.is_file())
    return Path(run).stat().st_size if isinstance(run, (str, Path)) and Path(run).is_file() else 0


def _join_in_processes(
    qrels: Qrels, runs: Sequence[Any], reading: Reading, compat: Compat, sizes: Sequence[int], workers: int
) -> list[Joined]:
    import pickle
    from concurrent.futures import ThreadPoolExecutor

    tasks = [pickle.dumps((qrels, str(run), replace(reading, progress=None), compat)) for run in runs]
    bytes_read = 0
    joins: list[Joined] = []
    processes = _Processes()
    with ThreadPoolExecutor(workers, initializer=_block_interrupts) as pool:  # each thread waits for one process
        try:
            for size, (result, messages) in zip(sizes, pool.map(processes.run, tasks, map(str, runs)), strict=True):
                for message in messages:
                    warn_user(message)
                if isinstance(result, Exception):
                    raise result
                joins += result
                bytes_read += size
                if reading.progress is not None:
                    reading.progress(bytes_read, sum(sizes))
        except BaseException:
            processes.kill()  # an interrupt, or the error of one run: nobody wants the others
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return joins


def _block_interrupts() -> None:
    """Let the processes that this thread starts ignore an interrupt of the terminal: this process ends them."""
    import signal

    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])


class _Processes:
    """The processes that are running. A process never imports modules of the working folder: ``-P``."""

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[bytes]] = []
        self._killed = False

    def run(self, task: bytes, path: str) -> TaskResult:
        """Give a task to a new process, and wait for its result."""
        import pickle
        import subprocess

        command = [sys.executable, "-P", "-c", WORKER_CODE, str(Path(__file__).parents[3])]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self._running.append(process)
            if self._killed:
                process.kill()
            output, _ = process.communicate(task)
        if process.returncode:
            raise RankgaugeError(
                f"{location(path, None)}the process that read it {_reason(process.returncode)}",
                hint="if memory ran out, read one run after the other: parallel_processing: false in rankgauge.yaml",
            )
        result: TaskResult = pickle.loads(output)
        return result

    def kill(self) -> None:
        """End all of them."""
        self._killed = True
        for process in self._running:
            process.kill()


def _reason(code: int) -> str:
    """Why a process ended without a result."""
    import signal

    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"failed with exit code {code}"


def work() -> None:
    """Run a process: read a task from standard input, write its result to standard output."""
    import pickle

    qrels, path, reading, compat = pickle.loads(sys.stdin.buffer.read())
    result: list[Joined] | Exception
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RankgaugeWarning)
        try:
            result = join_any(qrels, path, reading, compat)
        except Exception as error:
            result = error
    messages = [str(item.message) for item in caught if issubclass(item.category, RankgaugeWarning)]
    sys.stdout.buffer.write(pickle.dumps((result, messages)))
