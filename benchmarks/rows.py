"""How time and memory grow with the number of rows: 1, 10 and 50 million, beside ``wc -l`` on the same file.

    python -m benchmarks.rows [--repeat 3] [--rows 1,10]     # in millions; 50 needs 2 GB of disk

Time should grow as the rows do, and memory should not.
"""

from __future__ import annotations

import argparse
import os

from benchmarks import data
from benchmarks.measure import cost
from benchmarks.tools import find

SHAPES = {1: "million", 10: "ten-million", 50: "big"}
HEAD = ("million rows", "CPU s", "of it after start-up", "ns a row", "peak MB", "wc -l", "× wc -l")


def main() -> None:
    """Make the data, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds; the best is shown")
    parser.add_argument("--rows", default="1,10,50", metavar="MILLIONS", help="which of 1, 10 and 50")
    options = parser.parse_args()
    start_up, _ = _best("rankgauge-api", data.SHAPES["small"], options.repeat)
    print(*(f"{name:>20}" for name in HEAD))
    for millions in map(int, options.rows.split(",")):
        shape = data.SHAPES[SHAPES[millions]]
        cpu, peak = _best("rankgauge-api", shape, options.repeat)
        counted, _ = _best("wc", shape, options.repeat)
        scanning = cpu - start_up
        row = (f"{cpu:.3f}", f"{scanning:.3f}", f"{scanning / shape.rows * 1e9:.0f}", f"{peak:.0f}", f"{counted:.3f}")
        print(*(f"{cell:>20}" for cell in (str(millions), *row, f"{cpu / counted:.1f}")))


def _best(tool: str, shape: data.Shape, repeat: int) -> tuple[float, float]:
    """The least CPU seconds and the least peak memory of several rounds."""
    data.make(shape)
    command = find(tool, shape, "").command
    costs = [cost(command, dict(os.environ)) for _ in range(repeat)]
    return min(one.cpu for one in costs), min(one.peak for one in costs)


if __name__ == "__main__":
    main()
