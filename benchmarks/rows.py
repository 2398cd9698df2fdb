"""Time and memory for files of 1, 10 and 50 million rows, beside ``wc -l`` on the same files: a table of growth.py."""

from __future__ import annotations

import os
from collections.abc import Iterable

from benchmarks import data
from benchmarks.measure import cost
from benchmarks.tools import find

SHAPES = {1: "million", 10: "ten-million", 50: "big"}
HEAD = ("million rows", "CPU s", "of it after start-up", "ns a row", "peak MB", "wc -l", "× wc -l")


def print_rows(millions: Iterable[int], repeat: int) -> None:
    """Make the data, measure whole processes, print the table. Time should grow as the rows do; memory should not."""
    start_up, _ = _best("rankgauge-api", data.SHAPES["small"], repeat)
    print(*(f"{name:>20}" for name in HEAD))
    for million in millions:
        shape = data.SHAPES[SHAPES[million]]
        cpu, peak = _best("rankgauge-api", shape, repeat)
        counted, _ = _best("wc", shape, repeat)
        scanning = cpu - start_up
        row = (f"{cpu:.3f}", f"{scanning:.3f}", f"{scanning / shape.rows * 1e9:.0f}", f"{peak:.0f}", f"{counted:.3f}")
        print(*(f"{cell:>20}" for cell in (str(million), *row, f"{cpu / counted:.1f}")), flush=True)


def _best(tool: str, shape: data.Shape, repeat: int) -> tuple[float, float]:
    """The least CPU seconds and the least peak memory of several rounds."""
    data.make(shape)
    command = find(tool, shape, "").command
    costs = [cost(command, dict(os.environ)) for _ in range(repeat)]
    return min(one.cpu for one in costs), min(one.peak for one in costs)
