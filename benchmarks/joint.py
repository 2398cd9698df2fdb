"""The default procedure of ``compare`` beside randomization tests: ``python -m benchmarks.joint``.

6,980 queries × 6 measures, 40% of them unchanged: one joint bootstrap of 10,000 resamples, with its intervals and
detectable differences, and six randomization tests of 100,000 permutations. Each in a process of its own, in turns; the
best of three rounds. CPU seconds are those of all threads: with several, the matrix products of the bootstrap take more
of them in total, and ``OPENBLAS_NUM_THREADS=1`` shows the work alone.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.joint_tests import joint_test
from rankgauge.stats.randomization import randomization_test

QUERIES, MEASURES, ROUNDS = 6_980, 6, 3


def differences() -> NDArray[np.float64]:
    """Differences of measures that depend on each other."""
    rng = np.random.default_rng(1)
    shared = rng.normal(0, 0.2, (QUERIES, 1))
    changed = rng.random((QUERIES, MEASURES)) < 0.6
    return np.where(changed, np.round(shared + rng.normal(0.002, 0.2, (QUERIES, MEASURES)), 4), 0.0)


def joint(values: NDArray[np.float64]) -> None:
    joint_test(values, ranges=[(-1.0, 1.0)] * MEASURES)


def randomization(values: NDArray[np.float64]) -> None:
    for column in values.T:
        randomization_test(column)


def measure(procedure: Callable[[NDArray[np.float64]], None], answer: Connection) -> None:
    """Send CPU seconds, wall-clock seconds, and the peak memory in MB."""
    procedure(differences()[:40])  # imports
    values = differences()
    begun, begun_cpu = time.perf_counter(), time.process_time()
    procedure(values)
    cpu, wall = time.process_time() - begun_cpu, time.perf_counter() - begun
    answer.send((cpu, wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def in_a_process(procedure: Callable[[NDArray[np.float64]], None]) -> tuple[float, float, float]:
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(procedure, sender))
    process.start()
    cpu, wall, peak = receiver.recv()
    process.join()
    return cpu, wall, peak


def main() -> None:
    rounds = [(in_a_process(joint), in_a_process(randomization)) for _ in range(ROUNDS)]
    best = [min(side) for side in zip(*rounds, strict=True)]
    for name, (cpu, wall, peak) in zip(("joint bootstrap", "6 randomization tests"), best, strict=True):
        print(f"{name:22} {cpu:6.2f} s CPU {wall:6.2f} s wall   peak {peak:4.0f} MB")
    print(f"ratio                  {best[0][0] / best[1][0]:6.2f}")


if __name__ == "__main__":
    main()
